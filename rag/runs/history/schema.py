"""The tables of the history; opens its file, or sets a damaged one aside.

A change of a table takes a migration, which changes those of an older history alike.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import SecretStr
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)
from sqlalchemy.exc import DatabaseError, OperationalError

from index_store.base.database.backend import DatabaseLocation
from index_store.base.database.database import Schema, backend_of, open_database, place_of
from index_store.base.database.sqlite import SQLITE, SqliteFile
from index_store.base.errors import DatabaseAway
from rag.errors import NotSaved

log = logging.getLogger(__name__)

FILE = "history.sqlite3"
"""where it is a file"""

metadata = MetaData()

conversations = Table(
    "conversations",
    metadata,
    Column("id", String, primary_key=True),
    Column("title", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False, index=True),
    Column("kind", String, nullable=False, server_default="chat"),
    Column("origin_run_id", ForeignKey("runs.id", ondelete="CASCADE", name="forked", use_alter=True), index=True),
    Column("person_id", String),
    Index("ix_conversations_person_id", "person_id", "updated_at"),
)
"""`kind`: chat, comparison or fork; of a fork `origin_run_id`, with which it goes; `person_id`: as rag/runs/history/
ownership.py has it"""

runs = Table(
    "runs",
    metadata,
    Column("id", String, primary_key=True),
    Column("conversation_id", ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("question", Text, nullable=False),
    Column("index_name", String, nullable=False),
    Column("pipeline", String, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("status", String, nullable=False),
    Column("feedback", Integer),
    # What its last event says, so that runs are listed without their events.
    Column("seconds", Float, index=True),
    Column("tokens", Integer, index=True),
    Column("model_calls", Integer),
    Column("outcome", String),
    Column("cause", String),
    Column("cause_by_person", String),
    Index("ix_runs_started_at", "started_at", "id"),
    Index("ix_runs_pipeline", "pipeline", "started_at"),
    Index("ix_runs_index_name", "index_name", "started_at"),
    Column("feedback_reason", Text),
    Column("follows", String),
    Column("index_id", String),
    Column("person_id", String),
    Index("ix_runs_person_id_started_at", "person_id", "started_at", "id"),
    Index("ix_runs_person_id_seconds", "person_id", "seconds"),
    Index("ix_runs_person_id_tokens", "person_id", "tokens"),
    Index("ix_runs_person_id_pipeline", "person_id", "pipeline", "started_at"),
    Index("ix_runs_person_id_index_name", "person_id", "index_name", "started_at"),
)
"""`index_id`: what it asked, whatever that is called by now; None of what was not there, and of before. `person_id`: of
their conversation, so that each list of a person's has an index of its own"""

events = Table(
    "events",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("event", Text, nullable=False),
)

calls = Table(
    "calls",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("step", String, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("characters", Integer, nullable=False),
    Column("packed", LargeBinary, nullable=False),
)
"""of the chat model, a row a step, packed as rag/trace/calls.py has it: apart from the events, as few are ever read"""

comparisons = Table(
    "comparisons",
    metadata,
    Column("id", ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True),
    Column("question", Text, nullable=False),
    Column("index_name", String, nullable=False),
    Column("created_at", Float, nullable=False, index=True),
    Column("best_run_id", ForeignKey("runs.id", ondelete="SET NULL"), index=True),
)
"""each with the conversation of its runs, whose id it has"""

compared = Table(
    "compared",
    metadata,
    Column("comparison_id", ForeignKey("comparisons.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("run_id", ForeignKey("runs.id", ondelete="SET NULL"), index=True),
)
"""their columns; without a run where it was deleted since, with another conversation"""
suggestions = Table(
    "suggestions",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("question", Text, nullable=False),
)
"""what may be asked after a run"""
shares = Table(
    "shares",
    metadata,
    Column("id", String, primary_key=True),
    Column("token_hash", LargeBinary, nullable=False, unique=True),
    Column("conversation_id", ForeignKey("conversations.id", ondelete="CASCADE"), index=True),
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), index=True),
    Column("person", String, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("revoked_at", Float),
    Column("opened_at", Float),
)
"""links to a conversation or to one run; exactly one of both is named"""

used = Table(
    "used",
    metadata,
    Column("person_id", String, primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("runs", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
)
"""`day`: as 2026-11-23"""

live = Table(
    "live",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("app", BigInteger, nullable=False),
    Column("is_stopped", Boolean, nullable=False),
    Column("before", Integer, nullable=False),
    Column("begun_at", Float, nullable=False),
    Column("party", String),
    Column("at_once", Integer),
    Column("came", Integer),
    Column("turn", Integer),
)
"""Runs at work, where several apps share a database. `app`: number of the replica; `before`, `begun_at`: as `Run` has
them; `came`: its place among those that have waited for a turn; `turn`: which that was, NULL until it has it.
"""

tokens = Table(
    "tokens",
    metadata,
    Column("run_id", ForeignKey("live.run_id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("after", Integer, nullable=False),
    Column("event", Text, nullable=False),
)
"""of those, several in one; `after`: how many events were saved before"""

removed = Table(
    "removed",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("document_id", String, nullable=False),
    Column("removed_at", Float, nullable=False),
)
"""documents, for apps whose runs may be quoting them"""

SCHEMA = Schema(metadata, Path(__file__).parent / "migrations")


def place(data_dir: Path, database_url: SecretStr | None) -> DatabaseLocation:
    return place_of(Path(FILE).stem, data_dir, database_url)


def open_history(where: DatabaseLocation) -> tuple[Engine, Path | None]:
    """A file that is damaged is set aside, and an empty one made: where the damaged one is now.

    Raises OSError; DatabaseError where it can't be opened.
    """
    try:
        return _open(where), None
    except (DatabaseError, _Damaged) as error:
        is_damaged = isinstance(error, _Damaged) or SQLITE.is_damaged(error)
        if not is_damaged or not isinstance(where, SqliteFile):
            raise
    aside = _set_aside(where.file)
    log.warning("The history is damaged. It was renamed to %s, and a new, empty one is used", aside)
    return _open(where), aside


@contextmanager
def changing(database: Engine, within: Connection | None = None) -> Iterator[Connection]:
    """One transaction, or a part of that of `within`. Raises NotSaved, DatabaseAway."""
    if within is not None:
        yield within
        return
    try:
        with database.begin() as connection:
            yield connection
    except DatabaseAway:
        raise
    except OperationalError as error:
        raise NotSaved() from error


def storable(text: str) -> str:
    """A command line may hold bytes that are no text, which neither SQLite nor JSON takes."""
    return text.encode("utf-8", "replace").decode()


class _Damaged(Exception):
    """SQLite found damage."""


def _open(where: DatabaseLocation) -> Engine:
    """Raises DatabaseError, for which see `Form.is_damaged`; _Damaged."""
    database = open_database(where, SCHEMA)
    try:
        found = backend_of(database).faults(database)
    except DatabaseError:
        database.dispose()
        raise
    if found:
        database.dispose()
        raise _Damaged(found)
    return database


def _set_aside(file: Path) -> Path:
    """With what SQLite keeps beside it, as someone may want to save from it what can be."""
    aside = file.with_name(f"{file.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}{file.suffix}")
    for end in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            Path(f"{file}{end}").rename(f"{aside}{end}")
    return aside
