"""Copies checkpoints from a SQLite file to a Postgres schema, or back.

LangGraph's savers store a state differently: as one row, or with each value apart. So one saver reads the state and the
other writes it. The writes of steps have the same form in both and are copied as they are.
"""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from psycopg.rows import dict_row
from sqlalchemy import Connection, MetaData, Table, func, select
from sqlalchemy.exc import DatabaseError

from index_store.base.database.backend import DatabaseLocation
from index_store.base.database.sqlite import SqliteFile
from index_store.transfer.move.errors import CountsDiffer
from index_store.transfer.move.tables import ProgressCallback
from rag.runs.fork.checkpoint_store import NAME, CompressedSerializer

log = logging.getLogger(__name__)

Saver = SqliteSaver | PostgresSaver

WRITES = {"sqlite": "writes", "postgresql": "checkpoint_writes"}
"""the table of the steps' writes, by dialect"""
VALUE = {"sqlite": "value", "postgresql": "blob"}
ALSO = {"sqlite": (), "postgresql": ("checkpoint_blobs",)}
"""tables that only one of the savers has"""


class CheckpointDatabase:
    """See MovableDatabase."""

    name = NAME

    def refuse_newer(self, place: DatabaseLocation) -> None:
        """Does nothing: LangGraph checks its own versions."""

    def make(self, place: DatabaseLocation) -> None:
        with _as_database_errors(), _opened(place) as each:
            each.saver.setup()

    def copy(self, origin: DatabaseLocation, target: DatabaseLocation, on_progress: ProgressCallback) -> None:
        with _as_database_errors(), _opened(origin) as read, _opened(target) as write:
            wanted, there = read.counts(), write.counts()
            for run_id in sorted(there.keys() - wanted.keys()):
                write.delete(run_id)
            on_progress(self.name, 0, len(wanted))
            lost = 0
            for done, (run_id, count) in enumerate(sorted(wanted.items()), 1):
                if there.get(run_id) != count:
                    lost += not _copy(run_id, read, write)
                on_progress(self.name, done, len(wanted))
            if len(write.counts()) + lost != len(wanted):
                raise CountsDiffer(what=self.name, wanted=len(wanted), there=len(write.counts()))


class _Opened:
    def __init__(self, saver: Saver, connection: Connection) -> None:
        self.saver = saver
        self.connection = connection
        self.dialect = connection.dialect.name
        self._tables = MetaData()

    def table(self, name: str) -> Table:
        return Table(name, self._tables, autoload_with=self.connection)

    @property
    def writes(self) -> Table:
        return self.table(WRITES[self.dialect])

    def counts(self) -> dict[str, tuple[int, int]]:
        """By run: the number of checkpoints, and of the steps' writes."""
        of_checkpoints, of_writes = (self._count(each) for each in (self.table("checkpoints"), self.writes))
        return {run_id: (count, of_writes.get(run_id, 0)) for run_id, count in of_checkpoints.items()}

    def _count(self, table: Table) -> dict[str, int]:
        query = select(table.c.thread_id, func.count()).group_by(table.c.thread_id)
        found = {run_id: int(count) for run_id, count in self.connection.execute(query).all()}
        self.connection.commit()
        return found

    def delete(self, run_id: str) -> None:
        for name in ("checkpoints", WRITES[self.dialect], *ALSO[self.dialect]):
            table = self.table(name)
            self.connection.execute(table.delete().where(table.c.thread_id == run_id))
        self.connection.commit()


@contextmanager
def _opened(place: DatabaseLocation) -> Iterator[_Opened]:
    engine = place.for_migration()
    with ExitStack() as opened:
        opened.callback(engine.dispose)
        saved = opened.enter_context(closing(engine.raw_connection()))
        driver: Any = saved.driver_connection
        if isinstance(place, SqliteFile):
            saver: Saver = SqliteSaver(driver, serde=CompressedSerializer())
        else:
            driver.autocommit = True
            driver.row_factory = dict_row
            saver = PostgresSaver(driver, serde=CompressedSerializer())
        with engine.connect() as connection:
            yield _Opened(saver, connection)


def _copy(run_id: str, origin: _Opened, target: _Opened) -> bool:
    """Copies a run. False if that is impossible: a state may contain NUL, which Postgres can't store."""
    target.delete(run_id)
    thread = RunnableConfig(configurable={"thread_id": run_id})
    try:
        # The latest comes first. A run has only a few.
        for each in reversed(list(origin.saver.list(thread))):
            place = each.parent_config or thread
            space = each.config["configurable"]["checkpoint_ns"]
            config = RunnableConfig(configurable={**place["configurable"], "checkpoint_ns": space})
            versions = each.checkpoint["channel_versions"]
            target.saver.put(config, each.checkpoint, each.metadata, versions)
    except psycopg.DataError as error:
        log.warning("Run %s can't be forked any more: %s", run_id, type(error).__name__)
        target.delete(run_id)
        return False
    mine, theirs = origin.writes, target.writes
    rows = origin.connection.execute(select(mine).where(mine.c.thread_id == run_id)).mappings().all()
    origin.connection.commit()
    if rows:
        value, to = VALUE[origin.dialect], VALUE[target.dialect]
        target.connection.execute(
            theirs.insert(), [{to if name == value else name: each for name, each in row.items()} for row in rows]
        )
        target.connection.commit()
    return True


@contextmanager
def _as_database_errors() -> Iterator[None]:
    """Turns driver errors into DatabaseError, as SQLAlchemy does."""
    try:
        yield
    except (psycopg.Error, sqlite3.Error) as error:
        raise DatabaseError(None, None, error) from error
