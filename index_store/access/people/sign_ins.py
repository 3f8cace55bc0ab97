"""Signed-in browsers: a cookie is valid as long as its sign-in is stored here.

So a copied cookie is worth nothing after its owner has signed out. Of the cookie, only a hash is stored: with the data
folder or a backup of it, nobody can sign in.
"""

from datetime import timedelta
from hashlib import sha256

from sqlalchemy import Engine, bindparam, select

from index_store.access.transaction import changing_exclusively
from index_store.base.database.database import backend_of
from index_store.catalogue.schema import now, sign_ins


class SignIns:
    """Thread-safe, also with other processes. `shown`: the secret in the browser's cookie, which nobody can guess."""

    def __init__(self, database: Engine) -> None:
        self._database = database

    def begin(self, person_id: str, shown: bytes, lasting: timedelta) -> None:
        """Raises ChangeFailed."""
        row = {"key": _key(shown), "person_id": person_id, "ends_at": now() + lasting}
        with changing_exclusively(self._database, person_id) as connection:
            connection.execute(sign_ins.delete().where(sign_ins.c.ends_at < now()))
            backend_of(connection).put(connection, sign_ins, [row])

    def end(self, shown: bytes) -> None:
        """No error if the sign-in has ended or never was. Raises ChangeFailed."""
        with changing_exclusively(self._database, "sign-in") as connection:
            connection.execute(sign_ins.delete().where(sign_ins.c.key == _key(shown)))

    def person_id(self, shown: bytes) -> str | None:
        """The id of the person; reads one row by its key, because each action calls it."""
        with self._database.connect() as connection:
            found = connection.execute(_WHOSE, {"key": _key(shown), "now": now()}).scalar()
            return None if found is None else str(found)


_WHOSE = select(sign_ins.c.person_id).where(
    sign_ins.c.key == bindparam("key"), sign_ins.c.ends_at > bindparam("now", type_=sign_ins.c.ends_at.type)
)


def _key(shown: bytes) -> str:
    return sha256(shown).hexdigest()
