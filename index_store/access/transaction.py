"""Changes of people and grants: of what is read in them, nothing changes before they are done."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError

from index_store.base.errors import ChangeFailed


@contextmanager
def changing(database: Engine, what: str) -> Iterator[Connection]:
    """One transaction beside which no other changes anything, of this process or of another. `what`: is changed.

    Raises ChangeFailed.
    """
    try:
        with database.begin() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection
    except OperationalError as error:
        raise ChangeFailed(name=what) from error


def storable(text: str) -> str:
    """A command line or a header may hold bytes that are no text, which SQLite refuses."""
    return text.encode("utf-8", "replace").decode()
