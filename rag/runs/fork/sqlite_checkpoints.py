"""Checkpoints in a SQLite file."""

import logging
import sqlite3
from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

import aiosqlite
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from sqlalchemy import Column, Engine, Integer, LargeBinary, MetaData, String, Table, literal, select
from sqlalchemy.exc import DatabaseError

from index_store.base.batches import batches
from index_store.base.database.database import VARIABLES
from index_store.base.database.sqlite import SQLITE, SqliteFile
from rag.runs.fork.checkpoint_store import NAME, CompressedSerializer, LenientSaver

log = logging.getLogger(__name__)

FILE = f"{NAME}.sqlite3"


class SqliteCheckpoints:
    """See CheckpointStore."""

    def __init__(self, saver: AsyncSqliteSaver, database: Engine) -> None:
        self.saver = saver
        self._database = database

    @classmethod
    async def open(cls, data_dir: Path) -> "SqliteCheckpoints | None":
        """Replaces a damaged file by an empty one. None, with a line in the log, if there can be no file now, as on a
        full disk.
        """
        file = data_dir / FILE
        try:
            database = _open(file)
        except DatabaseError as error:
            _log_unopened(error)
            return None
        connection = aiosqlite.connect(file, timeout=30)
        connection._thread.daemon = True  # noqa: SLF001 - else a process that does not close it never ends
        try:
            await connection
        except sqlite3.Error as error:
            database.dispose()
            _log_unopened(error)
            return None
        try:
            # Deleted data is overwritten, as in the history.
            await connection.execute("PRAGMA secure_delete = ON")
            await connection.execute("PRAGMA synchronous = NORMAL")
            saver = _Saver(connection, serde=CompressedSerializer())
            await saver.setup()
        except sqlite3.Error as error:
            log.warning("Runs can't be forked, because %s can't be written: %s", FILE, error)
            await connection.close()
            database.dispose()
            return None
        return cls(saver, database)

    async def close(self) -> None:
        await self.saver.conn.close()
        self._database.dispose()

    def arriving(self) -> AbstractContextManager[None]:
        return nullcontext()  # no other process uses the file

    def copy(self, run_id: str, to_run_id: str, upto: str) -> None:
        with self._database.begin() as connection:
            for table, is_kept in (
                (_checkpoints, _checkpoints.c.checkpoint_id <= upto),
                (_writes, _writes.c.checkpoint_id < upto),
            ):
                columns = [column for column in table.c if column.name != "thread_id"]
                copied = select(literal(to_run_id), *columns).where(table.c.thread_id == run_id, is_kept)
                names = ["thread_id", *(column.name for column in columns)]
                connection.execute(table.insert().from_select(names, copied))

    def run_ids(self) -> set[str]:
        with self._database.connect() as connection:
            return set(connection.execute(select(_checkpoints.c.thread_id).distinct()).scalars())

    def delete(self, run_ids: Collection[str]) -> bool:
        with self._database.begin() as connection:
            for some in batches(sorted(run_ids), VARIABLES):
                for table in (_checkpoints, _writes):
                    connection.execute(table.delete().where(table.c.thread_id.in_(some)))
        return SQLITE.clear_log(self._database)


def discard(data_dir: Path) -> None:
    """Deletes all checkpoints. Raises OSError."""
    for end in ("", "-wal", "-shm"):
        (data_dir / f"{FILE}{end}").unlink(missing_ok=True)


def _log_unopened(error: Exception) -> None:
    log.warning("Runs can't be forked, because %s can't be opened: %s", FILE, error)


def _open(file: Path) -> Engine:
    """Raises DatabaseError."""
    database = SqliteFile(file).connect()
    try:
        found = SQLITE.faults(database)
    except DatabaseError as error:
        database.dispose()
        if not SQLITE.is_damaged(error):
            raise
        found = str(error.orig)
    if not found:
        return database
    database.dispose()
    log.warning("%s is damaged. A new, empty one is used: %s", FILE, found)
    with suppress(OSError):
        discard(file.parent)
    return SqliteFile(file).connect()


class _Saver(LenientSaver, AsyncSqliteSaver):
    faults = sqlite3.Error

    async def go_on_without(self, run_id: str, error: Exception) -> None:
        log.warning("Run %s can't be forked: %s", run_id, error)
        with suppress(sqlite3.Error):
            await self.conn.rollback()


_tables = MetaData()
"""as AsyncSqliteSaver makes them"""

_checkpoints = Table(
    "checkpoints",
    _tables,
    Column("thread_id", String, primary_key=True),
    Column("checkpoint_ns", String, primary_key=True),
    Column("checkpoint_id", String, primary_key=True),
    Column("parent_checkpoint_id", String),
    Column("type", String),
    Column("checkpoint", LargeBinary),
    Column("metadata", LargeBinary),
)

_writes = Table(
    "writes",
    _tables,
    Column("thread_id", String, primary_key=True),
    Column("checkpoint_ns", String, primary_key=True),
    Column("checkpoint_id", String, primary_key=True),
    Column("task_id", String, primary_key=True),
    Column("task_path", String),
    Column("idx", Integer, primary_key=True),
    Column("channel", String),
    Column("type", String),
    Column("value", LargeBinary),
)
