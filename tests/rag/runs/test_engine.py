"""How the engine executes runs: events, ends and stops, several runs at once, storage, attachments."""

import asyncio
import errno
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing, contextmanager
from inspect import CORO_SUSPENDED, getcoroutinestate
from typing import Any

import pytest
from langchain_core.outputs import ChatGenerationChunk
from pydantic import PrivateAttr

from index_store.access.audit.audit import EntryFilter
from index_store.access.principal import LOCAL
from index_store.base.errors import EmptyQuestion, QuestionTooLong, UnknownMode, UnknownUnit
from index_store.ingestion.results import IngestStatus
from index_store.ingestion.sources import FileSource, keep_upload, upload_folder
from index_store.store.index_store import IndexStore
from index_store.store.user_ingestion import UserIngestion
from index_store.store.user_store import UserStore
from index_store.vectors.embedded.model import EmbeddedEmbeddings
from index_store.vectors.embeddings import Vectors
from rag.errors import BadHitCount, UnknownPipeline
from rag.models.client.client import ChatClient
from rag.models.service.chat import ServiceChat
from rag.models.service.en import EN
from rag.models.service.ja import JA
from rag.pipelines import PIPELINES
from rag.runs.engine import Engine, UserEngine
from rag.runs.fork.edits import LeaveOut
from rag.runs.fork.sqlite_checkpoints import FILE as CHECKPOINTS
from rag.runs.history.calls import Calls
from rag.runs.history.history import History
from rag.runs.history.schema import FILE as HISTORY
from rag.runs.in_flight import in_flight
from rag.runs.run.run import Run
from rag.settings import Settings
from rag.text.reply.reply_filter import ReplyFilter
from rag.trace.details import DocumentsDetail, Turn
from rag.trace.events import RunFinished, RunStarted, StepFinished, StepStarted, Token, from_json, to_json
from rag.trace.passages import Retrieval
from tests.helpers.back_doors import let_time_pass, loop_of, process_of
from tests.helpers.local import as_person, grant, local_engine
from tests.helpers.threads import is_under_way
from tests.helpers.waiting import PATIENCE, eventually
from tests.rag.documents import INDEX, QUESTION
from tests.rag.reading import finished, of, started_steps, tokens
from tests.rag.scripted import Gate, Held, ScriptedChat, ScriptedSource
from tests.rag.some_pipelines import NOW, some_of
from tests.rag.verdicts import NO, YES, approve
from tests.servers import Answer, Fault, OpenAIServer
from tests.servers.chat import ChatRequest

LONG_ANSWER = "日当は1日2,500円です[1]。" * 20
LIMIT = 200
"""seconds that a run may take: no run takes as long, unless a test lets the time pass"""


def ask(engine: UserEngine, question: str = QUESTION, pipeline: str = "naive", **options) -> Run:
    return engine.ask(question, index=INDEX, pipeline_name=pipeline, **options)


def wait_for_token(run: Run) -> None:
    next(event for event in run.stream() if isinstance(event, Token))


class Lingering(ScriptedChat):
    """After a stop it needs a moment to end, like a model behind a slow connection."""

    _has_left: bool = PrivateAttr(default=False)

    @property
    def has_left(self) -> bool:
        return self._has_left

    async def _astream(self, *arguments: Any, **options: Any) -> AsyncIterator[ChatGenerationChunk]:
        try:
            async for chunk in super()._astream(*arguments, **options):
                yield chunk
        finally:
            await asyncio.sleep(0.3)
            self._has_left = True


# Events


def test_events_come_in_order_and_the_last_is_run_finished(engine, chat):
    approve(chat)
    chat.answer_when(JA.grounding, answer=NO, times=1)
    events = list(ask(engine, pipeline="self_rag").stream())
    assert isinstance(events[0], RunStarted)
    assert [type(event) for event in events].index(RunFinished) == len(events) - 1
    started: set[tuple[str, int]] = set()
    ended: set[tuple[str, int]] = set()
    for event in events:
        if isinstance(event, StepStarted):
            assert (event.step, event.attempt) not in started
            started.add((event.step, event.attempt))
        if isinstance(event, Token | StepFinished):
            assert (event.step, event.attempt) in started - ended
        if isinstance(event, StepFinished):
            ended.add((event.step, event.attempt))
    assert started == ended


def test_the_totals_are_the_sums_of_the_steps(engine, chat):
    approve(chat)
    chat.answer_when(JA.grounding, answer=NO, times=1)
    run = ask(engine, pipeline="self_rag")
    totals, steps = run.result().totals, of(StepFinished, run.events)
    assert totals.model_calls == sum(step.model_calls for step in steps) == len(chat.prompts) == 10
    assert totals.tokens_in == sum(step.tokens_in for step in steps) > 0
    assert totals.tokens_out == sum(step.tokens_out for step in steps) > 0
    assert totals.tokens == totals.tokens_in + totals.tokens_out
    assert totals.generations == len(finished(run.events, "generate")) == 2


def test_each_step_lies_within_the_time_of_its_run(engine, chat):
    approve(chat)
    run = ask(engine, pipeline="self_rag")
    seconds, steps = run.result().totals.seconds, of(StepFinished, run.events)
    assert steps
    for step in steps:
        assert 0 <= step.start <= step.start + step.milliseconds / 1000 <= seconds


def test_every_event_survives_json(engine, chat):
    approve(chat)
    run = ask(engine, pipeline="self_rag")
    run.result()
    assert [from_json(to_json(event)) for event in run.events] == list(run.events)


