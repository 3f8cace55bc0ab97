"""People who have signed in or may sign in: their claims, their role, and whether they have access.

Issuer and subject identify a person: a mail address can be given to another person, or be claimed falsely. A role is
computed each time it is read: the role given by hand, otherwise the one that the settings give for the last claims.
So a change of the settings takes effect at the next start, without a new sign-in.
"""

import logging
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel
from sqlalchemy import ColumnElement, Connection, Engine, Row, bindparam, literal, or_, select
from sqlalchemy.exc import OperationalError

from index_store.access.principal import Principal, Role
from index_store.access.rights import GranteeKind
from index_store.access.transaction import changing_alone, typed, typed_address
from index_store.base.database.backend import DatabaseBackend
from index_store.base.database.database import backend_of, storable
from index_store.base.database.sqlite import DAMAGED, UPGRADED, drop_copies
from index_store.base.errors import (
    AccessWithdrawn,
    AmbiguousPerson,
    LastAdmin,
    NoPersonNamed,
    PersonExists,
    SignInIncomplete,
    UnknownPerson,
)
from index_store.base.settings import Settings, parts
from index_store.catalogue.schema import grants, indexes, now, people, sign_ins

NOTED_EVERY = timedelta(minutes=1)
"""the shortest time between two records that a person was seen"""

LONGEST_NAME = 200
"""characters stored of a name or a mail address; a subject is stored whole, or it could name another person"""

NOT_YET = ""
"""issuer of people who have not signed in yet"""

ERASED = "erased"
"""issuer of erased people: no claim matches them"""

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


class Person(BaseModel, frozen=True):
    id: str
    issuer: str
    """empty: has not signed in yet"""
    subject: str
    """before the first sign-in: the subject or the mail address with which they will sign in"""
    name: str
    mail: str
    mail_is_verified: bool
    groups: tuple[str, ...]
    role: Role
    role_is_given: bool
    """whether the role was given by hand and not by claims"""
    disabled_at: datetime | None
    last_seen_at: datetime | None
    """accurate to NOTED_EVERY"""
    created_at: datetime

    @property
    def known_as(self) -> str:
        return self.name or self.mail or self.subject

    @property
    def principal(self) -> Principal:
        accounts = _accounts(self.subject, self.mail, self.mail_is_verified)
        return Principal(self.id, self.name, self.mail, self.role, frozenset(self.groups), accounts)


def names_of(everybody: Sequence[Person], taken: Iterable[str] = ()) -> dict[str, str]:
    """A name for each id that nobody else has: people choose their own names, and two may choose the same.

    `taken`: names that mean somebody else.
    """
    counts = Counter((*taken, *(each.known_as for each in everybody)))
    return {
        each.id: each.known_as if counts[each.known_as] == 1 else f"{each.known_as} · {each.mail or each.subject}"
        for each in everybody
    }


