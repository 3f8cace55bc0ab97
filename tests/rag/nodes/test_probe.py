"""The probe of a run that declined: what the index contains about the question, found by the run or not."""

from rag.models.service.no_answer import TOKEN
from rag.trace.details import DeclineDetail
from rag.trace.passages import Retrieval
from tests.rag.documents import CLIENT, INDEX
from tests.rag.reading import finished

QUESTION = "Which VPN client must a contractor install?"


def test_a_probe_numbers_what_the_run_found_as_it_did_and_the_rest_behind(engine, chat):
    chat.default = TOKEN
    run = engine.ask(QUESTION, index=INDEX, pipeline_name="naive", retrieval=Retrieval(k=1))
    run.result()
    [written] = finished(run.events, "generate")
    assert isinstance(written.detail, DeclineDetail)
    probe = written.detail.probe
    assert CLIENT in probe.nearest[0].text
    assert (probe.nearest[0].number, probe.seen) == (1, (1,))
    assert [each.number for each in probe.nearest] == list(range(1, len(probe.nearest) + 1))
    assert len(probe.shares) == len(probe.nearest)
    assert probe.shares[0] > max(probe.shares[1:])
    assert "contractor" in probe.absent
    assert "VPN" in probe.words
    assert "VPN" not in probe.absent
