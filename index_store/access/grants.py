"""Whose an index is, and what others may do with it.

A right is one of an index as a whole, which is one collection of vectors: no search looks at what someone may not read
and filters it afterwards. Of its owner it is to manage, of anybody else the most that is granted to them, to one of
their groups or to everyone, and at most what their role may at all: a reader reads, whatever is granted, and an admin
manages everything. An index without an owner, as all are that were made where nobody signs in, is only the admins'
until they grant it.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, Select, and_, bindparam, case, func, or_, select

from index_store.access.principal import Principal, Role
from index_store.access.transaction import changing, storable
from index_store.base.errors import UnknownIndex, UnknownPerson
from index_store.catalogue.schema import grants, indexes, people


class Right(IntEnum):
    """Each with those before it."""

    READ = 1
    """ask of it, and see its documents and originals"""
    WRITE = 2
    """add documents, remove them, and what keeps them searchable"""
    MANAGE = 3
    """rename and delete it, and grant"""


MOST = {Role.READER: Right.READ, Role.EDITOR: Right.MANAGE, Role.ADMIN: Right.MANAGE}
"""that anything granted comes to"""


class GranteeKind(StrEnum):
    PERSON = "person"
    GROUP = "group"
    EVERYONE = "everyone"
    """who signs in"""


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
    """Safe from any thread, and beside another process. An index is told by its name. What it can't save raises
    ChangeFailed.
    """

    def __init__(self, database: Engine) -> None:
        self._database = database

    def right_of(self, principal: Principal, index: str) -> Right | None:
        """None too where there is no such index: who may not read it is not to learn that there is."""
        name = _written(index)
        return self._rights(principal, _RIGHT, index=name).get(name)

    def readable(self, principal: Principal) -> list[str]:
        """Names of indexes, in order: one query, however many there are."""
        return list(self._rights(principal, _RIGHTS))

    def _rights(self, principal: Principal, query: Select[Any], **names: str) -> dict[str, Right]:
        whose = {"person": principal.id, "groups": sorted(principal.groups), **names}
        with self._database.connect() as connection:
            rows = connection.execute(query, whose).all()
        most = MOST[principal.role]
        rights = {row.name: most if principal.role is Role.ADMIN else row.right for row in rows}
        return {name: Right(min(right, most)) for name, right in rights.items() if right}

    # For those who manage an index

    def all(self) -> list[IndexAccess]:
        """Of every index, by name."""
        return list(self._accesses())

    def of(self, index: str) -> IndexAccess:
        """Raises UnknownIndex."""
        for access in self._accesses(_named(index)):
            return access
        raise self._unknown(index)

    def give(self, index: str, grantee: Grantee, right: Right) -> None:
        """In the place of what they had. Raises UnknownIndex, UnknownPerson."""
        values = {"kind": grantee.kind, "name": storable(grantee.name), "right": right}
        with changing(self._database, index) as connection:
            if grantee.kind is GranteeKind.PERSON:
                _check_person(connection, grantee.name)
            row = {"index_id": self._id(connection, index), **values}
            connection.execute(grants.insert().prefix_with("OR REPLACE").values(**row))

    def take(self, index: str, grantee: Grantee) -> None:
        """What was never given can be taken. Raises UnknownIndex."""
        with changing(self._database, index) as connection:
            this = (grants.c.index_id == self._id(connection, index)) & _is(grantee)
            connection.execute(grants.delete().where(this))

    def set_owner(self, index: str, person_id: str | None) -> None:
        """Raises UnknownIndex, UnknownPerson."""
        with changing(self._database, index) as connection:
            if person_id is not None:
                _check_person(connection, person_id)
            this = indexes.c.id == self._id(connection, index)
            connection.execute(indexes.update().where(this).values(owner_id=person_id))

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

    def _id(self, connection: Connection, index: str) -> str:
        found = connection.execute(select(indexes.c.id).where(_named(index))).scalar()
        if found is None:
            raise self._unknown(index)
        return str(found)

    def _unknown(self, index: str) -> UnknownIndex:
        with self._database.connect() as connection:
            known = connection.execute(select(indexes.c.name).order_by(indexes.c.name)).scalars()
            return UnknownIndex(index=index, known=", ".join(known))


def _is(grantee: Grantee) -> ColumnElement[bool]:
    return and_(grants.c.kind == grantee.kind, grants.c.name == storable(grantee.name))


def _named(index: str) -> ColumnElement[bool]:
    return indexes.c.name == _written(index)


def _written(index: str) -> str:
    """As names of indexes are kept."""
    return unicodedata.normalize("NFC", storable(index))


def _check_person(connection: Connection, person_id: str) -> None:
    """Raises UnknownPerson."""
    if connection.execute(select(people.c.id).where(people.c.id == person_id)).first() is None:
        raise UnknownPerson(name=person_id)


def _rights() -> Select[Any]:
    """Name and right of every index, 0 where someone (person, groups) has none; made once, as each action asks it."""
    mine = or_(
        and_(grants.c.kind == GranteeKind.PERSON, grants.c.name == bindparam("person")),
        and_(grants.c.kind == GranteeKind.GROUP, grants.c.name.in_(bindparam("groups", expanding=True))),
        _is(EVERYONE),
    )
    owned = case((indexes.c.owner_id == bindparam("person"), Right.MANAGE), else_=0)
    granted = func.coalesce(func.max(grants.c.right), 0)
    return (
        select(indexes.c.name, func.max(owned, granted).label("right"))
        .select_from(indexes.outerjoin(grants, (grants.c.index_id == indexes.c.id) & mine))
        .group_by(indexes.c.id)
        .order_by(indexes.c.name)
    )


_RIGHTS = _rights()
_RIGHT = _RIGHTS.where(indexes.c.name == bindparam("index"))