class People:
    """Thread-safe, also with other processes. Raises ChangeFailed if a change can't be saved."""

    def __init__(self, database: Engine, settings: Settings) -> None:
        self._database = database
        self._folder = settings.data_dir
        self._admins = parts(settings.admins)
        self._admin_mails = frozenset(_folded(typed_address(each)) for each in self._admins)
        self._admin_groups = parts(settings.admin_groups)
        self._editor_groups = parts(settings.editor_groups)
        self._default_role = Role(settings.default_role)
        # A lookup never waits for a long change of the catalogue.
        self._noting = backend_of(database).impatient(database)

    def close(self) -> None:
        self._noting.dispose()

    # For people who sign in or act

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
            with changing_alone(self._database, values["name"] or values["subject"]) as connection:
                row = connection.execute(select(people).where(this)).one_or_none()
                added = connection.execute(select(people).where(_added_as(claim)).order_by(people.c.created_at)).all()
                row, added = (added[0], added[1:]) if added and row is None else (row, added)
                if row is not None and added:
                    values |= _taken_over(connection, row, added)
                id_ = self._put(connection, row, values)
                row = connection.execute(select(people).where(people.c.id == id_)).one()
        if row.disabled_at:
            raise AccessWithdrawn()
        self._note_seen(row)
        return self._person(row).principal

    def current(self, person_id: str) -> Principal | None:
        """The principal as it is now; None if the person is unknown or has no access any more.

        Called at each action: it reads one row by its key, 0.1 ms of processor time, and once per NOTED_EVERY writes
        without waiting for a lock.
        """
        row = self._let_in(person_id)
        if row is None:
            return None
        self._note_seen(row)
        return self._person(row).principal

    def known(self, person_id: str) -> Principal | None:
        """Like `current`, for work without the person, such as a job: it does not count as seeing them."""
        row = self._let_in(person_id)
        return self._person(row).principal if row else None

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
        had_admin = self._has_admin(connection)
        connection.execute(people.update().where(people.c.id == row.id).values(**values))
        if had_admin and not self._has_admin(connection):
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

    # For people who manage them

    def all(self) -> list[Person]:
        """By name, then mail; includes people who have not signed in yet, not erased ones."""
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
        """Adds a person before their first sign-in. `name`: their subject or verified mail address; `role`: given by
        hand.

        Raises PersonExists, NoPersonNamed.
        """
        name = typed_address(name)
        if not name:
            raise NoPersonNamed()
        values = {
            "id": uuid.uuid4().hex, "issuer": NOT_YET, "subject": account_name(name), "name": "",
            "mail": name if "@" in name else "", "mail_is_verified": False, "groups": [], "role": role,
            "created_at": now(),
        }  # fmt: skip
        with changing_alone(self._database, name) as connection:
            if connection.execute(select(people.c.id).where(_known_as(backend_of(connection), name))).first():
                raise PersonExists(name=name)
            connection.execute(people.insert().values(**values))
            return self._person(connection.execute(select(people).where(people.c.id == values["id"])).one())

    def set_role(self, person_id: str, role: Role | None) -> Person:
        """Gives a role by hand; None: the role from claims again. Raises UnknownPerson, LastAdmin."""
        return self._change(person_id, role=role)

    def disable(self, person_id: str) -> Person:
        """Takes effect at their next action. Raises UnknownPerson, LastAdmin."""
        return self._change(person_id, disabled_at=now())

    def enable(self, person_id: str) -> Person:
        """They sign in again: a cookie from before, which may be why they were disabled, stays worthless. Raises
        UnknownPerson.
        """
        disabled = select(people.c.id).where(people.c.id == person_id, people.c.disabled_at.is_not(None))
        with self._changing_one(self._known(person_id)) as connection:
            connection.execute(sign_ins.delete().where(sign_ins.c.person_id.in_(disabled)))
            return self._changed(connection, person_id, disabled_at=None)

    def erase(self, person_id: str) -> Person:
        """Erases who they are, in every file of the data folder. Only an id stays, for data that names it; nobody can
        sign in to it. A sign-in with the same claims makes a new person. Raises UnknownPerson, LastAdmin.
        """
        known = self._known(person_id)
        person = self._person(known)
        stub = {
            "issuer": ERASED, "subject": person_id, "name": "", "mail": "", "mail_is_verified": False, "groups": [],
            "role": None, "disabled_at": now(), "last_seen_at": None,
        }  # fmt: skip
        with self._changing_one(known) as connection:
            accounts = person.principal.accounts | self._unverified(connection, person)
            theirs = (grants.c.kind == GranteeKind.ACCOUNT) & grants.c.name.in_(accounts)
            theirs |= (grants.c.kind == GranteeKind.PERSON) & (grants.c.name == person_id)
            connection.execute(people.update().where(people.c.id == person_id).values(**stub))
            connection.execute(sign_ins.delete().where(sign_ins.c.person_id == person_id))
            connection.execute(grants.delete().where(theirs))
            erased = self._person(connection.execute(select(people).where(people.c.id == person_id)).one())
        backend_of(self._database).clear_log(self._database)
        for copies in (UPGRADED, DAMAGED):
            drop_copies(self._folder, copies, days=0)
        return erased

    def _unverified(self, connection: Connection, person: Person) -> set[str]:
        """The person's unverified mail address as an account, if there is one and it is nobody else's account."""
        account = account_name(person.mail)
        if not account or person.mail_is_verified:
            return set()
        others = has_account(backend_of(connection), account) & (people.c.id != person.id)
        return set() if connection.execute(select(people.c.id).where(others)).first() else {account}

    def erased(self) -> list[Person]:
        """People of whom only an id is left."""
        with self._database.connect() as connection:
            return [self._person(row) for row in connection.execute(select(people).where(people.c.issuer == ERASED))]

    def _change(self, person_id: str, **values: Any) -> Person:
        with self._changing_one(self._known(person_id)) as connection:
            return self._changed(connection, person_id, **values)

    def _changed(self, connection: Connection, person_id: str, **values: Any) -> Person:
        this = people.c.id == person_id
        connection.execute(people.update().where(this).values(**values))
        return self._person(connection.execute(select(people).where(this)).one())

    @contextmanager
    def _changing_one(self, known: Row[Any]) -> Iterator[Connection]:
        """If there was an admin before the change, one must be left after it. Raises LastAdmin."""
        name = known.name or known.subject
        with changing_alone(self._database, name) as connection:
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
        """Whether an admin can act. People who have not signed in yet don't count: they may never do so."""
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
    accounts = _accounts(storable(claim.subject), storable(claim.mail).strip(), claim.mail_is_verified)
    return (people.c.issuer == NOT_YET) & people.c.subject.in_(accounts)


def _accounts(subject: str, mail: str, mail_is_verified: bool) -> frozenset[str]:
    return frozenset({subject, account_name(subject)} | ({account_name(mail)} if mail and mail_is_verified else set()))


def account_name(name: str) -> str:
    """The name under which a person is added or given a grant before they sign in. `name`: subject or mail address."""
    name = typed(name)
    return _folded(name) if "@" in name else name


def has_account(backend: DatabaseBackend, account: str) -> ColumnElement[bool]:
    """`account`: as `account_name` returns it."""
    is_mail = people.c.mail_is_verified & (backend.folded(people.c.mail) == backend.folded(literal(account)))
    return or_(people.c.subject == account, is_mail)


def _known_as(backend: DatabaseBackend, name: str) -> ColumnElement[bool]:
    name = typed_address(name)
    is_mail = (people.c.mail != "") & (backend.folded(people.c.mail) == backend.folded(literal(name)))
    return or_(people.c.id == name, people.c.subject == name, is_mail)


def _folded(name: str) -> str:
    """Case does not matter in mail addresses. Only ASCII is folded: otherwise a Kelvin sign would become a k."""
    return name.lower() if name.isascii() else name


def _aware(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment else None
