"""The differences between SQLite and Postgres, as two interfaces: where a database is, and how an open one is used.

sqlite.py and postgres.py have one of each; database.py knows which.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Connection, Engine, Table
from sqlalchemy.exc import DatabaseError

LOCK_SECONDS = 30
"""that who writes waits for who writes"""

MOVING = "moving"
"""before the identity of a database that is still being filled from another one"""


class DatabaseLocation(Protocol):
    """The place of a database of the app, existing or new. Every method raises SQLAlchemyError."""

    @property
    def name(self) -> str:
        """As errors tell it."""

    @property
    def within(self) -> str:
        """What it is in, for the reader of an error: a folder, or a server without its password."""

    def exists(self) -> bool:
        """Whether there may be tables."""

    def connect(self) -> Engine:
        """Whatever tables it has."""

    def for_migration(self) -> Engine:
        """To be read and migrated; reading changes nothing."""

    def begin_migration(self, connection: Connection) -> None:
        """All of it or nothing, and beside no other."""

    def wait_until_unused(self, connection: Connection) -> None:
        """Before it is migrated: no other process has it open then. Raises OlderVersionRuns."""

    def claim(self, identity: str, *, moving: bool) -> None:
        """Makes the schema, where it is one, under this identity, or says it of the one that was made so before. Who
        opens it is refused while it is `moving`. Raises SchemaTaken, InvalidSetting.
        """

    def keep(self, version: str | None) -> None:
        """A copy as it is, in whatever way it is kept, by whoever lets nobody write to it. Raises UpgradeNotSaved."""

    def drop_kept(self) -> None:
        """Copies that have had their time. Raises OSError."""


class ChangeLock(Protocol):
    """A lock between processes that change catalogue, vectors and originals."""

    def held(self, *, alone: bool) -> AbstractContextManager[None]:
        """`alone`: beside no other, rather than beside those who change other documents. By one thread of a process at
        a time. Raises DatabaseAway.
        """

    def close(self) -> None:
        """What is held is let go of."""


class DatabaseBackend(Protocol):
    """The operations on an open database that differ by kind."""

    def begin_alone(self, connection: Connection) -> None:
        """A transaction beside which no other of these changes anything."""

    def begin_reading(self, connection: Connection) -> None:
        """A transaction of which all that is read is of one moment, whoever writes meanwhile."""

    def put(self, connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Each in the place of the one with its key, if there is one. All have the same columns."""

    def add(self, connection: Connection, table: Table, row: Mapping[str, Any], sums: Sequence[str]) -> None:
        """Makes the row, or adds its `sums` to those of the one with its key."""

    def folded(self, text: ColumnElement[str]) -> ColumnElement[str]:
        """ASCII's capital letters made small, and no others: a Kelvin sign is no k."""

    def impatient(self, database: Engine) -> Engine:
        """Another to the same, which rather raises OperationalError than waits for who writes."""

    def faults(self, database: Engine) -> str | None:
        """What is wrong with its file, where that can be told. Raises DatabaseError."""

    def is_damaged(self, error: DatabaseError) -> bool:
        """Or the file is no database at all; rather than one that can't be read or written just now."""

    def clear_log(self, database: Engine) -> bool:
        """Whether what was deleted is gone from what is written beside the tables, too; else someone reads it."""

    def give_space_back(self, database: Engine) -> None:
        """What was deleted takes none on the disk any more, as far as that is the app's to do."""

    def own(self, database: Engine) -> Connection | None:
        """For as long as it is open no other process owns it; None where the data folder's lock says so. Raises
        DatabaseInUse.
        """

    def numbers(self, database: Engine, above: int) -> Iterator[int]:
        """Each greater than `above` and than every one before, and given once, to whichever process may write."""

    def go_on_numbering(self, connection: Connection, table: Table) -> None:
        """Numbers that the table gives by itself go on above those of rows that were put with theirs."""

    def identity(self, database: Engine) -> str | None:
        """What tells it from any other; None of a file, which lies in the folder that it belongs to."""


def as_json(value: object) -> str:
    """JSON as it is kept in either."""
    return json.dumps(value, ensure_ascii=False)
