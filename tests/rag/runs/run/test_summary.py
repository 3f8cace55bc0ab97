"""The end of a run, summarised from its events."""

from rag.runs.run.summary import summarize_run
from rag.trace.details import GenerationDetail, RetrievalDetail
from rag.trace.events import RunStarted, StepFinished, Token
from rag.trace.passages import Passage

STARTED = RunStarted(run_id="r", conversation_id="c", question="?", index="i", pipeline="naive", model="m", at=0)


def test_a_run_ends_whatever_numbers_its_model_has_written():
    answer = f"It is so [5]. [{'1' * 5000}]"
    end = summarize_run([STARTED, Token(step="generate", attempt=1, text=answer)], "finished", None, 1.0)
    assert (end.answer, end.citations) == (answer, ())


def test_a_number_that_stands_in_a_text_is_no_citation_of_a_passage_that_was_not_given():
    answer = "It is so [1]. See [12]."
    passages = tuple(
        Passage(
            number=number, rank=number, score=0, document_id="d", section_id=f"s{number}", source="a.md", title="A",
            headings=(), page=None, text="It is so. See [12].", start=0, end=19,
        )
        for number in range(1, 13)
    )  # fmt: skip
    cost = {"attempt": 1, "start": 0, "milliseconds": 1, "model_calls": 0, "tokens_in": 0, "tokens_out": 0}
    found = RetrievalDetail(query="?", mode="vector", unit="chunk", passages=passages)
    written = GenerationDetail(passages=(1, 2), text=answer, cited=(1,))
    events = [
        STARTED,
        StepFinished(step="retrieve", detail=found, **cost),
        Token(step="generate", attempt=1, text=answer),
        StepFinished(step="generate", detail=written, role="answers", **cost),
    ]
    end = summarize_run(events, "finished", None, 1.0)
    assert [each.number for each in end.citations] == [1]
