"""Two engines on one database: each sees, stops and counts the runs of the other, and waits for them."""

from functools import partial
from pathlib import Path

import pytest
from pydantic import SecretStr

from index_store.access.limits import UNLIMITED, GroupLimits
from index_store.store.index_store import IndexStore
from index_store.vectors.embedded.model import EmbeddedEmbeddings
from index_store.vectors.server import connections
from rag.errors import TokensUsedUp
from rag.runs.engine import UserEngine
from rag.runs.history import schema
from rag.runs.history.daily_usage import today
from rag.runs.replicas import dead_apps, exchange
from rag.runs.run.run import Run
from rag.runs.run.summary import answer_so_far
from rag.settings import Settings
from rag.trace.events import RunFinished, StepFinished, Token
from tests.helpers.back_doors import person_of, process_of
from tests.helpers.local import as_person, grant, in_group
from tests.helpers.waiting import eventually
from tests.rag.documents import INDEX, QUESTION
from tests.rag.runs.replicas.conftest import Open
from tests.rag.scripted import Gate, Held, ScriptedChat
from tests.servers import Fault
from tests.servers.chroma import ChromaProxy, ChromaServer

BEGINNING = "日当は1日2,500円です"
ANSWER = f"{BEGINNING}[1]。"
PATIENCE = 60
"""seconds, on a busy machine"""


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def chat(gate: Gate) -> ScriptedChat:
    """Stops in the middle of each answer until the gate opens."""
    chat = ScriptedChat()
    chat.default = Held(gate, ANSWER, BEGINNING)
    return chat


@pytest.fixture
def one(replica: Open, chat: ScriptedChat) -> UserEngine:
    return replica(chat)


@pytest.fixture
def other(one: UserEngine, replica: Open) -> UserEngine:
    return replica(ScriptedChat())


def ask(engine: UserEngine, **options: object) -> Run:
    return engine.ask(QUESTION, index=INDEX, pipeline_name="naive", **options)


def soon(is_so) -> bool:
    return eventually(is_so, PATIENCE)


def seen_in(engine: UserEngine, run: Run) -> Run:
    seen = engine.run(run.id)
    assert seen
    assert seen is not run
    return seen


def test_a_run_is_seen_in_the_other_as_it_is_written_and_to_its_end(
    one: UserEngine, other: UserEngine, gate: Gate
) -> None:
    run = ask(one)
    assert soon(lambda: answer_so_far(run.events)[0] == BEGINNING)
    seen = seen_in(other, run)
    assert soon(lambda: answer_so_far(seen.events)[0] == BEGINNING)
    assert other.running(run.conversation_id) is seen
    assert [each.id for each in other.history.runs(run.conversation_id)] == [run.id]
    assert other.runs_in_flight == 1
    told: list[str] = []
    seen.tell_when_it_writes_or_ends("a page", partial(told.append, "writes"))
    gate.open()
    last = run.result()
    assert soon(lambda: seen.is_finished)
    assert seen.result() == last
    assert [each for each in seen.events if not isinstance(each, Token)] == one.history.events(run.id)
    assert other.running(run.conversation_id) is None
    assert other.runs_in_flight == 0
    kinds = [each.kind for each in seen.events]
    writing = next(each for each in seen.events if isinstance(each, Token)).step
    ended = [isinstance(each, StepFinished) and each.step == writing for each in seen.events].index(True)
    assert "token" not in kinds[ended:]


@pytest.mark.soak
def test_a_reader_from_the_first_word_on_has_every_event_in_its_order(
    one: UserEngine, other: UserEngine, chat: ScriptedChat
) -> None:
    chat.default = ANSWER
    for _ in range(3):
        run = ask(one)
        seen = other.run(run.id)
        if seen:  # None if the run is already over
            streamed = [each for each in seen.stream() if not isinstance(each, Token)]
            run.result()  # its end is saved, where the reader may see it, before the app itself knows it
            assert streamed == [each for each in run.events if not isinstance(each, Token)]
        run.result()


def test_it_is_stopped_from_the_other(one: UserEngine, other: UserEngine, gate: Gate) -> None:
    run = ask(one)
    gate.wait_for(1, PATIENCE)
    seen = seen_in(other, run)
    seen.stop()
    assert run.wait(PATIENCE)
    assert run.result().status == "stopped"
    assert run.result().answer == BEGINNING
    assert seen.wait(PATIENCE)
    assert seen.result() == run.result()
    stored = other.history.run(run.id)
    assert stored
    assert stored.status == "stopped"
    assert gate.waiting == 0  # the model has stopped too


def test_a_conversation_is_deleted_in_the_other_while_its_run_is_at_work(
    one: UserEngine, other: UserEngine, gate: Gate
) -> None:
    run = ask(one)
    gate.wait_for(1, PATIENCE)
    other.delete_conversation(run.conversation_id)
    assert run.wait(PATIENCE)  # the other sees its end in the database, maybe a moment before this one does
    assert one.history.conversations.get(run.conversation_id) is None
    assert one.run(run.id) is None
    assert other.run(run.id) is None


