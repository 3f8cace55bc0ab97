"""The rights that a person can have to an index.

A right is one of an index as a whole, which is one collection of vectors: no search looks at what someone may not read
and filters it afterwards. Of its owner it is to manage, of anybody else the most that is granted to them, to one of
their groups or to everyone, and at most what their role may at all: a reader reads, whatever is granted, and an admin
manages everything. An index without an owner, as all are that were made where nobody signs in, is only the admins'
until they grant it.
"""

import unicodedata
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

from sqlalchemy import Connection, Engine, Select, and_, bindparam, case, func, or_, select

from index_store.access.principal import Principal, Role
from index_store.access.transaction import storable
from index_store.catalogue.indexes import index_record
from index_store.catalogue.records import IndexRecord
from index_store.catalogue.schema import documents, grants, indexes, sections


class Right(IntEnum):
    """Each right includes those before it."""

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
    ACCOUNT = "account"
    """whoever signs in under a mail address, verified, or subject: it is not looked up whether there is such a person,
    so that nobody learns it by granting"""
    GROUP = "group"
    EVERYONE = "everyone"
    """who signs in"""


@dataclass(frozen=True, slots=True)
class AllowedIndex:
    index: IndexRecord
    right: Right


class Rights:
    """Each method is one query, of the index and of the right: between two, a name could come to be another index's.

    What may not be read is not found, like what there is not. Safe from any thread, and beside another process.
    """

    def __init__(self, database: Engine) -> None:
        self._database = database

    def all(self, principal: Principal) -> list[AllowedIndex]:
        """What they may read, by name."""
        with self._database.connect() as connection:
            return _allowed(connection, principal, _ALL)

    def named(self, principal: Principal, name: str) -> AllowedIndex | None:
        with self._database.connect() as connection:
            return named(connection, principal, name)

    def with_id(self, principal: Principal, index_id: str) -> AllowedIndex | None:
        return self._one(principal, _WITH_ID, index_id)

    def of_document(self, principal: Principal, document_id: str) -> AllowedIndex | None:
        """The index that it is in."""
        return self._one(principal, _OF_DOCUMENT, document_id)

    def of_section(self, principal: Principal, section_id: str) -> AllowedIndex | None:
        """The index that its document is in."""
        return self._one(principal, _OF_SECTION, section_id)

    def _one(self, principal: Principal, query: Select[Any], id_: str) -> AllowedIndex | None:
        with self._database.connect() as connection:
            return next(iter(_allowed(connection, principal, query, storable(id_))), None)


def named(connection: Connection, principal: Principal, name: str) -> AllowedIndex | None:
    """Within the transaction of whoever changes what was found."""
    return next(iter(_allowed(connection, principal, _NAMED, written(name))), None)


def readable(connection: Connection, principal: Principal) -> list[str]:
    """Names of indexes, in order."""
    return [each.index.name for each in _allowed(connection, principal, _ALL)]


def written(name: str) -> str:
    """As names of indexes are kept."""
    return unicodedata.normalize("NFC", storable(name))


def _allowed(connection: Connection, principal: Principal, query: Select[Any], key: str = "") -> list[AllowedIndex]:
    whose = {
        "person": principal.id, "accounts": sorted(principal.accounts), "groups": sorted(principal.groups), "key": key,
    }  # fmt: skip
    most = MOST[principal.role]
    rows = connection.execute(query, whose).all()
    rights = [most if principal.role is Role.ADMIN else min(row.granted, most) for row in rows]
    return [AllowedIndex(index_record(row), Right(right)) for row, right in zip(rows, rights, strict=True) if right]


def _granted() -> Select[Any]:
    """Every index with what is granted of it to someone (person, accounts, groups), 0 where nothing is."""
    mine = or_(
        and_(grants.c.kind == GranteeKind.PERSON, grants.c.name == bindparam("person")),
        and_(grants.c.kind == GranteeKind.ACCOUNT, grants.c.name.in_(bindparam("accounts", expanding=True))),
        and_(grants.c.kind == GranteeKind.GROUP, grants.c.name.in_(bindparam("groups", expanding=True))),
        grants.c.kind == GranteeKind.EVERYONE,
    )
    granted = func.coalesce(func.max(grants.c.right), 0)
    right = case((indexes.c.owner_id == bindparam("person"), Right.MANAGE), else_=granted)
    return (
        select(indexes, right.label("granted"))
        .select_from(indexes.outerjoin(grants, (grants.c.index_id == indexes.c.id) & mine))
        .group_by(indexes.c.id)
        .order_by(indexes.c.name)
    )


# Made once: making one takes as long as running it, and each action does.
_ALL = _granted()
_NAMED = _ALL.where(indexes.c.name == bindparam("key"))
_WITH_ID = _ALL.where(indexes.c.id == bindparam("key"))
_IN = select(documents.c.index_id)
_OF_DOCUMENT = _ALL.where(indexes.c.id == _IN.where(documents.c.id == bindparam("key")).scalar_subquery())
_OF_SECTION = _ALL.where(indexes.c.id == _IN.join(sections).where(sections.c.id == bindparam("key")).scalar_subquery())
