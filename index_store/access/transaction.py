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


_WIDE = {sign + 0xFEE0: sign for sign in range(ord("!"), ord("~") + 1)}


def typed_address(name: str) -> str:
    """The mail address in a name that somebody has typed or pasted: in full-width signs, as Japanese keyboards write
    them, or behind a name, as mail programs copy it: Anna <anna@example.com>. Other names are as `typed` returns them.

    Not for claims of a sign-in: who is called ａｎｎａ＠example.com there is not anna@example.com.
    """
    name = typed(name)
    address = name.translate(_WIDE)
    if address.endswith(">"):
        address = address[address.rfind("<") + 1 : -1].strip()
    return address if "@" in address and address.isascii() else name
