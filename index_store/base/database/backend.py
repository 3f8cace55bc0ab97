"""Interfaces for the differences between SQLite and Postgres: a database's location, and an open database. A third is
the lock between processes, which only Postgres has.

sqlite.py and postgres.py implement the first two; database.py chooses one.
"""

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Connection, Engine, Table
from sqlalchemy.exc import DatabaseError

LOCK_SECONDS = 30
"""that one writer waits for another"""

MOVING = "moving"
"""stands before the identity of a database that is still being filled from another one"""


class DatabaseLocation(Protocol):
    """The place of a database of the app, existing or new. Every method raises SQLAlchemyError."""

    @property
    def name(self) -> str:
        """The name in error texts."""

    @property
    def within(self) -> str:
        """What contains it, for error texts: a folder, or a server without its password."""

    def exists(self) -> bool:
        """Whether it may have tables."""

    def connect(self) -> Engine:
        """Opens it, whatever tables it has."""

    def for_migration(self) -> Engine:
        """Opens it for reading and migration; reading changes nothing."""

    def begin_migration(self, connection: Connection) -> None:
        """Starts a transaction that locks out other migrations."""

    def wait_until_unused(self, connection: Connection) -> None:
        """Called before a migration: waits until no other process has it open. Raises OlderVersionRuns."""

    def claim(self, identity: str, *, moving: bool) -> None:
        """Creates a schema with this identity, or sets the identity of one that has it already. While it is `moving`,
        nobody else can open it. Raises SchemaTaken, InvalidSetting.
        """

    def keep(self, version: str | None) -> None:
        """Saves a copy as it is. Nobody else may write at this time. Raises UpgradeNotSaved."""

    def drop_kept(self) -> None:
        """Deletes old copies. Raises OSError."""


class ChangeLock(Protocol):
    """A lock between processes that change catalogue, vectors and originals."""

    def held(self, *, exclusive: bool) -> AbstractContextManager[None]:
        """`exclusive`: locks out all other changes; otherwise only those with `exclusive`. One thread of a process at a
        time. Raises DatabaseAway.
        """

    def close(self) -> None:
        """Releases the lock."""


def normalized(text: str) -> str:
    """As texts are compared in searches; `lower`, because Postgres has no casefold."""
    return unicodedata.normalize("NFKC", text).lower()


class DatabaseBackend(Protocol):
    """The operations on an open database that differ by kind."""

    def begin_exclusive(self, connection: Connection) -> None:
        """Starts a transaction; until it ends, no other of these transactions changes anything."""

    def begin_reading(self, connection: Connection) -> None:
        """Starts a transaction that reads the state of one moment, whatever others write."""

    def put(self, connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Adds rows; each replaces the row with its key, if there is one. All have the same columns."""

    def ignore_references(self, connection: Connection) -> None:
        """Call it first on a connection that puts rows to which rows of other tables refer."""

    def stored(self, text: str) -> str:
        """The text as the database will return it."""

    def add(self, connection: Connection, table: Table, row: Mapping[str, Any], sums: Sequence[str]) -> None:
        """Adds the row. If its key exists, adds the values of the columns `sums` to that row."""

    def folded(self, text: ColumnElement[str]) -> ColumnElement[str]:
        """Folds only ASCII capital letters: a Kelvin sign does not become a k."""

    def holds(self, text: ColumnElement[str], word: str) -> ColumnElement[bool]:
        """Whether `text` contains `word`, whatever the case and width of their letters."""

    def impatient(self, database: Engine) -> Engine:
        """Another engine for the same database, which raises OperationalError and does not wait for a writer."""

    def faults(self, database: Engine) -> str | None:
        """What is wrong with its file, if this can be found out. Raises DatabaseError."""

    def is_damaged(self, error: DatabaseError) -> bool:
        """Whether it is damaged or no database at all; False if it just can't be read or written now."""

    def clear_log(self, database: Engine) -> bool:
        """Removes deleted data from the log next to the tables, too. False if another process still reads it."""

    def give_space_back(self, database: Engine) -> None:
        """Frees the disk space of deleted data, if the app can do this."""

    def own(self, database: Engine) -> Connection | None:
        """While the returned connection is open, no other process owns the database. None if the lock of the data
        folder does this. Raises DatabaseInUse.
        """

    def numbers(self, database: Engine, above: int) -> Iterator[int]:
        """Numbers above `above`, each greater than all before and given only once, across all processes."""

    def go_on_numbering(self, connection: Connection, table: Table) -> None:
        """Call it after rows were put with their own numbers: new numbers of the table then come after these."""

    def identity(self, database: Engine) -> str | None:
        """An id that no other database has; None for a file, which belongs to its folder."""


def as_json(value: object) -> str:
    """JSON as both store it."""
    return json.dumps(value, ensure_ascii=False)
