"""Checkpoints are kept only as long as they are needed. A run that can't be forked gets an error of one sentence."""

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from threading import Event
from typing import Any, get_args, get_type_hints

import aiosqlite
import pytest
from pydantic import BaseModel

from rag.errors import (
    BadChange,
    DocumentsGone,
    ForkError,
    IndexGone,
    NoCheckpoint,
    NothingChanged,
    RunNotOver,
    UnknownRun,
)
from rag.graph.speculative_answer import SpeculativeAnswer
from rag.graph.state import STORED, State
from rag.runs import removal
from rag.runs.engine import UserEngine
from rag.runs.fork.edits import EditQuery, LeaveOut, TakeIn, TurnOver
from rag.runs.fork.plan import ChangedDocuments
from rag.runs.fork.sqlite_checkpoints import FILE, SqliteCheckpoints
from rag.runs.run.run import Run
from rag.trace.events import Change
from rag.trace.passages import Passage, Retrieval
from tests.helpers.back_doors import process_of
from tests.helpers.full_disk import full_disk, linux
from tests.helpers.threads import is_under_way
from tests.helpers.waiting import PATIENCE, eventually
from tests.rag.documents import INDEX, QUESTION
from tests.rag.reading import finished
from tests.rag.scripted import Gate, Held
from tests.rag.verdicts import approve

ANSWER = "一日につき二千五百円です[1]。"

of_a_step = pytest.mark.parametrize(("step", "edit"), [
    pytest.param("generate", LeaveOut(passage=1), marks=pytest.mark.soak),
    pytest.param("grade_documents", TurnOver(passage=1), marks=pytest.mark.soak),
    ("check_grounding", TurnOver()),
])  # fmt: skip


@pytest.fixture
def opened(opened, chat):
    """The same, with a model that always gives this answer."""
    chat.default = ANSWER
    return opened


def ask(engine: UserEngine, pipeline: str = "self_rag", **how: Any) -> Run:
    run = engine.ask(QUESTION, index=INDEX, pipeline_name=pipeline, **how)
    run.result()
    return run


def fork(engine: UserEngine, run: Run) -> Run:
    forked = engine.forks.begin(run.id, "retrieve", 1, [LeaveOut(passage=2)])
    assert forked.result().status == "finished"
    return forked


def found(run: Run) -> Sequence[Passage]:
    return finished(run.events, "retrieve")[0].detail.passages


def kept(engine: UserEngine) -> set[str]:
    """Ids of the runs that have checkpoints in the file."""
    file = engine.settings.data_dir / FILE
    if not file.exists():
        return set()
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute("SELECT thread_id FROM checkpoints UNION SELECT thread_id FROM writes")
        return {run_id for (run_id,) in rows}


def test_they_go_with_their_conversation_and_so_do_its_forks(opened):
    with opened() as engine:
        gone, stays = ask(engine), ask(engine)
        forked = fork(engine, gone)
        again = engine.forks.begin(forked.id, "generate", 1, [LeaveOut(passage=1)])
        again.result()
        assert kept(engine) == {gone.id, stays.id, forked.id, again.id}
        engine.delete_conversation(gone.conversation_id)
        assert kept(engine) == {stays.id}
        assert [each.id for each in engine.history.runs()] == [stays.id]


@pytest.mark.parametrize("pipeline", ["naive", pytest.param("adaptive", marks=pytest.mark.soak)])
def test_they_go_with_a_document_that_their_run_has_read_and_others_stay(opened, pipeline):
    with opened() as engine:
        one = Retrieval(mode="vector", unit="chunk", k=1)
        read, other = ask(engine, pipeline), ask(engine, pipeline, retrieval=one)
        forked, last = fork(engine, read), found(read)[-1]
        assert last.source != found(other)[0].source
        engine.store.remove(INDEX, last.source)
        assert eventually(lambda: process_of(engine).store.removed() == [])
        assert kept(engine) == {other.id}
        for run in (read, forked):
            with pytest.raises(NoCheckpoint):
                engine.forks.begin(run.id, "retrieve", 1, [EditQuery(query="VPN")])
            assert engine.forks.changed_documents(run.id) == ChangedDocuments(gone=(last.title,), newer=())


def test_a_run_that_ends_after_a_document_that_it_read_was_removed_keeps_none(opened, chat):
    gate = Gate()
    chat.enqueue(Held(gate, ANSWER))
    with opened() as engine:
        run = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
        gate.wait_for(1)
        engine.store.remove(INDEX, found(run)[-1].source)
        assert eventually(lambda: process_of(engine).store.removed() == [])
        gate.open()
        assert run.result().answer == ANSWER
        assert kept(engine) == set()