def test_two_readers_see_the_same_events_whenever_they_begin(engine, chat):
    gate = Gate()
    chat.enqueue(Held(gate, LONG_ANSWER, shown=LONG_ANSWER[:40]))
    run = ask(engine)
    seen: list[list] = [[], []]
    readers = [threading.Thread(target=lambda into=into: into.extend(run.stream())) for into in seen]
    readers[0].start()
    gate.wait_for(1)
    readers[1].start()
    gate.open()
    for reader in readers:
        reader.join(PATIENCE)
    assert seen[0] == seen[1] == list(run.stream())


def test_a_run_goes_on_when_nobody_reads_it(engine, chat):
    gate = Gate()
    chat.enqueue(Held(gate, LONG_ANSWER, shown=LONG_ANSWER[:8]))
    run = ask(engine)
    wait_for_token(run)
    gate.open()
    assert eventually(lambda: run.is_finished)
    assert engine.run(run.id).result().answer == LONG_ANSWER


def test_so_many_of_the_latest_runs_stay_in_memory_and_no_fewer(engine, monkeypatch):
    monkeypatch.setattr(in_flight, "KEPT_RUNS", 2)
    runs: list[Run] = []
    for _ in range(4):  # as the fourth begins, three have ended
        runs.append(ask(engine))
        runs[-1].result()
    assert [engine.run(run.id) for run in runs] == [None, *runs[1:]]


def test_several_runs_at_once_keep_to_themselves(engine, chat):
    gate = Gate()
    for number in range(3):
        chat.answer_when(f"質問: 日当{number}", answer=Held(gate, f"答え{number}。"))
    runs = [ask(engine, f"日当{number}はいくら?") for number in range(3)]
    gate.wait_for(3)
    gate.open()
    assert [run.result().answer for run in runs] == [f"答え{number}。" for number in range(3)]


@pytest.mark.sqlite_alone
def test_while_a_run_waits_until_the_history_can_be_written_the_words_of_others_arrive(engine, chat):
    gates = [Gate(), Gate()]
    for number, gate in enumerate(gates):
        chat.answer_when(f"日当{number}", answer=Held(gate, LONG_ANSWER, shown=LONG_ANSWER[:8]))
    waiting, other = [ask(engine, f"日当{number}はいくら?") for number in range(2)]
    for run in (waiting, other):
        wait_for_token(run)
    with holding_the_history(engine):
        gates[0].open()
        assert eventually(lambda: is_under_way(Calls.save))
        gates[1].open()
        assert eventually(lambda: tokens(other.events) == LONG_ANSWER)
        assert not finished(waiting.events, "generate")
    assert [run.result().status for run in (waiting, other)] == ["finished"] * 2
    assert [to_json(event) for event in engine.history.events(other.id)] == [
        to_json(event) for event in other.events if not isinstance(event, Token)
    ]


