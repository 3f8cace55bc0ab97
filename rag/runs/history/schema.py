"""The tables of the history. Opens its database, or sets a damaged file aside.

A changed table needs a migration, so that older histories change in the same way.
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
"""for SQLite"""

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
"""`kind`: chat, comparison or fork; `origin_run_id`: of a fork, which is deleted with that run; `person_id`: see
rag/runs/history/ownership.py"""

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
    # From the last event, so that a list of runs needs no events.
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
"""`index_id`: the index that was asked, even if it is renamed; None for an index that did not exist, and for old runs.
`person_id`: that of the conversation, so that each order of a person's list has an index"""

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
"""calls of the chat model, one row per step, packed by rag/trace/calls.py; few are read, so not in `events`"""

comparisons = Table(
    "comparisons",
    metadata,
    Column("id", ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True),
    Column("question", Text, nullable=False),
    Column("index_name", String, nullable=False),
    Column("created_at", Float, nullable=False, index=True),
    Column("best_run_id", ForeignKey("runs.id", ondelete="SET NULL"), index=True),
)
"""each has the id of its runs' conversation"""

compared = Table(
    "compared",
    metadata,
    Column("comparison_id", ForeignKey("comparisons.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("run_id", ForeignKey("runs.id", ondelete="SET NULL"), index=True),
)
"""the columns of comparisons; no run if it was deleted later with another conversation"""
suggestions = Table(
    "suggestions",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("question", Text, nullable=False),
)
"""follow-ups suggested after a run"""
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
    Column("through", String),
)
"""links to a conversation or to one run; exactly one of the two ids is set. `through`: of a conversation, the last run
that is shown, see Branch.through; None if it had no runs"""

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
"""Runs in flight, when several apps share a database. `app`: number of the replica; `before`, `begun_at`: as in `Run`;
`came`: its place in the order of arrival; `turn`: the number of its turn, NULL until then."""

tokens = Table(
    "tokens",
    metadata,
    Column("run_id", ForeignKey("live.run_id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("after", Integer, nullable=False),
    Column("event", Text, nullable=False),
)
"""the texts of runs in flight, several tokens in one row; `after`: how many events were saved before"""

removed = Table(
    "removed",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("document_id", String, nullable=False),
    Column("removed_at", Float, nullable=False),
)
"""removed documents, for apps whose runs may still quote them"""

SCHEMA = Schema(metadata, Path(__file__).parent / "migrations")


def place(data_dir: Path, database_url: SecretStr | None) -> DatabaseLocation:
    return place_of(Path(FILE).stem, data_dir, database_url)


def open_history(where: DatabaseLocation) -> tuple[Engine, Path | None]:
    """Opens the history. A damaged file is set aside, and an empty one made; then the path of the damaged one is
    returned too.

    Raises OSError; DatabaseError if it can't be opened.
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
    """One transaction; with `within`, a part of that one. Raises NotSaved, DatabaseAway."""
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


class _Damaged(Exception):
    """SQLite found damage."""


def _open(where: DatabaseLocation) -> Engine:
    """Raises DatabaseError (see `DatabaseBackend.is_damaged`) and _Damaged."""
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
    """Together with SQLite's other files, because someone may want to recover data from it."""
    aside = file.with_name(f"{file.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}{file.suffix}")
    for end in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            Path(f"{file}{end}").rename(f"{aside}{end}")
    return aside