def test_they_go_when_their_days_are_over(opened, monkeypatch):
    with opened() as engine:
        old = ask(engine)
    later = removal.time.time() + 31 * removal.DAY
    monkeypatch.setattr(removal.time, "time", lambda: later)
    with opened() as engine:
        assert eventually(lambda: kept(engine) == set())
        with pytest.raises(NoCheckpoint):
            fork(engine, old)
        new = ask(engine)
        assert kept(engine) == {new.id}
        assert fork(engine, new)


@pytest.mark.soak
def test_who_wants_none_has_none(opened):
    with opened() as engine:
        ask(engine)
    with opened(keep_checkpoints_days=0) as engine:
        assert not list(engine.settings.data_dir.glob(f"{FILE}*"))
        run = ask(engine)
        assert run.result().answer == ANSWER
        with pytest.raises(NoCheckpoint):
            fork(engine, run)


def test_a_damaged_checkpoint_file_is_replaced_and_the_history_is_unchanged(opened, loaded):
    with opened() as engine:
        before = ask(engine)
    (loaded / FILE).write_bytes(b"This is no database. " * 1000)
    with opened() as engine:
        assert engine.history.run(before.id)
        with pytest.raises(NoCheckpoint):
            fork(engine, before)
        assert fork(engine, ask(engine))


def test_a_file_that_can_not_be_opened_keeps_nobody_from_an_answer(opened, loaded):
    (loaded / FILE).mkdir()
    with opened() as engine:
        run = ask(engine)
        assert run.result().answer == ANSWER
        with pytest.raises(NoCheckpoint):
            fork(engine, run)


@pytest.mark.soak  # also in test_a_file_that_can_not_be_opened_keeps_nobody_from_an_answer
@linux
def test_on_a_full_disk_the_answer_comes_and_the_run_can_not_be_forked_then(opened, chat):
    gate = Gate()
    chat.answer_when("<passage number=", answer=Held(gate, ANSWER), times=1)
    with opened() as engine:
        run = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
        gate.wait_for(1)
        with full_disk():
            gate.open()
            assert run.result().answer == ANSWER
        with pytest.raises(ForkError):
            fork(engine, run)
        assert fork(engine, ask(engine))


def test_a_checkpoint_that_is_missing_makes_no_fork_go_on_from_another(opened, loaded):
    with opened() as engine:
        run = ask(engine)
        with closing(sqlite3.connect(loaded / FILE)) as connection, connection:
            connection.execute("DELETE FROM checkpoints WHERE json_extract(metadata, '$.step') = 1")
        with pytest.raises(NoCheckpoint):
            fork(engine, run)


def test_a_run_that_was_stopped_or_still_goes_on_is_not_forked(opened, chat):
    gate = Gate()
    chat.answer_when("<passage number=", answer=Held(gate, ANSWER))
    with opened() as engine:
        run = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
        gate.wait_for(1)
        for _ in range(2):
            with pytest.raises(RunNotOver):
                fork(engine, run)
            run.stop()
            run.result()


def test_an_unknown_run_or_one_of_a_deleted_index_is_not_forked(opened):
    with opened() as engine:
        with pytest.raises(UnknownRun):
            engine.forks.begin("none", "retrieve", 1, [EditQuery(query="VPN")])
        run = ask(engine)
        engine.store.delete_index(INDEX)
        with pytest.raises(IndexGone):
            fork(engine, run)
        assert len(engine.history.runs()) == 1


@pytest.mark.soak
def test_an_index_is_known_by_more_than_its_name(opened):
    """A renamed index is still the same index; another index with its old name is not."""
    with opened() as engine:
        run, edits = ask(engine), [EditQuery(query="VPN")]
        engine.store.rename_index(INDEX, "renamed")
        forked = engine.forks.begin(run.id, "retrieve", 1, edits)
        assert forked.result().status == "finished"
        assert forked.events[0].index == "renamed"
        engine.store.create_index(INDEX)
        assert engine.forks.begin(run.id, "retrieve", 1, edits).events[0].index == "renamed"
        engine.store.delete_index("renamed")
        with pytest.raises(IndexGone):
            engine.forks.begin(run.id, "retrieve", 1, edits)


UNFIT = [
    ("retrieve", [], NothingChanged),
    ("retrieve", [EditQuery(query=QUESTION)], NothingChanged),
    ("retrieve", [EditQuery(query=" ")], BadChange),
    ("retrieve", [LeaveOut(passage=99)], BadChange),
    ("retrieve", [TakeIn(passage=1)], BadChange),
    ("retrieve", [EditQuery(query="VPN"), LeaveOut(passage=1)], BadChange),
    ("grade_documents", [TurnOver(passage=99)], BadChange),
    ("grade_documents", [EditQuery(query="VPN")], BadChange),
    ("check_answer", [TurnOver()], BadChange),
    ("rewrite_question", [EditQuery(query="VPN")], NoCheckpoint),
    ("standalone_question", [EditQuery(query="VPN")], NoCheckpoint),
]


