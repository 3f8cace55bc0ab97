"""Retention: what is deleted when its time is over, and what stays."""

import os
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.event import listens_for

from index_store.access.audit.audit import EntryFilter
from index_store.access.principal import LOCAL
from index_store.base.errors import UnknownIndex
from rag.errors import NotSaved, UnknownShare
from rag.runs.engine import UserEngine
from rag.runs.fork.edits import LeaveOut
from rag.runs.fork.sqlite_checkpoints import FILE as CHECKPOINTS
from rag.runs.history.conversations.conversations import AT_ONCE, Conversations
from rag.runs.removal import DAY
from rag.runs.retention import retention
from rag.runs.run.options import RunOptions
from rag.runs.run.run import Run
from tests.helpers.back_doors import process_of
from tests.helpers.waiting import eventually
from tests.rag.documents import INDEX
from tests.rag.scripted import Gate, Held

SECRET = "金庫の暗証番号は八八四一ですか?"


def ask(engine: UserEngine, question: str = SECRET, **how: Any) -> Run:
    run = engine.ask(question, index=INDEX, pipeline_name="naive", **how)
    run.result()
    return run


def grow_old(folder: Path, days: float, *conversation_ids: str) -> None:
    """Makes conversations older: the given ones, or all, as if their last question was asked `days` earlier."""
    with closing(sqlite3.connect(folder / "history.sqlite3")) as connection, connection:
        these = f"WHERE id IN ({','.join('?' * len(conversation_ids))})" if conversation_ids else ""
        connection.execute(f"UPDATE conversations SET updated_at = updated_at - {days * DAY} {these}", conversation_ids)


def all_of(folder: Path, names: str = "*.sqlite3*") -> bytes:
    """The bytes of all database files."""
    return b"".join(file.read_bytes() for file in folder.glob(names))


def rows(folder: Path) -> dict[str, int]:
    """The number of rows of each table of the history that has any."""
    with closing(sqlite3.connect(folder / "history.sqlite3")) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        counts = {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for (name,) in tables}
    return {name: count for name, count in counts.items() if count and name != "alembic_version"}


def test_a_conversation_goes_with_all_that_hangs_on_it_and_no_file_has_a_word_of_it(opened, loaded):
    with opened() as engine:
        run = ask(engine)
        engine.history.rate(run.id, 1)
        forked = engine.forks.begin(run.id, "retrieve", 1, [LeaveOut(passage=1)])
        forked.result()
        columns = (RunOptions(pipeline="naive"), RunOptions(pipeline="hybrid"))
        compared = engine.comparisons.begin(SECRET, INDEX, columns)
        for run_id in filter(None, compared.run_ids):
            engine.run(run_id).result()
        engine.comparisons.vote(compared.id, compared.run_ids[0])
        tokens = [engine.shares.add(of).token for of in (run.conversation_id, run.id, forked.id)]
    assert {"shares", "comparisons", "compared", "calls", "events"} < rows(loaded).keys()
    grow_old(loaded, 31)
    with opened(retention_days=30) as engine:
        assert eventually(lambda: not engine.history.runs())
        for token in tokens:
            with pytest.raises(UnknownShare):
                engine.shares.shared(token)
        assert eventually(lambda: SECRET.encode() not in all_of(loaded))
        assert eventually(lambda: not checkpoints(loaded))
    assert rows(loaded).keys() == {"used"}


def checkpoints(folder: Path) -> int:
    with closing(sqlite3.connect(folder / CHECKPOINTS)) as connection:
        return connection.execute("SELECT count(*) FROM checkpoints").fetchone()[0]


def test_one_that_is_younger_stays_whole_however_old_its_first_question(opened, loaded):
    with opened() as engine:
        old, gone = ask(engine), ask(engine)
    grow_old(loaded, 29, old.conversation_id)
    grow_old(loaded, 31, gone.conversation_id)
    with opened(retention_days=30) as engine:
        assert eventually(lambda: not engine.history.conversations.exists(gone.conversation_id))
        assert engine.history.run(old.id)
        ask(engine, conversation_id=old.conversation_id)
    grow_old(loaded, 29)
    last = old_copy(loaded, "x.version-0001.sqlite3", days=31)
    with opened(retention_days=30) as engine:
        assert eventually(lambda: not last.exists())
        assert engine.history.events(old.id)


def test_by_default_nothing_ever_goes(opened, loaded):
    with opened() as engine:
        run = ask(engine)
    grow_old(loaded, 4000)
    mark = old_copy(loaded, "history.version-0001.sqlite3", days=15)
    with opened() as engine:
        assert eventually(lambda: not mark.exists())
        assert engine.history.run(run.id)


def let_it_sweep(folder: Path) -> None:
    """Waits for a sweep from its beginning to its end, when old copies go: one may be under way already."""
    for _ in range(2):
        mark = old_copy(folder, "history.version-0001.sqlite3", days=31)
        assert eventually(lambda mark=mark: not mark.exists())


def old_copy(folder: Path, name: str, days: float) -> Path:
    copy = folder / name
    copy.write_text(SECRET)
    then = time.time() - days * DAY
    os.utime(copy, (then, then))
    return copy


