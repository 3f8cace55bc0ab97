"""All people who have signed in or may sign in, for those who manage them."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, literal, or_, select

from index_store.access.people.person import ERASED, NOT_YET, Person
from index_store.access.people.recognition import Recognition
from index_store.access.people.typed_names import account_name, typed_address
from index_store.access.principal import Role
from index_store.access.rights import GranteeKind
from index_store.access.transaction import changing_exclusively
from index_store.base.database.backend import DatabaseBackend
from index_store.base.database.copies import DAMAGED, UPGRADED, drop_copies
from index_store.base.database.database import backend_of
from index_store.base.errors import AmbiguousPerson, LastAdmin, NoPersonNamed, PersonExists, UnknownPerson
from index_store.base.settings.settings import Settings
from index_store.catalogue.schema import grants, now, people, sign_ins


class People(Recognition):
    def __init__(self, database: Engine, settings: Settings) -> None:
        super().__init__(database, settings)
        self._folder = settings.data_dir

    def all(self) -> list[Person]:
        """By name, then mail; includes people who have not signed in yet, not erased ones."""
        with self._database.connect() as connection:
            rows = connection.execute(select(people).where(people.c.issuer != ERASED))
            found = [self._roles.person(row) for row in rows]
        return sorted(found, key=lambda person: (person.name, person.mail, person.id))

    def find(self, name: str) -> Person:
        """By id, mail address or subject. Raises UnknownPerson, AmbiguousPerson."""
        with self._database.connect() as connection:
            rows = connection.execute(select(people).where(_known_as(backend_of(connection), name))).all()
        if not rows:
            raise UnknownPerson(name=name)
        if len(rows) > 1:
            raise AmbiguousPerson(name=name)
        return self._roles.person(rows[0])

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
        with changing_exclusively(self._database, name) as connection:
            if connection.execute(select(people.c.id).where(_known_as(backend_of(connection), name))).first():
                raise PersonExists(name=name)
            connection.execute(people.insert().values(**values))
            return self._roles.person(connection.execute(select(people).where(people.c.id == values["id"])).one())

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
        person = self._roles.person(known)
        stub = {
            "issuer": ERASED, "subject": person_id, "name": "", "mail": "", "mail_is_verified": False, "groups": [],
            "role": None, "disabled_at": now(), "last_seen_at": None,
        }  # fmt: skip
        with self._changing_one(known) as connection:
            accounts = self._accounts_of_nobody_else(connection, person)
            theirs = (grants.c.kind == GranteeKind.ACCOUNT) & grants.c.name.in_(accounts)
            theirs |= (grants.c.kind == GranteeKind.PERSON) & (grants.c.name == person_id)
            connection.execute(people.update().where(people.c.id == person_id).values(**stub))
            connection.execute(sign_ins.delete().where(sign_ins.c.person_id == person_id))
            connection.execute(grants.delete().where(theirs))
            erased = self._roles.person(connection.execute(select(people).where(people.c.id == person_id)).one())
        backend_of(self._database).clear_log(self._database)
        for copies in (UPGRADED, DAMAGED):
            drop_copies(self._folder, copies, days=0)
        return erased

    def _accounts_of_nobody_else(self, connection: Connection, person: Person) -> set[str]:
        """The person's accounts, and their mail address if it is not verified, without those that certainly belong to
        somebody else: who signs in with two providers is two people with one address.
        """
        named = person.principal.accounts | ({account_name(person.mail)} if person.mail else set())
        others = {name: has_account(backend_of(self._database), name) & (people.c.id != person.id) for name in named}
        return {name for name in named if not connection.execute(select(people.c.id).where(others[name])).first()}

    def erased(self) -> list[Person]:
        """People of whom only an id is left."""
        with self._database.connect() as connection:
            return [
                self._roles.person(row) for row in connection.execute(select(people).where(people.c.issuer == ERASED))
            ]

    def _change(self, person_id: str, **values: Any) -> Person:
        with self._changing_one(self._known(person_id)) as connection:
            return self._changed(connection, person_id, **values)

    def _changed(self, connection: Connection, person_id: str, **values: Any) -> Person:
        this = people.c.id == person_id
        connection.execute(people.update().where(this).values(**values))
        return self._roles.person(connection.execute(select(people).where(this)).one())

    @contextmanager
    def _changing_one(self, known: Row[Any]) -> Iterator[Connection]:
        """If there was an admin before the change, one must be left after it. Raises LastAdmin."""
        name = known.name or known.subject
        with changing_exclusively(self._database, name) as connection:
            had_admin = self._roles.has_admin(connection)
            yield connection
            if had_admin and not self._roles.has_admin(connection):
                raise LastAdmin(name=name)

    def _known(self, person_id: str) -> Row[Any]:
        """Raises UnknownPerson."""
        row = self._row((people.c.id == person_id) & (people.c.issuer != ERASED))
        if row is None:
            raise UnknownPerson(name=person_id)
        return row


def has_account(backend: DatabaseBackend, account: str) -> ColumnElement[bool]:
    """`account`: as `account_name` returns it."""
    is_mail = people.c.mail_is_verified & (backend.folded(people.c.mail) == backend.folded(literal(account)))
    return or_(people.c.subject == account, is_mail)


def _known_as(backend: DatabaseBackend, name: str) -> ColumnElement[bool]:
    name = typed_address(name)
    is_mail = (people.c.mail != "") & (backend.folded(people.c.mail) == backend.folded(literal(name)))
    return or_(people.c.id == name, people.c.subject == name, is_mail)
