"""Transactions on people and grants: what they read does not change before they end."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError

from index_store.base.database.database import backend_of, storable
from index_store.base.errors import ChangeFailed, DatabaseAway


@contextmanager
def changing_alone(database: Engine, what: str) -> Iterator[Connection]:
    """One transaction during which no other transaction changes anything, in this process or another. `what`: the name
    of what is changed, for errors.

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


_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200e\u200f\u2060\ufeff"))


def typed(name: str) -> str:
    """A name that somebody has typed or pasted. Pages and mail programs put invisible characters into addresses."""
    return storable(name).translate(_UNSEEN).strip()
