"""Whose an index is, and what is granted of it: to be seen and changed by whoever manages it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, and_, select

from index_store.access.gate import Gate, managed
from index_store.access.principal import Principal
from index_store.access.rights import GranteeKind, Right
from index_store.access.transaction import changing, storable
from index_store.audit.audit import Audit
from index_store.audit.entry import Action
from index_store.base.errors import UnknownPerson
from index_store.catalogue.schema import grants, indexes, people


@dataclass(frozen=True, slots=True)
class Grantee:
    kind: GranteeKind
    name: str = ""
    """a person's id, or a group as claims have it"""


EVERYONE = Grantee(GranteeKind.EVERYONE)


class Grant(NamedTuple):
    grantee: Grantee
    right: Right


@dataclass(frozen=True, slots=True)
class IndexAccess:
    index: str
    owner: str | None
    """id of a person"""
    grants: tuple[Grant, ...]


class Grants:
    """Asked in somebody's name, and as if there were no index that they may not read. An index is told by its name.

    Safe from any thread, and beside another process. Every method raises AccessWithdrawn; what it can't save,
    ChangeFailed.
    """

    def __init__(self, database: Engine, gate: Gate, audit: Audit) -> None:
        self._database = database
        self._audit = audit
        self._gate = gate

    def all(self) -> list[IndexAccess]:
        """Of every index, by name. Raises AdminNeeded."""
        self._gate.admin()
        return list(self._accesses())

    def of(self, index: str) -> IndexAccess:
        """Raises UnknownIndex, RightMissing."""
        known = self._gate.index(index, Right.MANAGE)
        for access in self._accesses(indexes.c.id == known.id):
            return access
        return self.of(index)  # it was deleted meanwhile

    def give(self, index: str, grantee: Grantee, right: Right) -> None:
        """In the place of what they had. Raises UnknownIndex, RightMissing, UnknownPerson."""
        values = {"kind": grantee.kind, "name": storable(grantee.name), "right": right}
        with self._changing(index) as (connection, index_id, by):
            if grantee.kind is GranteeKind.PERSON:
                _check_person(connection, grantee.name)
            row = {"index_id": index_id, **values}
            connection.execute(grants.insert().prefix_with("OR REPLACE").values(**row))
        given = {"kind": grantee.kind, "grantee": grantee.name, "right": right.name.lower()}
        self._audit.note(Action.GRANTED, by, index=index, **given)

    def take(self, index: str, grantee: Grantee) -> None:
        """What was never given can be taken. Raises UnknownIndex, RightMissing."""
        with self._changing(index) as (connection, index_id, by):
            connection.execute(grants.delete().where((grants.c.index_id == index_id) & _is(grantee)))
        taken = {"kind": grantee.kind, "grantee": grantee.name}
        self._audit.note(Action.GRANT_TAKEN, by, index=index, **taken)

    def set_owner(self, index: str, person_id: str | None) -> None:
        """Raises UnknownIndex, RightMissing, UnknownPerson."""
        with self._changing(index) as (connection, index_id, by):
            if person_id is not None:
                _check_person(connection, person_id)
            connection.execute(indexes.update().where(indexes.c.id == index_id).values(owner_id=person_id))
        self._audit.note(Action.OWNER_SET, by, index=index, whose=person_id)

    @contextmanager
    def _changing(self, index: str) -> Iterator[tuple[Connection, str, Principal]]:
        """With the index's id and who changes it, in the transaction in which the right to it was seen."""
        principal = self._gate.who()
        with changing(self._database, index) as connection:
            yield connection, managed(connection, principal, index).id, principal

    def _accesses(self, *conditions: ColumnElement[bool]) -> Iterator[IndexAccess]:
        order = (indexes.c.name, grants.c.kind, grants.c.name)
        columns = (indexes.c.name.label("index"), indexes.c.owner_id, grants.c.kind, grants.c.name, grants.c.right)
        rows = select(*columns).select_from(indexes.outerjoin(grants)).where(*conditions).order_by(*order)
        owners: dict[str, str | None] = {}
        found: dict[str, list[Grant]] = {}
        with self._database.connect() as connection:
            for index, owner, kind, name, right in connection.execute(rows):
                owners[index] = owner
                given = found.setdefault(index, [])
                if right:
                    given.append(Grant(Grantee(GranteeKind(kind), name), Right(right)))
        return (IndexAccess(index, owners[index], tuple(given)) for index, given in found.items())


def _is(grantee: Grantee) -> ColumnElement[bool]:
    return and_(grants.c.kind == grantee.kind, grants.c.name == storable(grantee.name))


def _check_person(connection: Connection, person_id: str) -> None:
    """Raises UnknownPerson."""
    if connection.execute(select(people.c.id).where(people.c.id == person_id)).first() is None:
        raise UnknownPerson(name=person_id)
