"""The owner and the grants of an index, for people who manage it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, FromClause, and_, case, func, select

from index_store.access.audit.audit import Audit
from index_store.access.audit.entry import Action
from index_store.access.gate import Gate, managed
from index_store.access.people.people import has_account
from index_store.access.people.person import ERASED
from index_store.access.people.typed_names import account_name, typed
from index_store.access.principal import Principal
from index_store.access.rights import GranteeKind, Right
from index_store.access.transaction import changing_exclusively
from index_store.base.database.database import backend_of
from index_store.base.errors import NobodyNamed, UnknownPerson
from index_store.catalogue.schema import grants, indexes, people


@dataclass(frozen=True, slots=True)
class Grantee:
    kind: GranteeKind
    name: str = ""
    """a person's id, an account's mail address or subject, or a group as claims name it"""


EVERYONE = Grantee(GranteeKind.EVERYONE)


class Grant(NamedTuple):
    grantee: Grantee
    right: Right


@dataclass(frozen=True, slots=True)
class IndexAccess:
    id: str
    """of the index"""
    index: str
    """its name"""
    owner: str | None
    """id of a person"""
    grants: tuple[Grant, ...]
    names: dict[str, str]
    """names of the people among them, by id, with their mail addresses: two people may have one name"""


class Grants:
    """Called in a person's name; an index that they may not read counts as not existing. Indexes are given by name.

    Thread-safe, also with other processes. Every method raises AccessWithdrawn, and ChangeFailed if it can't save.
    """

    def __init__(self, database: Engine, gate: Gate, audit: Audit) -> None:
        self._database = database
        self._audit = audit
        self._gate = gate

    def all(self) -> list[IndexAccess]:
        """Those of every index, by name. Raises AdminNeeded."""
        self._gate.require_admin()
        return list(self._accesses())

    def of(self, index: str) -> IndexAccess:
        """Raises UnknownIndex, RightMissing."""
        known = self._gate.index(index, Right.MANAGE)
        for access in self._accesses(indexes.c.id == known.id):
            return access
        return self.of(index)  # raises: the index was deleted in the meantime

    def give(self, index: str, grantee: Grantee, right: Right) -> None:
        """Replaces the right that they had. Raises UnknownIndex, RightMissing, UnknownPerson, NobodyNamed."""
        grantee = _written(grantee)
        values = {"kind": grantee.kind, "name": grantee.name, "right": right}
        with self._changing(index) as (connection, index_id, by):
            if grantee.kind is GranteeKind.PERSON:
                _check_person(connection, grantee.name)
            row = {"index_id": index_id, **values}
            backend_of(connection).put(connection, grants, [row])
            facts = _audit_facts(connection, grantee)
        self._audit.note(Action.GRANTED, by, index=index, **facts, right=right.name.lower())

    def take(self, index: str, grantee: Grantee) -> None:
        """No error if it was never given. Raises UnknownIndex, RightMissing."""
        grantee = _written(grantee)
        with self._changing(index) as (connection, index_id, by):
            connection.execute(grants.delete().where((grants.c.index_id == index_id) & _is(grantee)))
            facts = _audit_facts(connection, grantee)
        self._audit.note(Action.GRANT_TAKEN, by, index=index, **facts)

    def set_owner(self, index: str, person_id: str | None) -> None:
        """Raises UnknownIndex, RightMissing, UnknownPerson."""
        with self._changing(index) as (connection, index_id, by):
            if person_id is not None:
                _check_person(connection, person_id)
            connection.execute(indexes.update().where(indexes.c.id == index_id).values(owner_id=person_id))
        self._audit.note(Action.OWNER_SET, by, index=index, whose=person_id)

    @contextmanager
    def _changing(self, index: str) -> Iterator[tuple[Connection, str, Principal]]:
        """Yields the index's id and the principal, in the transaction in which the right was checked."""
        principal = self._gate.who()
        with changing_exclusively(self._database, index) as connection:
            yield connection, managed(connection, principal, index).id, principal

    def _accesses(self, *conditions: ColumnElement[bool]) -> Iterator[IndexAccess]:
        owner, holder = people.alias(), people.alias()
        is_held = (grants.c.kind == GranteeKind.PERSON) & (grants.c.name == holder.c.id)
        joined = indexes.outerjoin(grants).outerjoin(owner, owner.c.id == indexes.c.owner_id).outerjoin(holder, is_held)
        columns = (indexes.c.id, indexes.c.name, indexes.c.owner_id, grants.c.kind, grants.c.name, grants.c.right)
        rows = select(*columns, _called(owner), _called(holder)).select_from(joined).where(*conditions)
        found: dict[str, IndexAccess] = {}
        with self._database.connect() as connection:
            order = (indexes.c.name, grants.c.kind, grants.c.name)
            for id_, index, owner_id, kind, name, right, owners, holders in connection.execute(rows.order_by(*order)):
                known = {owner_id: owners} if owners else {}
                access = found.setdefault(id_, IndexAccess(id_, index, owner_id, (), known))
                if right:
                    grant = Grant(Grantee(GranteeKind(kind), name), Right(right))
                    names = {**access.names, name: holders} if holders else access.names
                    found[id_] = replace(access, grants=(*access.grants, grant), names=names)
        return iter(found.values())


def _called(person: FromClause) -> ColumnElement[str]:
    address = func.coalesce(func.nullif(person.c.mail, ""), person.c.subject)
    return case((person.c.name.in_(["", address]), address), else_=person.c.name + " · " + address)


def _is(grantee: Grantee) -> ColumnElement[bool]:
    return and_(grants.c.kind == grantee.kind, grants.c.name == grantee.name)


def _written(grantee: Grantee) -> Grantee:
    """The grantee in the form that is stored. Raises NobodyNamed."""
    if grantee.kind is GranteeKind.EVERYONE:
        return EVERYONE
    name = account_name(grantee.name) if grantee.kind is GranteeKind.ACCOUNT else typed(grantee.name)
    if not name:
        raise NobodyNamed()
    return Grantee(grantee.kind, name)


def _check_person(connection: Connection, person_id: str) -> None:
    """Raises UnknownPerson."""
    this = (people.c.id == person_id) & (people.c.issuer != ERASED)
    if connection.execute(select(people.c.id).where(this)).first() is None:
        raise UnknownPerson(name=person_id)


def _audit_facts(connection: Connection, grantee: Grantee) -> dict[str, str]:
    """The grantee for the audit log: an id if the app knows the person, because they may be erased later."""
    kind = {"kind": str(grantee.kind)}
    if grantee.kind is GranteeKind.PERSON:
        return {**kind, "whose": grantee.name}
    if grantee.kind is GranteeKind.ACCOUNT:
        whose = connection.execute(
            select(people.c.id).where(has_account(backend_of(connection), grantee.name))
        ).scalar()
        if whose:
            return {**kind, "whose": str(whose)}
    return {**kind, "grantee": grantee.name} if grantee.name else kind
