"""People who have signed in or may: their claims, their role, and whether they have access.

A person is who an issuer says by a subject; a mail address can be given to someone else, or claimed of another. A role
is worked out whenever it is read: the one given by hand, else what the settings make of the last claim. So a change of
the settings counts from the next start on, and not only once each has signed in again.
"""

import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel
from sqlalchemy import ColumnElement, Connection, Engine, Row, bindparam, literal, or_, select
from sqlalchemy.exc import OperationalError

from index_store.access.principal import Principal, Role
from index_store.access.rights import GranteeKind
from index_store.access.transaction import changing, storable
from index_store.base.database.backend import DatabaseBackend
from index_store.base.database.database import backend_of
from index_store.base.database.sqlite import DAMAGED, UPGRADED, drop_copies
from index_store.base.errors import (
    AccessWithdrawn,
    AmbiguousPerson,
    LastAdmin,
    PersonExists,
    SignInIncomplete,
    UnknownPerson,
)
from index_store.base.settings import Settings, parts
from index_store.catalogue.schema import grants, now, people, sign_ins

NOTED_EVERY = timedelta(minutes=1)
"""between two notes that someone was seen"""

LONGEST_NAME = 200
"""characters that are kept of a name or a mail address; a subject is kept whole, or it would name someone else"""

NOT_YET = ""
"""issuer of those who have not signed in"""

ERASED = "erased"
"""issuer of those who were: no claim is theirs"""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SignInClaims:
    """The claims of a sign-in: from the ID token with OIDC, else from the headers of a trusted proxy."""

    issuer: str
    """`iss`, or the name of the proxy's header"""
    subject: str
    """`sub`, or what the header says"""
    name: str = ""
    mail: str = ""
    mail_is_verified: bool = False
    """as the issuer says; of any other address someone may have said that it is theirs"""
    groups: frozenset[str] = frozenset()


class Person(BaseModel, frozen=True):
    id: str
    issuer: str
    """empty: has not signed in yet"""
    subject: str
    """of those who have not: the subject or the mail address under which they will"""
    name: str
    mail: str
    mail_is_verified: bool
    groups: tuple[str, ...]
    role: Role
    role_is_given: bool
    """by hand, and not by what was claimed"""
    disabled_at: datetime | None
    last_seen_at: datetime | None
    """within NOTED_EVERY"""
    created_at: datetime

    @property
    def principal(self) -> Principal:
        accounts = _accounts(self.subject, self.mail, self.mail_is_verified)
        return Principal(self.id, self.name, self.mail, self.role, frozenset(self.groups), accounts)


