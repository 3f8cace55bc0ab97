"""Databases as SQLite files: several threads read while one writes."""

# ruff: noqa: PTH100 - a folder is shown as it was given: Path.resolve() would follow links

import itertools
import logging
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import URL, ColumnElement, Connection, Engine, NullPool, Table, create_engine, event, func
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DatabaseError, OperationalError

from index_store.base.database.backend import LOCK_SECONDS, as_json, normalized
from index_store.base.database.copies import KEPT_DAYS, drop_copies
from index_store.base.database.pools import close_at_its_end
from index_store.base.errors import UpgradeNotSaved

log = logging.getLogger(__name__)

_PRAGMAS = (
    "synchronous = NORMAL",  # a power cut can lose the last moment, never the file
    "foreign_keys = ON",
    "secure_delete = ON",  # no free page holds data of a removed document
)

PAUSE_SECONDS = 0.01
"""seconds between tries of what SQLite refuses at once while another connection does the same"""


class SqliteFile:
    """Its folder must exist."""

    def __init__(self, file: Path) -> None:
        self.file = file

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def within(self) -> str:
        return os.path.abspath(self.file.parent)

    @property
    def _url(self) -> URL:
        """Not as a text, in which ? and % have a meaning."""
        return URL.create("sqlite", database=str(self.file))

    def exists(self) -> bool:
        return self.file.exists()

    def connect(self, *, wait: int = LOCK_SECONDS) -> Engine:
        # Hidden: people's questions and documents' texts must not get into a log.
        engine = create_engine(self._url, json_serializer=as_json, hide_parameters=True)

        def set_up(connection: sqlite3.Connection, _record: object) -> None:
            connection.create_function("normalized", 1, normalized, deterministic=True)
            with closing(connection.cursor()) as cursor:
                cursor.execute(f"PRAGMA busy_timeout = {wait * 1000}")
                _write_ahead(cursor, wait)
                for pragma in _PRAGMAS:
                    cursor.execute(f"PRAGMA {pragma}")

        event.listen(engine, "connect", set_up)
        close_at_its_end(engine)
        return engine

    def for_migration(self) -> Engine:
        """Without foreign keys: a migration that creates a table again would delete the rows that refer to it. Does not
        change the file to WAL, because it may have to stay as it is.
        """
        return create_engine(self._url, poolclass=NullPool, hide_parameters=True)

    def begin_migration(self, connection: Connection) -> None:
        """Explicit: Python's sqlite3 begins no transaction for a CREATE TABLE."""
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    def wait_until_unused(self, connection: Connection) -> None:
        """Does nothing: only one process has a data folder."""

    def claim(self, identity: str, *, moving: bool) -> None:
        """Does nothing: a file belongs to its folder."""

    def keep(self, version: str | None) -> None:
        """Next to the file. Raises UpgradeNotSaved, DatabaseError."""
        file = self.file
        kept = file.with_name(f"{file.stem}.version-{version or '0000'}{file.suffix}")
        part = kept.with_name(f"{kept.name}.part")
        try:
            part.unlink(missing_ok=True)
            part.touch(mode=0o600)
            with closing(sqlite3.connect(file)) as database, closing(sqlite3.connect(part)) as copy:
                database.backup(copy)
            part.replace(kept)
        except (OSError, sqlite3.Error) as error:
            part.unlink(missing_ok=True)
            damage = DatabaseError(None, None, error)
            if SQLITE.is_damaged(damage):
                raise damage from error
            megabytes = file.stat().st_size // 1_000_000 + 1
            raise UpgradeNotSaved(file=self.name, folder=self.within, reason=error, megabytes=megabytes) from error
        log.warning(
            "%s is updated to the current version. A copy from before is kept for %d days as %s", file, KEPT_DAYS, kept
        )

    def drop_kept(self) -> None:
        drop_copies(self.file.parent, f"{self.file.stem}.version-*{self.file.suffix}", days=KEPT_DAYS)


def _write_ahead(cursor: sqlite3.Cursor, wait: int) -> None:
    """Readers continue while one thread writes. SQLite waits for readers and writers, but fails at once while another
    connection to a new file asks for the same.
    """
    until = time.monotonic() + wait
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                raise
            time.sleep(PAUSE_SECONDS)
        else:
            return


class _Sqlite:
    """See DatabaseBackend."""

    def begin_exclusive(self, connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    def begin_reading(self, connection: Connection) -> None:
        """Explicit: Python's sqlite3 begins a transaction when rows are changed, not at CREATE, DROP or SELECT."""
        driver = connection.connection.dbapi_connection
        if isinstance(driver, sqlite3.Connection) and not driver.in_transaction:
            connection.exec_driver_sql("BEGIN")

    def put(self, connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        connection.execute(table.insert().prefix_with("OR REPLACE"), rows)

    def ignore_references(self, connection: Connection) -> None:
        """With foreign keys, replacing a row would also delete the rows that refer to it."""
        connection.exec_driver_sql("PRAGMA foreign_keys = OFF")

    def stored(self, text: str) -> str:
        return text

    def add(self, connection: Connection, table: Table, row: Mapping[str, Any], sums: Sequence[str]) -> None:
        made = insert(table).values(**row)
        more = {name: table.c[name] + made.excluded[name] for name in sums}
        connection.execute(made.on_conflict_do_update(index_elements=table.primary_key.columns, set_=more))

    def folded(self, text: ColumnElement[str]) -> ColumnElement[str]:
        return func.lower(text)  # SQLite folds only ASCII

    def holds(self, text: ColumnElement[str], word: str) -> ColumnElement[bool]:
        return func.normalized(text).contains(normalized(word), autoescape=True)

    def impatient(self, database: Engine) -> Engine:
        return SqliteFile(Path(str(database.url.database))).connect(wait=0)

    def faults(self, database: Engine) -> str | None:
        with database.connect() as connection:
            found = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar())  # 0.1 s for 100 MB
        return None if found == "ok" else found

    def is_damaged(self, error: DatabaseError) -> bool:
        code = getattr(error.orig, "sqlite_errorcode", 0)
        return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)  # the other bits say where

    def clear_log(self, database: Engine) -> bool:
        """Clears the log that SQLite has next to the file."""
        until = time.monotonic() + LOCK_SECONDS
        with database.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            # SQLite waits for readers and writers, but fails at once while another process clears the log.
            while connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar():
                if time.monotonic() > until:
                    return False
                time.sleep(PAUSE_SECONDS)
        return True

    def give_space_back(self, database: Engine) -> None:
        """As long as there is no room to write the file anew, it keeps its size."""
        try:
            with database.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("VACUUM")
        except OperationalError as error:
            log.warning("%s could not be compacted: %s", database.url.database, error)

    def own(self, database: Engine) -> Connection | None:
        return None

    def numbers(self, database: Engine, above: int) -> Iterator[int]:
        return itertools.count(above + 1)

    def go_on_numbering(self, connection: Connection, table: Table) -> None:
        """Does nothing: SQLite does this itself."""

    def identity(self, database: Engine) -> str | None:
        return None


SQLITE = _Sqlite()
