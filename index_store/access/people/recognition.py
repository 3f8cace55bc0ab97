"""Who signs in or acts: the person whom claims or an id stand for, and whether they have access.

Issuer and subject identify a person: a mail address can be given to another person, or be claimed falsely.
"""

import logging
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, bindparam, select
from sqlalchemy.exc import OperationalError

from index_store.access.people.person import NOT_YET, RoleRules, accounts_of
from index_store.access.principal import Principal
from index_store.access.rights import GranteeKind
from index_store.access.transaction import changing_exclusively
from index_store.base.database.database import backend_of, storable
from index_store.base.errors import AccessWithdrawn, SignInIncomplete
from index_store.base.settings.settings import Settings
from index_store.catalogue.schema import grants, indexes, now, people

NOTED_EVERY = timedelta(minutes=1)
"""the shortest time between two records that a person was seen"""

LONGEST_NAME = 200
"""characters stored of a name or a mail address; a subject is stored whole, or it could name another person"""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SignInClaims:
    """The claims of a sign-in: from the ID token with OIDC, otherwise from the headers of a trusted proxy."""

    issuer: str
    """`iss`, or the name of the proxy's header"""
    subject: str
    """`sub`, or the value of the header"""
    name: str = ""
    mail: str = ""
    mail_is_verified: bool = False
    """according to the issuer; anyone could claim an address that is not verified"""
    groups: frozenset[str] = frozenset()


class Recognition:
    """Thread-safe, also with other processes. Raises ChangeFailed if a change can't be saved."""

    def __init__(self, database: Engine, settings: Settings) -> None:
        self._database = database
        self._roles = RoleRules(settings)
        # A lookup never waits for a long change of the catalogue.
        self._noting = backend_of(database).impatient(database)

    def close(self) -> None:
        self._noting.dispose()

    def signed_in(self, claim: SignInClaims) -> Principal:
        """The person with these claims: someone known, someone who was added under this name, or a new person. Who was
        added under an address that is verified only now is the person who has it.

        Raises SignInIncomplete, AccessWithdrawn. Writes nothing if the claims have not changed, so people can sign in
        while the disk is full.
        """
        if not claim.issuer.strip() or not claim.subject.strip():
            raise SignInIncomplete()
        values = _claimed(claim)
        this = (people.c.issuer == values["issuer"]) & (people.c.subject == values["subject"])
        row = self._row(this)
        if row is None or any(getattr(row, name) != value for name, value in values.items()):
            with changing_exclusively(self._database, values["name"] or values["subject"]) as connection:
                row = connection.execute(select(people).where(this)).one_or_none()
                added = connection.execute(select(people).where(_added_as(claim)).order_by(people.c.created_at)).all()
                if row is None and added:
                    row, *added = added
                if row is not None and added:
                    values |= _taken_over(connection, row, added)
                id_ = self._put(connection, row, values)
                row = connection.execute(select(people).where(people.c.id == id_)).one()
        if row.disabled_at:
            raise AccessWithdrawn()
        self._note_seen(row)
        return self._roles.person(row).principal

    def current(self, person_id: str) -> Principal | None:
        """The principal as it is now; None if the person is unknown or has no access any more.

        Called at each action: it reads one row by its key, 0.1 ms of processor time, and once per NOTED_EVERY writes
        without waiting for a lock.
        """
        row = self._let_in(person_id)
        if row is None:
            return None
        self._note_seen(row)
        return self._roles.person(row).principal

    def known(self, person_id: str) -> Principal | None:
        """Like `current`, for work without the person, such as a job: it does not count as seeing them."""
        row = self._let_in(person_id)
        return self._roles.person(row).principal if row else None

    def _let_in(self, person_id: str) -> Row[Any] | None:
        with self._database.connect() as connection:
            row = connection.execute(_OF_ID, {"id": person_id}).one_or_none()
        return None if row is None or row.disabled_at else row

    def is_disabled(self, person_id: str) -> bool:
        """False for an unknown person, such as one from before people signed in."""
        with self._database.connect() as connection:
            row = connection.execute(_OF_ID, {"id": person_id}).one_or_none()
        return row is not None and row.disabled_at is not None

    def id_of(self, issuer: str, subject: str) -> str | None:
        """The id of the person who has signed in with these; None if nobody has."""
        with self._database.connect() as connection:
            found = connection.execute(_OF_CLAIM, {"issuer": storable(issuer), "subject": storable(subject)}).scalar()
            return None if found is None else str(found)

    def _put(self, connection: Connection, row: Row[Any] | None, values: dict[str, Any]) -> str:
        """Saves the person and returns the id. `row`: the row known so far."""
        if row is None:
            id_ = uuid.uuid4().hex
            connection.execute(people.insert().values(id=id_, created_at=now(), **values))
            return id_
        had_admin = self._roles.has_admin(connection)
        connection.execute(people.update().where(people.c.id == row.id).values(**values))
        if had_admin and not self._roles.has_admin(connection):
            # A person whom the provider no longer calls an admin is none; the command line can make another.
            log.warning(
                "There is no admin any more. Make someone an admin: `python -m index_store people role WHO admin`"
            )
        return str(row.id)

    def _note_seen(self, row: Row[Any]) -> None:
        seen = now()
        # abs: the clock may have been set back since.
        if row.last_seen_at is None or abs(seen - row.last_seen_at) >= NOTED_EVERY:
            # If another process is writing now, or the disk is full, the next action records it.
            with suppress(OperationalError), self._noting.begin() as connection:
                connection.execute(people.update().where(people.c.id == row.id).values(last_seen_at=seen))

    def _row(self, this: ColumnElement[bool]) -> Row[Any] | None:
        with self._database.connect() as connection:
            return connection.execute(select(people).where(this)).one_or_none()