class People:
    """Safe from any thread, and beside another process. What it can't save raises ChangeFailed."""

    def __init__(self, database: Engine, settings: Settings) -> None:
        self._database = database
        self._folder = settings.data_dir
        self._admins = parts(settings.admins)
        self._admin_mails = frozenset(map(_folded, self._admins))
        self._admin_groups = parts(settings.admin_groups)
        self._editor_groups = parts(settings.editor_groups)
        self._default_role = Role(settings.default_role)
        # Whoever is only looked up never waits until a long change of the catalogue is done.
        self._noting = backend_of(database).impatient(database)

    def close(self) -> None:
        self._noting.dispose()

    # Whoever comes

    def signed_in(self, claim: SignInClaims) -> Principal:
        """Who that is from now on: someone known, who was added under this name, or new.

        Raises SignInIncomplete, AccessWithdrawn. Nothing is written of someone of whom nothing new is claimed, so they
        come in where the disk is full.
        """
        if not claim.issuer.strip() or not claim.subject.strip():
            raise SignInIncomplete()
        values = _claimed(claim)
        this = (people.c.issuer == values["issuer"]) & (people.c.subject == values["subject"])
        row = self._row(this)
        if row is None or any(getattr(row, name) != value for name, value in values.items()):
            with changing(self._database, values["name"] or values["subject"]) as connection:
                row = connection.execute(select(people).where(this)).one_or_none()
                row = row or connection.execute(select(people).where(_added_as(claim))).first()
                id_ = self._put(connection, row, values)
                row = connection.execute(select(people).where(people.c.id == id_)).one()
        if row.disabled_at:
            raise AccessWithdrawn()
        self._note_seen(row)
        return self._person(row).principal

    def current(self, person_id: str) -> Principal | None:
        """As they are now; None of someone who is unknown, or no longer to come in.

        To be asked on each action: one row by its key, 0.1 ms of the processor, and once in NOTED_EVERY a write that
        waits for nobody.
        """
        row = self._let_in(person_id)
        if row is None:
            return None
        self._note_seen(row)
        return self._person(row).principal

    def known(self, person_id: str) -> Principal | None:
        """The same for what goes on without them, such as a job: they are not seen by it."""
        row = self._let_in(person_id)
        return self._person(row).principal if row else None

    def _let_in(self, person_id: str) -> Row[Any] | None:
        with self._database.connect() as connection:
            row = connection.execute(_OF_ID, {"id": person_id}).one_or_none()
        return None if row is None or row.disabled_at else row

    def is_disabled(self, person_id: str) -> bool:
        """Not of someone who is unknown, as before people signed in."""
        with self._database.connect() as connection:
            row = connection.execute(_OF_ID, {"id": person_id}).one_or_none()
        return row is not None and row.disabled_at is not None

    def id_of(self, issuer: str, subject: str) -> str | None:
        """Of someone who has signed in as that."""
        with self._database.connect() as connection:
            found = connection.execute(_OF_CLAIM, {"issuer": storable(issuer), "subject": storable(subject)}).scalar()
            return None if found is None else str(found)

    def _put(self, connection: Connection, row: Row[Any] | None, values: dict[str, Any]) -> str:
        """The id of the person. `row`: as known so far."""
        if row is None:
            id_ = uuid.uuid4().hex
            connection.execute(people.insert().values(id=id_, created_at=now(), **values))
            return id_
        had_admin = self._has_admin(connection)
        connection.execute(people.update().where(people.c.id == row.id).values(**values))
        if had_admin and not self._has_admin(connection):
            # Whom the provider no longer calls an admin is none, and the command line makes another.
            log.warning(
                "There is no admin any more. Make someone an admin: `python -m index_store people role WHO admin`"
            )
        return str(row.id)

    def _note_seen(self, row: Row[Any]) -> None:
        seen = now()
        if row.last_seen_at is None or seen - row.last_seen_at >= NOTED_EVERY:
            # Noted the next time, where someone else writes just now or the disk is full.
            with suppress(OperationalError), self._noting.begin() as connection:
                connection.execute(people.update().where(people.c.id == row.id).values(last_seen_at=seen))

    # For those who manage them

    def all(self) -> list[Person]:
        """By name, then mail; those who have not signed in too, and not those who were erased."""
        with self._database.connect() as connection:
            rows = connection.execute(select(people).where(people.c.issuer != ERASED))
            found = [self._person(row) for row in rows]
        return sorted(found, key=lambda person: (person.name, person.mail, person.id))

    def find(self, name: str) -> Person:
        """By id, mail address or subject. Raises UnknownPerson, AmbiguousPerson."""
        with self._database.connect() as connection:
            rows = connection.execute(select(people).where(_known_as(backend_of(connection), name))).all()
        if not rows:
            raise UnknownPerson(name=name)
        if len(rows) > 1:
            raise AmbiguousPerson(name=name)
        return self._person(rows[0])

    def add(self, name: str, role: Role | None = None) -> Person:
        """Someone who is still to sign in. `name`: their subject, or mail address as verified; `role`: by hand.

        Raises UnknownPerson of an empty name, PersonExists.
        """
        name = storable(name).strip()
        if not name:
            raise UnknownPerson(name=name)
        values = {
            "id": uuid.uuid4().hex, "issuer": NOT_YET, "subject": account_name(name), "name": "",
            "mail": name if "@" in name else "", "mail_is_verified": False, "groups": [], "role": role,
            "created_at": now(),
        }  # fmt: skip
        with changing(self._database, name) as connection:
            if connection.execute(select(people.c.id).where(_known_as(backend_of(connection), name))).first():
                raise PersonExists(name=name)
            connection.execute(people.insert().values(**values))
            return self._person(connection.execute(select(people).where(people.c.id == values["id"])).one())

    def set_role(self, person_id: str, role: Role | None) -> Person:
        """By hand; None: as claimed again. Raises UnknownPerson, LastAdmin."""
        return self._change(person_id, role=role)

    def disable(self, person_id: str) -> Person:
        """From their next action on they are out. Raises UnknownPerson, LastAdmin."""
        return self._change(person_id, disabled_at=now())

    def enable(self, person_id: str) -> Person:
        """Raises UnknownPerson."""
        return self._change(person_id, disabled_at=None)

    def erase(self, person_id: str) -> Person:
        """Who they are, in every file of the data folder; what is left is an id to which nobody comes in, for what
        names it elsewhere. Whoever signs in by the same claim is new. Raises UnknownPerson, LastAdmin.
        """
        known = self._known(person_id)
        person = self._person(known)
        stub = {
            "issuer": ERASED, "subject": person_id, "name": "", "mail": "", "mail_is_verified": False, "groups": [],
            "role": None, "disabled_at": now(), "last_seen_at": None,
        }  # fmt: skip
        theirs = (grants.c.kind == GranteeKind.ACCOUNT) & grants.c.name.in_(person.principal.accounts)
        theirs |= (grants.c.kind == GranteeKind.PERSON) & (grants.c.name == person_id)
        with self._changing_one(known) as connection:
            connection.execute(people.update().where(people.c.id == person_id).values(**stub))
            connection.execute(sign_ins.delete().where(sign_ins.c.person_id == person_id))
            connection.execute(grants.delete().where(theirs))
            erased = self._person(connection.execute(select(people).where(people.c.id == person_id)).one())
        backend_of(self._database).clear_log(self._database)
        for copies in (UPGRADED, DAMAGED):
            drop_copies(self._folder, copies, days=0)
        return erased

    def erased(self) -> list[Person]:
        """Those of whom nothing is left here but an id."""
        with self._database.connect() as connection:
            return [self._person(row) for row in connection.execute(select(people).where(people.c.issuer == ERASED))]

    def _change(self, person_id: str, **values: Any) -> Person:
        this = people.c.id == person_id
        with self._changing_one(self._known(person_id)) as connection:
            connection.execute(people.update().where(this).values(**values))
            return self._person(connection.execute(select(people).where(this)).one())

    @contextmanager
    def _changing_one(self, known: Row[Any]) -> Iterator[Connection]:
        """Whatever is changed, an admin stays where there was one. Raises LastAdmin."""
        name = known.name or known.subject
        with changing(self._database, name) as connection:
            had_admin = self._has_admin(connection)
            yield connection
            if had_admin and not self._has_admin(connection):
                raise LastAdmin(name=name)

    def _known(self, person_id: str) -> Row[Any]:
        """Raises UnknownPerson."""
        row = self._row((people.c.id == person_id) & (people.c.issuer != ERASED))
        if row is None:
            raise UnknownPerson(name=person_id)
        return row

    def _row(self, this: ColumnElement[bool]) -> Row[Any] | None:
        with self._database.connect() as connection:
            return connection.execute(select(people).where(this)).one_or_none()

    def _has_admin(self, connection: Connection) -> bool:
        """Who can act: someone who is still to sign in may never do so."""
        here = select(people).where(people.c.disabled_at.is_(None), people.c.issuer != NOT_YET)
        return any(self._role(row) is Role.ADMIN for row in connection.execute(here))

    def _role(self, row: Row[Any]) -> Role:
        if row.role:
            return Role(row.role)
        if row.subject in self._admins or (row.mail_is_verified and _folded(row.mail) in self._admin_mails):
            return Role.ADMIN
        if self._admin_groups & set(row.groups):
            return Role.ADMIN
        return Role.EDITOR if self._editor_groups & set(row.groups) else self._default_role

    def _person(self, row: Row[Any]) -> Person:
        return Person(
            id=row.id, issuer=row.issuer, subject=row.subject, name=row.name, mail=row.mail,
            mail_is_verified=row.mail_is_verified, groups=tuple(row.groups), role=self._role(row),
            role_is_given=row.role is not None, disabled_at=_aware(row.disabled_at),
            last_seen_at=_aware(row.last_seen_at), created_at=row.created_at.replace(tzinfo=UTC),
        )  # fmt: skip