@contextmanager
def holding_the_history(engine: UserEngine) -> Iterator[None]:
    """Like an app beside this one that saves something large."""
    with closing(sqlite3.connect(engine.settings.data_dir / HISTORY, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def test_a_model_that_is_not_ready_is_started_as_a_step(open_engine, chat):
    run = ask(open_engine(chat, starts=True))
    assert run.result().status == "finished"
    assert started_steps(run.events)[0] == "start_model"
    assert finished(run.events, "start_model")[0].detail.name == "scripted"


# Turns


def test_what_the_model_cannot_serve_yet_waits_and_its_time_begins_with_its_turn(open_engine, chat):
    chat.answer_when("日当1はいくら", answer=Held(Gate(), LONG_ANSWER))
    chat.answer_when("日当2はいくら", answer=LONG_ANSWER)
    engine = open_engine(chat, runs_at_once=1, run_time_limit=LIMIT)
    first = ask(engine, "日当1はいくら?")
    second = ask(engine, "日当2はいくら?")
    assert eventually(lambda: second.before == 1)
    let_time_pass(engine, LIMIT)
    assert first.result().error.code == "run_time_limit"
    assert second.result().answer == LONG_ANSWER
    assert second.before == 0


def test_a_run_can_be_stopped_while_it_waits_and_the_next_goes_on(open_engine, chat):
    gate = Gate()
    chat.answer_when("日当1はいくら", answer=Held(gate, LONG_ANSWER))
    engine = open_engine(chat, runs_at_once=1)
    first, second, third = (ask(engine, f"日当{number}はいくら?") for number in (1, 2, 3))
    assert eventually(lambda: third.before == 2)
    second.stop()
    assert second.result().status == "stopped"
    assert eventually(lambda: third.before == 1)
    gate.open()
    assert (first.result().status, third.result().status) == ("finished", "finished")
    assert started_steps(second.events) == []


def test_files_of_a_run_that_is_stopped_while_it_waits_are_added(open_engine, chat, tmp_path):
    gate = Gate()
    chat.answer_when("日当1はいくら", answer=Held(gate, LONG_ANSWER))
    engine = open_engine(chat, runs_at_once=1)
    first = ask(engine, "日当1はいくら?")
    waiting = ask(
        engine, "日当2はいくら?", attachments=[attachment(engine, tmp_path, "rates.md", "日当は1日3,000円です。")]
    )
    assert eventually(lambda: waiting.before == 1)
    waiting.stop()
    assert waiting.result().status == "stopped"
    assert eventually(lambda: "rates.md" in {each.title for each in engine.store.documents(INDEX)})
    gate.open()
    assert first.result().status == "finished"


@pytest.mark.parametrize(
    "statement",
    [
        (UserStore, "ingest"),
        pytest.param((UserStore, "dismiss"), marks=pytest.mark.soak),
        pytest.param((UserIngestion, "_seen"), marks=pytest.mark.soak),
    ],
)
def test_while_the_database_takes_long_for_the_files_of_a_run_another_run_goes_on(
    open_engine, chat, tmp_path, monkeypatch, statement
):
    is_waiting, is_other_done, in_time = threading.Event(), threading.Event(), []
    owner, name = statement
    usual = getattr(owner, name)

    def takes_long(this: Any, *values: object) -> Any:
        if not is_waiting.is_set():
            is_waiting.set()
            in_time.append(is_other_done.wait(3))
        return usual.fget(this) if isinstance(usual, property) else usual(this, *values)

    chat.default = "日当は1日2,500円です[1]。"
    engine = open_engine(chat, runs_at_once=2)
    file = attachment(engine, tmp_path, "rates.md", "日当は1日3,000円です。")
    monkeypatch.setattr(owner, name, property(takes_long) if isinstance(usual, property) else takes_long)
    slow = ask(engine, "日当1はいくら?", attachments=[file])
    assert is_waiting.wait(PATIENCE)
    assert ask(engine, "日当2はいくら?").result().status == "finished"
    is_other_done.set()
    assert slow.result().status == "finished"
    assert in_time == [True]


def test_the_files_of_a_run_that_is_stopped_as_it_hands_them_in_are_added(open_engine, chat, tmp_path, monkeypatch):
    ingest, is_waiting, goes_on = UserStore.ingest, threading.Event(), threading.Event()

    def takes_long(*values: Any) -> UserIngestion:
        is_waiting.set()
        goes_on.wait(PATIENCE)
        return ingest(*values)

    engine = open_engine(chat)
    file = attachment(engine, tmp_path, "rates.md", "日当は1日3,000円です。")
    monkeypatch.setattr(UserStore, "ingest", takes_long)
    run = ask(engine, "日当はいくら?", attachments=[file])
    assert is_waiting.wait(PATIENCE)
    run.stop()
    goes_on.set()
    assert run.result().status == "stopped"
    assert eventually(lambda: "rates.md" in {each.title for each in engine.store.documents(INDEX)})


def test_runs_that_wait_while_their_index_is_renamed_keep_to_it_and_not_to_its_name(open_engine, chat, tmp_path):
    engine, first, waiting, release = one_at_work_and_two_that_wait(open_engine, chat, tmp_path)
    engine.store.rename_index(INDEX, "新規程")
    engine.store.create_index(INDEX)
    release()
    assert {run.result().status for run in (first, *waiting)} == {"finished"}
    assert all(finished(run.events, "retrieve")[0].detail.passages for run in waiting)
    assert engine.store.documents(INDEX) == []
    assert "rates" in {each.title for each in engine.store.documents("新規程")}


def test_runs_that_wait_while_their_index_is_deleted_end_and_do_not_bring_it_back(open_engine, chat, tmp_path):
    engine, first, waiting, release = one_at_work_and_two_that_wait(open_engine, chat, tmp_path)
    engine.store.delete_index(INDEX)
    release()
    assert first.result().status == "finished"
    assert [run.result().error.code for run in waiting] == ["index_gone"] * 2
    assert engine.store.indexes() == []
    assert not list((engine.settings.data_dir / "uploads").rglob("*.md"))


def one_at_work_and_two_that_wait(open_engine, chat, tmp_path):
    """The last one brings a file, rates.md. Returns the engine, the first run, the others, and what lets them go on."""
    gate = Gate()
    chat.answer_when("日当1はいくら", answer=Held(gate, LONG_ANSWER))
    engine = open_engine(chat, runs_at_once=1)
    first = ask(engine, "日当1はいくら?")
    file = attachment(engine, tmp_path, "rates.md", "日当は1日3,000円です。")
    waiting = [ask(engine, "日当2はいくら?"), ask(engine, "日当3はいくら?", attachments=[file])]
    gate.wait_for(1)
    assert eventually(lambda: waiting[-1].before == 2)
    return engine, first, waiting, gate.open


def test_one_person_has_a_share_of_the_model_and_others_get_their_turn(open_engine, chat):
    gate = Gate()
    chat.answer_when("日当", answer=Held(gate, LONG_ANSWER))
    engine = open_engine(chat, runs_at_once=4, runs_per_person=2)
    grant(engine, INDEX)
    someone, another = as_person(engine, "a"), as_person(engine, "b")
    many = [ask(someone, f"日当{number}はいくら?") for number in range(4)]
    other = ask(another, "日当9はいくら?")
    gate.wait_for(3)
    assert [run.before > 0 for run in (*many, other)] == [False, False, True, True, False]
    gate.open()
    assert {run.result().status for run in (*many, other)} == {"finished"}


def test_where_nobody_signs_in_each_conversation_has_such_a_share(open_engine, chat):
    gate = Gate()
    chat.answer_when("日当", answer=Held(gate, LONG_ANSWER))
    engine = open_engine(chat, runs_at_once=4, runs_per_person=1)
    first = ask(engine, "日当1はいくら?")
    behind = ask(engine, "日当2はいくら?", conversation_id=first.conversation_id)
    other = ask(engine, "日当3はいくら?")
    gate.wait_for(2)
    assert [run.before > 0 for run in (first, behind, other)] == [False, True, False]
    gate.open()
    assert {run.result().status for run in (first, behind, other)} == {"finished"}


def test_all_runs_together_have_no_more_calls_under_way_than_is_set(open_engine, server):
    server.default = Answer(YES, delay=0.02)
    engine = open_engine(server=server, calls_at_once=2)
    runs = [ask(engine, f"日当{number}はいくら?", pipeline="self_rag") for number in range(2)]
    assert {run.result().status for run in runs} == {"finished"}
    assert server.most_at_once == 2


@pytest.mark.parametrize("names", [NOW, pytest.param(tuple(PIPELINES), marks=pytest.mark.soak)], ids=len)
def test_every_pipeline_ends_where_one_call_is_made_at_a_time(open_engine, server, names):
    server.answer_when(lambda request: request.schema is not None, YES)
    engine = open_engine(server=server, calls_at_once=1, run_time_limit=LIMIT)
    runs = {name: [ask(engine, f"{each} の日当は?", pipeline=name) for each in ("国内", "海外")] for name in names}
    ends = {name: [run.result().status for run in both] for name, both in runs.items()}
    assert ends == {name: ["finished", "finished"] for name in names}
    assert server.most_at_once == 1


# Also in tests/rag/models/calls/test_admission.py::test_calls_take_turns_by_person_and_those_of_one_person_by_run.
@pytest.mark.soak
def test_the_many_calls_of_one_run_do_not_keep_the_answer_of_another_waiting(open_engine, server):
    held = threading.Event()

    def grade(request: ChatRequest) -> Answer:
        held.wait(PATIENCE)
        return Answer(YES, delay=0.02)

    server.answer_when(lambda request: request.schema is not None, grade)
    engine = open_engine(server=server, calls_at_once=2)
    many = ask(engine, "日当と宿泊の規程", pipeline="self_rag", retrieval=Retrieval(k=10))
    server.wait_for_requests(2)
    other = ask(engine, "宿泊費の上限はいくら?")
    assert eventually(lambda: started_steps(other.events) == ["retrieve", "generate"])
    held.set()
    assert (other.result().status, many.result().status) == ("finished", "finished")
    grades = len(finished(many.events, "retrieve")[0].detail.passages)
    came = next(number for number, request in enumerate(server.chats) if "宿泊費の上限はいくら" in request.prompt)
    assert came < grades


def test_the_many_runs_of_one_person_do_not_keep_the_calls_of_another_waiting(open_engine, server):
    held = threading.Event()

    def grade(request: ChatRequest) -> Answer:
        held.wait(PATIENCE)
        return Answer(YES, delay=0.02)

    server.answer_when(lambda request: request.schema is not None, grade)
    engine = open_engine(server=server, calls_at_once=1)
    grant(engine, INDEX)
    someone, another = as_person(engine, "a"), as_person(engine, "b")
    many = [ask(someone, f"日当と宿泊の規程 {number}", pipeline="self_rag") for number in range(4)]
    assert eventually(lambda: all(started_steps(run.events) == ["retrieve", "grade_documents"] for run in many))
    server.wait_for_requests(1)
    other = ask(another, "宿泊費の上限はいくら?")
    assert eventually(lambda: started_steps(other.events) == ["retrieve", "generate"])
    held.set()
    assert {run.result().status for run in (other, *many)} == {"finished"}
    came = next(number for number, request in enumerate(server.chats) if "宿泊費の上限はいくら" in request.prompt)
    assert came <= 2  # after the call at work, and one more that may have come before this one waited


# Retrieval that differs from the pipeline's


@pytest.mark.parametrize("pipeline", some_of(now=("naive", "self_rag_candidates")))
def test_any_pipeline_searches_as_it_is_told_to(engine, chat, pipeline):
    approve(chat)
    chosen = Retrieval(mode="keyword", unit="section", k=2)
    run = ask(engine, "日当と宿泊の規程、グリーン車の承認", pipeline=pipeline, retrieval=chosen)
    assert run.result().status == "finished"
    searched = finished(run.events, "retrieve")[0].detail
    assert (searched.mode, searched.unit, len(searched.passages)) == ("keyword", "section", 2)
    assert all(passage.vector_rank is None and passage.keyword_rank for passage in searched.passages)


@pytest.mark.parametrize("pipeline", some_of(now=("multivector", "hybrid")))
def test_a_pipeline_left_alone_searches_as_it_has_it(engine, chat, pipeline):
    approve(chat)
    run = ask(engine, pipeline=pipeline)
    run.result()
    has = PIPELINES[pipeline].retrieval
    searched = finished(run.events, "retrieve")[0].detail
    assert (searched.mode, searched.unit, len(searched.passages)) == (has.mode, has.unit, has.k)
    assert run.events[0].retrieval is None


def test_what_was_picked_stands_in_the_history(engine):
    chosen = Retrieval(mode="hybrid", k=1)
    run = ask(engine, retrieval=chosen)
    run.result()
    assert engine.history.events(run.id)[0].retrieval == chosen


@pytest.mark.parametrize(
    ("chosen", "error"),
    [
        (Retrieval(mode="fuzzy"), UnknownMode),
        (Retrieval(unit="page"), UnknownUnit),
        (Retrieval(k=0), BadHitCount),
        (Retrieval(k=-4), BadHitCount),
        (Retrieval(k=21), BadHitCount),
    ],
)
def test_a_retrieval_that_cannot_be_is_refused_in_a_sentence_before_a_run_begins(engine, chosen, error):
    with pytest.raises(error):
        ask(engine, retrieval=chosen)
    assert engine.history.runs() == []
    assert engine.history.conversations.listed() == []


def test_a_search_that_finds_nothing_by_keyword_is_an_answer_too(engine, chat):
    run = ask(engine, "??!", retrieval=Retrieval(mode="keyword"))
    assert run.result().status == "finished"
    assert finished(run.events, "retrieve")[0].detail.passages == ()


# Stopping


def test_stop_ends_the_run_at_once_and_keeps_what_was_written(engine, chat):
    chat.enqueue(Held(Gate(), LONG_ANSWER, shown=LONG_ANSWER[:16]))
    run = ask(engine)
    wait_for_token(run)
    assert eventually(lambda: tokens(run.events) == LONG_ANSWER[:16])
    run.stop()
    result = run.result()
    assert (result.status, result.answer, result.outcome, result.error) == ("stopped", LONG_ANSWER[:16], None, None)
    assert [citation.number for citation in result.citations] == [1]
    assert finished(run.events, "generate")[0].verdict == "stopped"
    assert engine.history.run(run.id).status == "stopped"


def test_stop_in_the_midst_of_grading_ends_every_grade(engine, chat):
    gate = Gate()
    chat.answer_when(JA.relevance, answer=Held(gate, YES))
    run = ask(engine, pipeline="self_rag")
    gate.wait_for(4)
    run.stop()
    assert run.result().status == "stopped"
    assert started_steps(run.events) == ["retrieve", "grade_documents"]
    assert gate.waiting == 0


@pytest.mark.soak
@pytest.mark.parametrize("times", [2, 100])
def test_a_stop_that_meets_a_word_of_the_model_is_not_lost(open_engine, server, times):
    never = threading.Event()  # only a stop ends a run, however late it comes
    server.default = Answer("日当は2,500円です。" * 40, token_seconds=0.005, until=never)
    engine = open_engine(server=server)
    done = threading.Event()

    def keep_busy() -> None:
        # With this, a stop and a token often wait for the event loop together.
        while not done.is_set():
            sum(range(2000))

    busy = [threading.Thread(target=keep_busy) for _ in range(2)]
    for thread in busy:
        thread.start()
    try:
        for _ in range(times):
            run = ask(engine)
            wait_for_token(run)
            run.stop()
            assert run.result().status == "stopped"
    finally:
        done.set()
        for thread in busy:
            thread.join()


def test_a_run_that_is_stopped_at_once_still_ends(engine, chat):
    chat.default = Held(Gate(), LONG_ANSWER)
    run = ask(engine)
    run.stop()
    assert run.result().status == "stopped"


def test_stopping_a_finished_run_does_nothing(engine):
    run = ask(engine)
    result = run.result()
    run.stop()
    assert run.result() == result
    assert run.events[-1] == result


def test_a_run_that_is_stopped_twice_ends_after_the_steps_that_it_has_begun(open_engine):
    gate = Gate()
    chat = Lingering()
    chat.default = Held(gate, LONG_ANSWER)
    run = ask(open_engine(chat))
    gate.wait_for(1)
    run.stop()
    assert eventually(lambda: gate.waiting == 0)
    run.stop()
    assert run.result().status == "stopped"
    assert chat.has_left


def test_what_a_run_has_left_behind_ends_before_the_engine(opened):
    ended = threading.Event()

    async def left_behind() -> None:  # as LangGraph leaves steps and checkpoints, if a run is stopped as it ends
        while not is_waited_for():
            await asyncio.sleep(0.01)
        ended.set()

    def is_waited_for() -> bool:
        work = [each.get_coro() for each in asyncio.all_tasks()]
        return any(each.__name__ == "_steps_end" and getcoroutinestate(each) == CORO_SUSPENDED for each in work)

    with opened() as engine:
        asyncio.run_coroutine_threadsafe(left_behind(), loop_of(engine))
    assert ended.is_set()


def test_stop_closes_the_connection_to_the_model(open_engine, server):
    server.default = Answer(LONG_ANSWER, token_seconds=0.05, until=threading.Event())
    run = ask(open_engine(server=server))
    wait_for_token(run)
    run.stop()
    result = run.result()
    assert result.status == "stopped"
    assert 0 < len(result.answer) < len(LONG_ANSWER)
    assert server.chats[0].disconnected.wait(PATIENCE)


def test_stop_closes_the_connections_of_graders(open_engine, server):
    server.default = Fault.HANGS
    run = ask(open_engine(server=server), pipeline="self_rag")
    server.wait_for_requests(4)
    run.stop()
    assert run.result().status == "stopped"
    assert all(request.disconnected.wait(PATIENCE) for request in server.chats)


def test_a_run_whose_time_is_up_is_limited_and_keeps_what_was_written(open_engine, chat):
    gate = Gate()
    chat.enqueue(Held(gate, LONG_ANSWER, shown=LONG_ANSWER[:16]))
    engine = open_engine(chat, run_time_limit=LIMIT)
    run = ask(engine)
    gate.wait_for(1)
    let_time_pass(engine, LIMIT)
    result = run.result()
    assert (result.status, result.answer, result.error.code) == ("limited", LONG_ANSWER[:16], "run_time_limit")
    assert "RUN_TIME_LIMIT" in result.error.en
    assert "RUN_TIME_LIMIT" in result.error.ja


@pytest.mark.parametrize(
    ("limit", "code", "variable"),
    [
        ({"run_call_limit": 4}, "run_call_limit", "RUN_CALL_LIMIT"),
        ({"run_token_limit": 1000}, "run_token_limit", "RUN_TOKEN_LIMIT"),
    ],
)
def test_a_run_whose_calls_or_tokens_are_used_up_is_limited_and_says_which(open_engine, chat, limit, code, variable):
    approve(chat)
    chat.answer_when(JA.grounding, answer=NO)
    chat.default = LONG_ANSWER
    run = ask(open_engine(chat, **limit), pipeline="self_rag")
    result = run.result()
    assert (result.status, result.outcome, result.error.code) == ("limited", None, code)
    assert variable in result.error.en
    assert variable in result.error.ja
    assert result.totals.model_calls == len(chat.prompts)
    if "run_call_limit" in limit:
        assert result.totals.model_calls <= 4


def test_what_was_written_before_the_calls_were_used_up_is_kept(open_engine, chat):
    approve(chat)
    chat.default = LONG_ANSWER
    result = ask(open_engine(chat, run_call_limit=5), pipeline="self_rag").result()
    assert (result.status, result.error.code, result.answer) == ("limited", "run_call_limit", LONG_ANSWER)
    assert result.citations


def test_a_run_within_its_budget_is_not_limited(open_engine, chat):
    approve(chat)
    assert ask(open_engine(chat, run_call_limit=7), pipeline="self_rag").result().status == "finished"


def test_a_budget_is_that_of_one_run(open_engine, chat):
    engine = open_engine(chat, run_call_limit=1)
    assert [ask(engine).result().status for _ in range(3)] == ["finished"] * 3


def test_a_follow_up_counts_among_the_calls_of_its_run(open_engine, chat):
    engine = open_engine(chat, run_call_limit=1)
    first = ask(engine)
    first.result()
    chat.answer_when(JA.standalone, answer="日当は誰が承認しますか?")
    second = ask(engine, "それは誰が承認しますか?", conversation_id=first.conversation_id)
    assert (second.result().status, second.result().error.code) == ("limited", "run_call_limit")


def test_closing_the_engine_stops_its_runs(loaded, chat):
    gate = Gate()
    chat.default = Held(gate, LONG_ANSWER)
    with local_engine(Settings(data_dir=loaded), source=ScriptedSource(chat)) as engine:
        runs = [ask(engine), ask(engine)]
        gate.wait_for(2)
    assert [run.result().status for run in runs] == ["stopped", "stopped"]


# Questions that can't be answered


def test_an_empty_question_is_refused_and_nothing_is_begun(engine, chat):
    with pytest.raises(EmptyQuestion):
        ask(engine, " 　\n")
    assert (engine.history.conversations.listed(), chat.prompts) == ([], [])


def test_a_question_that_is_too_long_is_refused_in_a_sentence_and_nothing_is_begun(engine, chat):
    with pytest.raises(QuestionTooLong) as refused:
        ask(engine, "日" * 4001)
    assert "4,001" in refused.value.sentence("en")
    assert "ファイル" in refused.value.sentence("ja")
    assert (engine.history.conversations.listed(), chat.prompts) == ([], [])
    assert ask(engine, " " + "日" * 4000).result().status == "finished"


def test_an_index_that_is_not_there_is_named_beside_those_that_are(engine, chat):
    result = engine.ask("Where?", index="other", pipeline_name="naive").result()
    assert (result.status, result.error.code) == ("failed", "unknown_index")
    assert "other" in result.error.ja
    assert INDEX in result.error.ja
    assert chat.prompts == []


def test_an_empty_index_asks_for_documents(engine, chat):
    for document in engine.store.documents(INDEX):
        engine.store.remove(INDEX, document.source)
    run = ask(engine)
    result = run.result()
    assert (result.status, result.error.code) == ("failed", "empty_index")
    assert finished(run.events, "retrieve")[0].error == result.error
    assert chat.prompts == []


def test_a_pipeline_that_is_not_there_is_refused_before_anything_is_saved(engine):
    with pytest.raises(UnknownPipeline, match="self_rag, self_rag_candidates"):
        ask(engine, pipeline="agentic")
    assert engine.history.conversations.listed() == []


def test_a_fault_of_ours_ends_the_run_in_words_and_stands_in_the_log(engine, chat, caplog):
    chat.enqueue(RuntimeError("it broke"))
    run = ask(engine)
    result = run.result()
    assert (result.status, result.error.code) == ("failed", "unexpected")
    assert finished(run.events, "generate")[0].error.code == "unexpected"
    assert "it broke" in caplog.text


def test_a_time_out_of_something_else_is_not_told_as_the_runs_limit(engine, chat, caplog):
    chat.enqueue(TimeoutError(errno.ETIMEDOUT, "the disk did not answer"))
    result = ask(engine).result()
    assert (result.status, result.error.code) == ("failed", "unexpected")
    assert "the disk did not answer" in caplog.text


def test_a_fault_of_our_filters_is_not_told_as_one_of_the_service(engine, caplog, monkeypatch):
    def breaks(*_: object) -> str:
        raise ValueError("it broke")

    monkeypatch.setattr(ReplyFilter, "feed", breaks)
    result = ask(engine).result()
    assert (result.status, result.error.code) == ("failed", "unexpected")
    assert "it broke" in caplog.text


class HalfCharacters(ServiceChat):
    """Streams what no model may: a text that can't be saved."""

    async def answer(self, *_: Any, **__: Any) -> AsyncIterator[str]:
        yield "Haze\ud83d"


def test_a_run_that_can_neither_be_continued_nor_summarized_ends_all_the_same(loaded, embeddings, caplog):
    source = ScriptedSource(ScriptedChat())
    source.open = lambda: HalfCharacters(ChatClient(ScriptedChat(), "scripted"))
    settings = Settings(data_dir=loaded)
    with local_engine(settings, store=IndexStore(settings, embeddings), source=source) as engine:
        run = ask(engine)
        assert run.wait(PATIENCE)
        assert (run.events[-1].status, run.events[-1].error.code) == ("failed", "unexpected")
        assert engine.history.run(run.id).status == "failed"
        [entry] = process_of(engine).store.access.audit.read(EntryFilter(action="asked")).entries
        assert (entry.facts["run"], entry.facts["status"]) == (run.id, "failed")
        assert engine.usage.of().runs_today == 1
        assert "PydanticSerializationError" in caplog.text
        engine.delete_conversation(run.conversation_id)
        assert engine.history.runs() == []


def test_a_failed_grade_ends_the_others(engine, chat):
    gate = Gate()
    chat.answer_when(JA.relevance, answer=Held(gate, YES))
    chat.answer_when(JA.relevance, "グリーン車", answer=RuntimeError("it broke"))
    assert ask(engine, pipeline="self_rag").result().status == "failed"
    assert gate.waiting == 0


def test_a_question_that_is_no_text_is_answered_all_the_same(engine, chat):
    result = ask(engine, "日当は\udcff?").result()
    assert result.status == "finished"
    assert "質問: 日当は??" in chat.prompts[0]


def test_braces_in_a_question_reach_the_model(engine, chat):
    approve(chat)
    question = "What does {passages} in {0} {} mean?"
    assert ask(engine, question, pipeline="self_rag").result().status == "finished"
    prompts = chat.prompts_with(EN.relevance) + chat.prompts_with(EN.answer)
    assert prompts
    assert [prompt for prompt in prompts if question not in prompt] == []


# What is stored


def test_a_run_is_saved_as_it_goes_without_its_tokens(engine, chat):
    gate = Gate()
    chat.enqueue(Held(gate, LONG_ANSWER, shown=LONG_ANSWER[:8]))
    run = ask(engine)
    wait_for_token(run)
    assert engine.history.run(run.id).status == "running"
    assert engine.history.events(run.id) == [event for event in run.events if not isinstance(event, Token)]
    gate.open()
    result = run.result()
    assert engine.history.run(run.id).status == "finished"
    assert engine.history.events(run.id)[-1] == result


def test_a_run_that_was_in_flight_when_the_process_died_is_failed_at_the_next_start(loaded, chat):
    history = History(loaded)
    conversation = history.conversations.new(QUESTION, principal=LOCAL)
    started = RunStarted(
        run_id="r", conversation_id=conversation.id, question=QUESTION, index=INDEX, pipeline="naive", model="m", at=1
    )
    history.save("r", started)
    history.save("r", StepStarted(step="retrieve", attempt=1, start=0.25))
    history.close()
    with local_engine(Settings(data_dir=loaded), source=ScriptedSource(chat)) as engine:
        assert engine.history.run("r").status == "failed"
        end = engine.history.events("r")[-1]
        assert (end.status, end.error.code, end.totals.seconds) == ("failed", "interrupted", 0.25)
        assert ask(engine).result().status == "finished"


def test_questions_of_one_conversation_stay_together_and_others_apart(engine):
    first = ask(engine)
    second = ask(engine, "宿泊費は?", conversation_id=first.conversation_id)
    other = ask(engine, conversation_id="not there any more")
    for run in (first, second, other):
        run.result()
    assert [run.id for run in engine.history.runs(first.conversation_id)] == [first.id, second.id]
    assert [run.id for run in engine.history.runs(other.conversation_id)] == [other.id]


def test_the_run_that_a_conversation_waits_for_is_known(engine, chat):
    gate = Gate()
    chat.enqueue(Held(gate, "答え。"))
    run = ask(engine)
    assert engine.running(run.conversation_id) is run
    gate.open()
    run.result()
    assert engine.running(run.conversation_id) is None


def test_deleting_a_conversation_stops_all_its_runs(engine, chat):
    gate = Gate()
    chat.default = Held(gate, "答え。")
    first = ask(engine)
    second = ask(engine, conversation_id=first.conversation_id)
    gate.wait_for(2)
    engine.delete_conversation(first.conversation_id)
    assert [run.result().status for run in (first, second)] == ["stopped", "stopped"]
    assert engine.history.runs() == []


def test_deleting_a_conversation_stops_its_forks_and_theirs(engine, chat):
    run = ask(engine)
    run.result()
    fork = engine.forks.begin(run.id, "retrieve", 1, [LeaveOut(passage=1)])
    fork.result()
    gate = Gate()
    chat.default = Held(gate, "答え。")
    of_run = engine.forks.begin(run.id, "retrieve", 1, [LeaveOut(passage=1)])
    of_fork = engine.forks.begin(fork.id, "retrieve", 1, [LeaveOut(passage=2)])
    gate.wait_for(2)
    engine.delete_conversation(run.conversation_id)
    assert [of_run.is_finished, of_fork.is_finished] == [True, True]
    assert [each.result().status for each in (of_run, of_fork)] == ["stopped", "stopped"]


@pytest.mark.sqlite_alone
def test_of_a_fork_at_work_no_words_stay_when_its_conversation_is_deleted(engine, chat):
    run = ask(engine)
    run.result()
    gate = Gate()
    chat.default = Held(gate, "答え。")
    engine.forks.begin(run.id, "retrieve", 1, [LeaveOut(passage=1)])
    gate.wait_for(1)
    engine.delete_conversation(run.conversation_id)
    with closing(sqlite3.connect(engine.settings.data_dir / CHECKPOINTS)) as connection:
        assert connection.execute("SELECT count(*) FROM checkpoints").fetchone() == (0,)


def test_a_question_in_a_conversation_that_is_deleted_while_it_is_asked_begins_a_new_one(engine, monkeypatch):
    first = ask(engine)
    first.result()
    turns = History.turns

    def turns_before_it_is_deleted(history: History, conversation_id: str, **options: Any) -> tuple[Turn, ...]:
        said = turns(history, conversation_id, **options)
        history.conversations.delete(conversation_id)
        return said

    monkeypatch.setattr(History, "turns", turns_before_it_is_deleted)
    run = ask(engine, "宿泊費は?", conversation_id=first.conversation_id)
    assert run.result().status == "finished"
    assert [each.id for each in engine.history.conversations.listed()] == [run.conversation_id]
    assert run.conversation_id != first.conversation_id
    assert started_steps(run.events) == ["retrieve", "generate"]


def test_a_run_whose_history_is_gone_ends_for_its_readers(engine, chat, caplog):
    gate = Gate()
    chat.enqueue(Held(gate, "答え。"))
    run = ask(engine)
    gate.wait_for(1)
    process_of(engine).history.conversations.delete(run.conversation_id)
    gate.open()
    assert eventually(lambda: run.is_finished)
    assert run.id in caplog.text


# Attachments


def attachment(engine: UserEngine, tmp_path, name: str, text: str) -> FileSource:
    file = tmp_path / "from-the-browser"
    file.write_text(text, encoding="utf-8")
    with file.open("rb") as content:
        return keep_upload(engine.settings.data_dir, name, content)


def test_an_attachment_is_added_first_searched_and_discarded(engine, chat, tmp_path):
    upload = attachment(engine, tmp_path, "parking.md", "# Parking\n\nThe garage closes at 22:00.\n")
    chat.enqueue("At 22:00 [1].")
    run = ask(engine, "When does the parking garage close?", attachments=[upload])
    result = run.result()
    assert started_steps(run.events) == ["add_documents", "retrieve", "generate"]
    [adding] = finished(run.events, "add_documents")
    assert isinstance(adding.detail, DocumentsDetail)
    assert [(added.source, added.status) for added in adding.detail.added] == [("parking.md", IngestStatus.READY)]
    assert result.citations[0].source == "parking.md"
    assert not upload.path.exists()


def test_an_attachment_that_cannot_be_loaded_is_told_and_the_question_answered(engine, tmp_path):
    upload = attachment(engine, tmp_path, "empty.md", "")
    run = ask(engine, attachments=[upload])
    assert run.result().status == "finished"
    [adding] = finished(run.events, "add_documents")
    assert adding.verdict == "no"
    assert adding.detail.added[0].error.code == "empty_document"
    assert not upload.path.exists()


@pytest.fixture
def may_embed(monkeypatch) -> Iterator[threading.Event]:
    """No document is ready before this is set."""
    passages, may_embed = EmbeddedEmbeddings.passages, threading.Event()

    def once_allowed(self: EmbeddedEmbeddings, texts: Sequence[str]) -> Vectors:
        may_embed.wait(PATIENCE)
        return passages(self, texts)

    monkeypatch.setattr(EmbeddedEmbeddings, "passages", once_allowed)
    yield may_embed
    may_embed.set()


def test_an_attachment_outlives_a_run_that_is_stopped(engine, tmp_path, may_embed):
    upload = attachment(engine, tmp_path, "parking.md", "# Parking\n\nThe garage closes at 22:00.\n")
    run = ask(engine, attachments=[upload])
    run.stop()
    assert run.result().status == "stopped"
    may_embed.set()
    is_added_all_the_same(engine, upload)


def test_an_attachment_outlives_a_run_whose_time_is_up(open_engine, chat, tmp_path, may_embed):
    engine = open_engine(chat, run_time_limit=LIMIT)
    upload = attachment(engine, tmp_path, "parking.md", "# Parking\n\nThe garage closes at 22:00.\n")
    run = ask(engine, attachments=[upload])
    assert eventually(lambda: engine.store.ingestions)
    let_time_pass(engine, LIMIT)
    assert run.result().status == "limited"
    may_embed.set()
    is_added_all_the_same(engine, upload)


def is_added_all_the_same(engine: UserEngine, upload: FileSource) -> None:
    """By a job, which the person who asked sees among the others."""
    [job] = engine.store.ingestions
    assert [(each.source, each.status) for each in job.wait()] == [("parking.md", IngestStatus.READY)]
    assert "parking.md" in [each.source for each in engine.store.documents(INDEX)]
    assert not upload.path.exists()
    engine.store.dismiss(job)


def test_the_attachments_of_an_empty_question_are_added(engine, tmp_path):
    upload = attachment(engine, tmp_path, "parking.md", "# Parking\n\nSlots are in the yard.\n")
    with pytest.raises(EmptyQuestion):
        ask(engine, " ", attachments=[upload])
    is_added_all_the_same(engine, upload)


def test_uploads_that_a_dead_process_left_are_discarded_at_the_next_start(loaded, chat):
    left = upload_folder(loaded) / "left.md"
    left.parent.mkdir()
    left.write_text("# Left")
    with Engine(Settings(data_dir=loaded), source=ScriptedSource(chat)):
        assert not left.exists()


def test_documents_added_beside_questions_can_be_waited_for(engine, tmp_path):
    file = tmp_path / "parking.md"
    file.write_text("# Parking\n\nThe garage closes at 22:00.\n")
    ingestion = engine.store.ingest(INDEX, [FileSource(file), FileSource(tmp_path / "missing.md")])
    assert ingestion in engine.store.ingestions
    assert [added.status for added in ingestion.wait()] == [IngestStatus.READY, IngestStatus.FAILED]


def test_an_engine_from_the_environment_asks_the_service_that_it_names(loaded, monkeypatch, server: OpenAIServer):
    for name, value in {
        "OPENAI_API_KEY": server.key,
        "OPENAI_BASE_URL": server.base_url,
        "CHAT_MODEL": "their-model",
        "EMBEDDING_MODEL": "embedded",
    }.items():
        monkeypatch.setenv(name, value)
    server.enqueue("2,500円です[1]。")
    with local_engine() as engine:
        run = ask(engine)
        assert run.result().answer == "2,500円です[1]。"
        assert of(RunStarted, run.events)[0].model == "their-model"
    assert server.chats[0].body["model"] == "their-model"