def test_what_does_not_fit_is_refused_and_begins_nothing(engine, chat):
    approve(chat)
    chat.default = ANSWER
    run = ask(engine)
    runs = engine.history.runs()
    for step, edits, error in UNFIT:
        with pytest.raises(error):
            engine.forks.begin(run.id, step, 1, edits)
        assert engine.history.runs() == runs, (step, edits)


@of_a_step
def test_a_newer_version_of_a_document_is_told_and_the_fork_goes_on_with_what_was_found(opened, tmp_path, step, edit):
    with opened() as engine:
        run = ask(engine)
        last = found(run)[-1]
        (tmp_path / "new.md").write_text("# New\n\nNo longer in use.", encoding="utf-8")
        assert engine.store.add(INDEX, tmp_path / "new.md", last.source).error is None
        assert engine.forks.changed_documents(run.id) == ChangedDocuments(gone=(), newer=(last.title,))
        forked = engine.forks.begin(run.id, step, 1, [edit])
        assert forked.result().status == "finished"
        assert forked.events[0].origin.changes[1:] == (Change(what="newer_version", before=last.title, after=""),)


@of_a_step
def test_what_was_found_in_a_removed_document_is_not_gone_on_with_where_its_text_is_kept(opened, step, edit):
    with opened(keep_removed=True) as engine:
        run = ask(engine)
        engine.store.remove(INDEX, found(run)[-1].source)
        with pytest.raises(DocumentsGone):
            engine.forks.begin(run.id, step, 1, [edit])


def test_a_fork_under_which_its_index_is_deleted_ends_and_keeps_neither_passages_nor_checkpoints(opened, chat):
    with opened() as engine:
        run, gate = ask(engine, "naive"), Gate()
        chat.enqueue(Held(gate, ANSWER))
        forked = engine.forks.begin(run.id, "retrieve", 1, [EditQuery(query="VPN")])
        gate.wait_for(1)
        texts = [each.text for each in found(forked)]
        assert texts
        engine.store.delete_index(INDEX)
        assert eventually(lambda: process_of(engine).store.removed() == [])
        gate.open()
        assert forked.result().answer == ANSWER
        assert kept(engine) == set()
        stored = finished(engine.history.events(forked.id), "retrieve")[0].detail.passages
        assert all(each.removed and each.text not in texts for each in stored)
        with pytest.raises(IndexGone):
            engine.forks.begin(forked.id, "retrieve", 1, [EditQuery(query="VPN")])


def test_a_checkpoint_may_hold_every_type_that_a_state_has():
    """A type that is not in STORED would be read back as another type."""
    hints = {key: hint for key, hint in get_type_hints(State).items() if hint is not SpeculativeAnswer}
    ours = {each for hint in hints.values() for each in _types(hint) if each.__module__.startswith("rag.")}
    assert ours == set(STORED)
    assert BaseModel not in STORED


def _types(hint: Any) -> Iterator[type]:
    if isinstance(hint, type):
        yield hint
    for argument in get_args(hint):
        yield from _types(argument)


def test_a_fork_that_waits_for_the_checkpoints_file_keeps_nobody_from_the_history(opened):
    with opened() as engine, closing(sqlite3.connect(engine.settings.data_dir / FILE)) as other:
        run = ask(engine)
        other.execute("BEGIN IMMEDIATE")  # like a run that saves a checkpoint
        with ThreadPoolExecutor() as threads:
            forked = threads.submit(fork, engine, run)
            try:
                assert eventually(lambda: is_under_way(SqliteCheckpoints.copy))
                threads.submit(engine.history.rate, run.id, 1).result(timeout=PATIENCE)
                assert not forked.done()
            finally:
                other.rollback()
            assert forked.result().id in kept(engine)


@pytest.mark.parametrize("which", [2, *(pytest.param(each, marks=pytest.mark.soak) for each in (1, 3, 4, 5))])
def test_a_run_that_is_stopped_while_it_saves_a_checkpoint_leaves_the_file_to_others(opened, monkeypatch, which):
    commits = count(1)
    is_saving, is_stopped = Event(), Event()
    commit = aiosqlite.Connection.commit

    async def commit_slowly(connection: aiosqlite.Connection) -> None:
        if next(commits) == which:
            is_saving.set()
            while not is_stopped.is_set():
                await asyncio.sleep(0.005)
        await commit(connection)

    with opened() as engine, closing(sqlite3.connect(engine.settings.data_dir / FILE, timeout=PATIENCE)) as other:
        monkeypatch.setattr(aiosqlite.Connection, "commit", commit_slowly)
        run = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
        assert is_saving.wait(PATIENCE)
        run.stop()
        is_stopped.set()
        run.result()
        other.execute("BEGIN IMMEDIATE")  # like a deletion
        other.rollback()