def test_more_conversations_than_one_batch_are_all_deleted(opened, loaded):
    with opened() as engine:
        for number in range(AT_ONCE + 3):
            process_of(engine).history.conversations.new(f"{number}", principal=LOCAL)
    grow_old(loaded, 31)
    with opened(retention_days=30) as engine:
        audit = engine.store.access.audit
        assert eventually(lambda: audit.read(EntryFilter(action="expired")).entries)
        assert rows(loaded) == {}
        [entry] = audit.read(EntryFilter(action="expired")).entries
        assert entry.facts == {"conversations": AT_ONCE + 3, "days": 30}


@pytest.mark.parametrize(
    ("retention_days", "age", "stays"),
    [
        (0, 13, True),
        pytest.param(0, 15, False, marks=pytest.mark.soak),
        (7, 8, False),
        pytest.param(7, 6, True, marks=pytest.mark.soak),
    ],
)
def test_a_copy_of_before_an_upgrade_stays_no_longer_than_what_it_holds_may(opened, loaded, retention_days, age, stays):
    copies = [old_copy(loaded, f"{name}.version-0001.sqlite3", age) for name in ("history", "catalogue")]
    last = old_copy(loaded, "zzz.version-0001.sqlite3", days=15)
    with opened(retention_days=retention_days):
        assert eventually(lambda: not last.exists())
        assert eventually(lambda: [each.exists() for each in copies] == [stays, stays])


def test_a_damaged_history_that_was_set_aside_goes_in_its_time(opened, loaded):
    copy = old_copy(loaded, "history.damaged-20260101-000000.sqlite3", days=8)
    with opened():
        pass
    assert copy.exists()
    with opened(retention_days=7):
        assert eventually(lambda: not copy.exists())


def test_a_day_later_it_is_done_again_in_a_thread_that_ends_with_the_app(opened, loaded, monkeypatch):
    monkeypatch.setattr(retention, "PAUSE", 0.05)
    of_others = sweepers()
    with opened(retention_days=30) as engine:
        run = ask(engine)
        let_it_sweep(loaded)
        assert engine.history.run(run.id)
        grow_old(loaded, 31)
        assert eventually(lambda: not engine.history.run(run.id))
        assert engine.run(run.id) is None
        assert sweepers() > of_others
    assert sweepers() == of_others


def sweepers() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name == "retention"}


@pytest.mark.parametrize(
    "error",
    [NotSaved(), pytest.param(UnknownIndex(index="a", known="b"), marks=pytest.mark.soak)],
    ids=lambda error: error.code,
)
def test_what_can_not_be_dropped_is_told_in_the_log_and_tried_again(opened, loaded, monkeypatch, caplog, error):
    def fails(*_: object) -> int:
        raise error

    expire = Conversations.expire
    monkeypatch.setattr(retention, "UNTIL_TRIED_AGAIN", 0.05)
    monkeypatch.setattr(Conversations, "expire", fails)
    with opened(retention_days=30) as engine:
        run = ask(engine)
        grow_old(loaded, 31)
        assert eventually(lambda: "tried again" in caplog.text)
        monkeypatch.setattr(Conversations, "expire", expire)
        assert eventually(lambda: not engine.history.run(run.id))


def test_a_conversation_that_goes_on_while_old_ones_are_looked_for_stays(opened, loaded):
    with opened() as engine:
        old, goes_on = ask(engine), ask(engine)
        grow_old(loaded, 31)
        history, following = process_of(engine).history, list[Run]()

        @listens_for(history.database, "before_cursor_execute")
        def goes_on_then(connection: object, cursor: object, statement: str, *_: object) -> None:
            if statement.startswith("DELETE FROM conversations") and not following:
                following.append(ask(engine, conversation_id=goes_on.conversation_id))

        assert history.conversations.expire(time.time() - 30 * DAY) == 1
        assert [run.id for run in engine.history.runs()] == [goes_on.id, following[0].id]
        assert not engine.history.run(old.id)


def test_a_question_that_still_waits_is_not_taken_away(opened, loaded, chat, monkeypatch):
    monkeypatch.setattr(retention, "PAUSE", 0.05)
    gate = Gate()
    chat.enqueue(Held(gate, "文書のとおりです[1]。"))
    with opened(retention_days=30) as engine:
        run = engine.ask(SECRET, index=INDEX, pipeline_name="naive")
        gate.wait_for(1)
        grow_old(loaded, 31)
        let_it_sweep(loaded)
        assert engine.history.run(run.id)
        gate.open()
        run.result()
        assert eventually(lambda: not engine.history.run(run.id))


def test_a_conversation_whose_fork_is_at_work_is_not_taken_away(opened, loaded, chat):
    with opened() as engine:
        first, other = ask(engine), ask(engine)
        fork = engine.forks.begin(first.id, "retrieve", 1, [LeaveOut(passage=1)])
        fork.result()
        gate = Gate()
        chat.enqueue(Held(gate, "文書のとおりです[1]。"))
        of_fork = engine.forks.begin(fork.id, "retrieve", 1, [LeaveOut(passage=2)])
        gate.wait_for(1)
        grow_old(loaded, 31)
        conversations = process_of(engine).history.conversations
        assert conversations.expire(time.time() - 30 * DAY) == 1
        assert not engine.history.run(other.id)
        gate.open()
        assert of_fork.result().status == "finished"
        assert engine.history.run(first.id)
        assert conversations.expire(time.time() - 30 * DAY) > 0
        assert engine.history.runs() == []
