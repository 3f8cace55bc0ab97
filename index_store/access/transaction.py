"""Transactions on people and grants: what they read does not change before they end."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError

from index_store.base.database.database import backend_of
from index_store.base.errors import ChangeFailed, DatabaseAway


@contextmanager
def changing(database: Engine, what: str) -> Iterator[Connection]:
    """One transaction beside which no other changes anything, of this process or of another. `what`: is changed.

    Raises ChangeFailed, DatabaseAway.
    """
    try:
        with database.begin() as connection:
            backend_of(connection).begin_alone(connection)
            yield connection
    except DatabaseAway:
        raise
    except OperationalError as error:
        raise ChangeFailed(name=what) from error


def storable(text: str) -> str:
    """A command line or a header may hold bytes that are no text, which SQLite refuses."""
    return text.encode("utf-8", "replace").decode()
