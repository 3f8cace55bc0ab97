"""Transactions on people and grants: what they read does not change before they end."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError

from index_store.base.database.database import backend_of
from index_store.base.errors import ChangeFailed, DatabaseAway


@contextmanager
def changing_exclusively(database: Engine, what: str) -> Iterator[Connection]:
    """One transaction during which no other transaction changes anything, in this process or another. `what`: the name
    of what is changed, for errors.

    Raises ChangeFailed, DatabaseAway.
    """
    try:
        with database.begin() as connection:
            backend_of(connection).begin_exclusive(connection)
            yield connection
    except DatabaseAway:
        raise
    except OperationalError as error:
        raise ChangeFailed(name=what) from error