# Made once: to make a query takes as long as to run it, and each action runs it.
_OF_ID = select(people).where(people.c.id == bindparam("id"))
_OF_CLAIM = select(people.c.id).where(
    people.c.issuer == bindparam("issuer"), people.c.subject == bindparam("subject"), people.c.issuer != NOT_YET
)


def _claimed(claim: SignInClaims) -> dict[str, Any]:
    """The columns of a person."""
    return {
        "issuer": storable(claim.issuer),
        "subject": storable(claim.subject),
        "name": storable(claim.name).strip()[:LONGEST_NAME],
        "mail": storable(claim.mail).strip()[:LONGEST_NAME],
        "mail_is_verified": claim.mail_is_verified,
        "groups": sorted({group for each in claim.groups if (group := storable(each).strip())}),
    }


def _taken_over(connection: Connection, row: Row[Any], added: Sequence[Row[Any]]) -> dict[str, Any]:
    """Puts a person in the place of those who were added under names that are theirs, as an address is that was not
    verified at their first sign-in. Returns the columns of the person that change.
    """
    for each in added:
        theirs = (grants.c.kind == GranteeKind.PERSON) & (grants.c.name == each.id)
        held = select(grants.c.index_id).where(grants.c.kind == GranteeKind.PERSON, grants.c.name == row.id)
        connection.execute(grants.update().where(theirs, grants.c.index_id.not_in(held)).values(name=row.id))
        connection.execute(grants.delete().where(theirs))
        connection.execute(indexes.update().where(indexes.c.owner_id == each.id).values(owner_id=row.id))
        connection.execute(people.delete().where(people.c.id == each.id))
    roles, ends = ([getattr(each, name) for each in (row, *added)] for name in ("role", "disabled_at"))
    return {"role": next(filter(None, roles), None), "disabled_at": next(filter(None, ends), None)}


def _added_as(claim: SignInClaims) -> ColumnElement[bool]:
    """Matches a person who was added under one of the names that certainly belong to these claims."""
    accounts = accounts_of(storable(claim.subject), storable(claim.mail).strip(), claim.mail_is_verified)
    return (people.c.issuer == NOT_YET) & people.c.subject.in_(accounts)