# Made once: making it takes as long as running it, and each action does.
_OF_ID = select(people).where(people.c.id == bindparam("id"))
_OF_CLAIM = select(people.c.id).where(
    people.c.issuer == bindparam("issuer"), people.c.subject == bindparam("subject"), people.c.issuer != NOT_YET
)


def _claimed(claim: SignInClaims) -> dict[str, Any]:
    """Columns of a person."""
    return {
        "issuer": storable(claim.issuer),
        "subject": storable(claim.subject),
        "name": storable(claim.name).strip()[:LONGEST_NAME],
        "mail": storable(claim.mail).strip()[:LONGEST_NAME],
        "mail_is_verified": claim.mail_is_verified,
        "groups": sorted({group for each in claim.groups if (group := storable(each).strip())}),
    }


def _added_as(claim: SignInClaims) -> ColumnElement[bool]:
    """Under any of the names that are this person's for sure."""
    accounts = _accounts(storable(claim.subject), storable(claim.mail).strip(), claim.mail_is_verified)
    return (people.c.issuer == NOT_YET) & people.c.subject.in_(accounts)


def _accounts(subject: str, mail: str, mail_is_verified: bool) -> frozenset[str]:
    return frozenset({subject, account_name(subject)} | ({account_name(mail)} if mail and mail_is_verified else set()))


def account_name(name: str) -> str:
    """As someone is added, or granted something, before they have signed in. `name`: their subject or mail address."""
    name = storable(name).strip()
    return _folded(name) if "@" in name else name


def has_account(backend: DatabaseBackend, account: str) -> ColumnElement[bool]:
    """`account`: as `account_name` writes it."""
    is_mail = people.c.mail_is_verified & (backend.folded(people.c.mail) == backend.folded(literal(account)))
    return or_(people.c.subject == account, is_mail)


def _known_as(backend: DatabaseBackend, name: str) -> ColumnElement[bool]:
    name = storable(name).strip()
    is_mail = (people.c.mail != "") & (backend.folded(people.c.mail) == backend.folded(literal(name)))
    return or_(people.c.id == name, people.c.subject == name, is_mail)


def _folded(name: str) -> str:
    """Mail addresses are one in small and capital letters. Only of ASCII: a Kelvin sign would become a k."""
    return name.lower() if name.isascii() else name


def _aware(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment else None