@pytest.mark.soak  # also in test_of_an_app_that_is_gone_the_run_ends_as_interrupted_and_the_conversation_goes_on
def test_a_conversation_goes_on_in_the_other(one: UserEngine, other: UserEngine, gate: Gate) -> None:
    gate.open()
    run = ask(one)
    run.result()
    following = ask(other, conversation_id=run.conversation_id)
    following.result()
    assert following.conversation_id == run.conversation_id
    assert [each.id for each in one.history.runs(run.conversation_id)] == [run.id, following.id]


def test_of_one_person_no_more_runs_are_at_work_in_all_than_they_may_have(
    replica: Open, chat: ScriptedChat, gate: Gate
) -> None:
    other_chat = ScriptedChat()
    other_chat.default = chat.default
    one, other = replica(chat, runs_per_person=2), replica(other_chat, runs_per_person=2)
    grant(one, INDEX)
    here, there = as_person(one, "alice"), as_person(other, "alice")
    runs = [ask(here), ask(there)]
    gate.wait_for(2, PATIENCE)
    runs += [ask(here), ask(there)]
    assert soon(lambda: sorted(each.before for each in runs[2:]) == [1, 2])
    assert soon(lambda: seen_in(here, runs[3]).before == runs[3].before)
    bobs = ask(as_person(other, "bob"))
    gate.wait_for(3, PATIENCE)  # bob's run has its turn: alice's limit does not count for him
    assert len([each for each in runs if each.before]) == 2
    runs[0].stop()
    assert soon(lambda: sorted(each.before for each in runs[2:]) == [0, 1])
    gate.wait_for(3, PATIENCE)
    gate.open()
    assert [each.result().status for each in (*runs[1:], bobs)] == ["finished"] * 4


@pytest.mark.soak  # limits of groups: also in test_shared_admission.py and in_flight/test_allowances.py
def test_a_group_without_a_limit_has_none_whatever_the_limit_of_everybody(
    replica: Open, chat: ScriptedChat, gate: Gate
) -> None:
    one = replica(chat, runs_per_person=1)
    grant(one, INDEX)
    erin = in_group(one, "erin", "research", GroupLimits(runs_at_once=UNLIMITED))
    runs = [ask(erin), ask(erin)]
    gate.wait_for(2, PATIENCE)
    gate.open()
    assert [each.result().status for each in runs] == ["finished"] * 2


@pytest.mark.soak
def test_the_tokens_of_a_day_are_those_of_all(one: UserEngine, other: UserEngine, gate: Gate) -> None:
    gate.open()
    grant(one, INDEX)
    here, there = as_person(one, "carol"), as_person(other, "carol")
    process_of(other).settings.tokens_a_day = 1
    used = ask(here).result().totals.tokens
    assert here.usage.of().runs == 1
    assert here.usage.of().tokens == there.usage.of().tokens == used
    with pytest.raises(TokensUsedUp):
        ask(there)


# Also in in_flight/test_allowances.py::test_what_a_reply_has_used_so_far_counts_for_the_calls_beside_it_in_every_app.
@pytest.mark.soak
def test_a_run_is_limited_by_what_is_used_elsewhere_meanwhile(replica: Open, chat: ScriptedChat, gate: Gate) -> None:
    """The usage is read before each call of a run."""
    one, other = replica(chat, tokens_a_day=100_000), replica(ScriptedChat())
    grant(one, INDEX)
    here, there = as_person(one, "dave"), as_person(other, "dave")
    run = here.ask(QUESTION, index=INDEX, pipeline_name="self_rag")
    gate.wait_for(1, PATIENCE)
    process_of(other).usage.add(person_of(there).id, today(), tokens=100_000)
    gate.open()
    assert run.result().status == "limited"


def test_what_is_removed_in_one_while_the_other_answers_from_it_is_in_no_trace(
    one: UserEngine, other: UserEngine, gate: Gate, tmp_path
) -> None:
    file = tmp_path / "secret.md"
    file.write_text("# 給与\n\nxylophone の給与は月額五百万円です。\n", encoding="utf-8")
    assert other.store.add("removed", file).status.value == "ready"
    question = "xylophone の給与は?"
    run = one.ask(question, index="removed", pipeline_name="naive")
    gate.wait_for(1, PATIENCE)
    past = other.ask(question, index="removed", pipeline_name="naive")
    past.result()
    assert any("五百万円" in str(each) for each in one.history.events(past.id))
    other.store.delete_index("removed")
    assert soon(lambda: not any("五百万円" in str(each) for each in one.history.events(past.id)))
    assert soon(lambda: not any("五百万円" in str(each) for each in one.history.events(run.id)))
    gate.open()
    run.result()
    assert soon(lambda: not process_of(other).store.removed())
    assert not [each for each in other.history.events(run.id) if "五百万円" in each.model_dump_json()]
    assert one.store.indexes() == other.store.indexes()


def test_of_an_app_that_is_gone_the_run_ends_as_interrupted_and_the_conversation_goes_on_in_the_other(
    one: UserEngine,
    other: UserEngine,
    gate: Gate,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """As its process would be killed: it is no longer among those that are alive."""
    caplog.set_level("INFO")
    monkeypatch.setattr(exchange, "SWEEP", 0.2)
    run = ask(one)
    gate.wait_for(1)
    seen = seen_in(other, run)
    assert soon(lambda: answer_so_far(seen.events)[0] == BEGINNING)
    leave(one)
    assert seen.wait(PATIENCE)
    last = seen.result()
    assert (last.status, last.error and last.error.code, last.answer) == ("failed", "interrupted", BEGINNING)
    assert {each.levelname for each in caplog.records if "taken over" in each.message} == {"INFO"}
    stored = other.history.run(run.id)
    assert stored
    assert stored.status == "failed"
    assert other.running(run.conversation_id) is None
    following = ask(other, conversation_id=run.conversation_id)
    assert following.result().status == "finished"
    assert [each.id for each in other.history.runs(run.conversation_id)] == [run.id, following.id]


def leave(engine: UserEngine) -> None:
    replica = process_of(engine).store.replica
    assert replica
    replica.close()


def test_a_deletion_that_an_app_has_left_unfinished_is_completed_by_another(
    one: UserEngine,
    shared: Settings,
    embeddings: EmbeddedEmbeddings,
    chroma: ChromaServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "PAUSES", ())
    file = tmp_path / "short.md"
    file.write_text("# Short\n\nIt is not there for long.\n", encoding="utf-8")
    assert one.store.add("going", file).status.value == "ready"
    with ChromaProxy(chroma) as proxy:
        proxy.fails(Fault.CLOSES, on="/delete")
        behind = shared.model_copy(update={"chroma_url": SecretStr(proxy.url)})
        with IndexStore(behind, embeddings) as leaving:
            leaving.remove("going", str(file))
    assert [each.status for each in one.store.documents("going")] == ["removing"]
    monkeypatch.setattr(dead_apps, "TIDY", 0.2)
    assert soon(lambda: not one.store.documents("going"))
    assert one.store.check() == []
    one.store.delete_index("going")


@pytest.mark.soak
def test_an_app_that_was_thought_dead_saves_nothing_more_of_a_run_that_was_ended_for_it(
    replica: Open, chat: ScriptedChat, gate: Gate
) -> None:
    one, other = replica(chat, runs_per_person=1), replica(ScriptedChat())
    run = ask(one)
    gate.wait_for(1, PATIENCE)  # of two that arrive at the same moment, either may be first
    waiting = ask(one, conversation_id=run.conversation_id)
    assert soon(lambda: waiting.before == 1)
    assert soon(lambda: answer_so_far(seen_in(other, run).events)[0] == BEGINNING)
    dead = process_of(one).store.replica
    assert dead
    closed = process_of(other).history.close_interrupted_runs({dead.number})
    assert [each.started.run_id for each in closed] == [run.id, waiting.id]
    assert waiting.wait(PATIENCE)
    assert waiting.result().error == other.history.events(waiting.id)[-1].error
    gate.open()
    last = run.result()
    assert (last.status, last.error and last.error.code) == ("failed", "interrupted")
    assert last.answer == BEGINNING
    ends = [each for each in other.history.events(run.id) if isinstance(each, RunFinished)]
    assert ends == [last]


@pytest.mark.soak
def test_rows_that_an_app_left_for_finished_runs_are_ignored(
    replica: Open, chat: ScriptedChat, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This can happen if one app was alone with the database for a while and ended the runs of all apps."""
    monkeypatch.setattr(exchange, "SWEEP", 0.2)
    gate.open()
    one = replica(chat, runs_per_person=1)
    history = process_of(one).history
    run = ask(one)
    run.result()
    nobody = 1
    with history.together() as connection:
        values = {"run_id": run.id, "app": nobody, "is_stopped": False, "before": 0, "begun_at": 0.0}
        connection.execute(schema.live.insert().values(**values, party=run.conversation_id, came=1, turn=1))
    following = ask(one, conversation_id=run.conversation_id)
    assert following.wait(PATIENCE)
    assert following.result().status == "finished"
    assert history.active_runs
    assert soon(lambda: history.active_runs.apps() == set())


@pytest.mark.soak
def test_without_a_database_for_a_moment_a_run_ends_is_seen_once_it_is_back_and_no_traceback_is_logged(
    one: UserEngine, other: UserEngine, gate: Gate, postgres, caplog
) -> None:
    run = ask(one)
    gate.wait_for(1, PATIENCE)
    seen = seen_in(other, run)
    postgres.stop()
    gate.open()
    try:
        assert run.wait(PATIENCE * 3)
    finally:
        postgres.start()
    assert seen.wait(PATIENCE * 3)
    assert seen.result().answer
    assert not [record.message for record in caplog.records if record.exc_info]
