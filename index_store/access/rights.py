"""The rights that a person can have to an index.

A right is for a whole index, which is one collection of vectors: no search reads what a person may not read and filters
it afterwards. The owner manages the index. Others have the highest right that is granted to them, to one of their
groups or to everyone, limited by their role: a reader only reads, whatever is granted, and an admin manages everything.
An index without an owner, such as each one made while nobody signs in, belongs to admins only, until they grant it.
"""

import unicodedata
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

from sqlalchemy import Connection, Engine, Select, and_, bindparam, case, func, or_, select

from index_store.access.principal import Principal, Role
from index_store.base.database.database import storable
from index_store.catalogue.indexes import index_record
from index_store.catalogue.records import IndexRecord
from index_store.catalogue.schema import documents, grants, indexes, sections


class Right(IntEnum):
    """Each right includes those before it."""

    READ = 1
    """ask questions to it, and see its documents and originals"""
    WRITE = 2
    """add and remove documents, and keep them searchable"""
    MANAGE = 3
    """rename it, delete it, and grant rights"""


MOST = {Role.READER: Right.READ, Role.EDITOR: Right.MANAGE, Role.ADMIN: Right.MANAGE}
"""the highest right that a grant can give, by role"""


class GranteeKind(StrEnum):
    PERSON = "person"
    ACCOUNT = "account"
    """a person who signs in with a subject or verified mail address. The app does not check whether the person exists,
    so that a grant tells nobody"""
    GROUP = "group"
    EVERYONE = "everyone"
    """everyone who signs in"""


@dataclass(frozen=True, slots=True)
class AllowedIndex:
    index: IndexRecord
    right: Right


class Rights:
    """Each method gets index and right with one query: between two queries, a name could become another index's.

    What a person may not read is not found, as if it did not exist. Thread-safe, also with other processes.
    """

    def __init__(self, database: Engine) -> None:
        self._database = database

    def all(self, principal: Principal) -> list[AllowedIndex]:
        """The indexes that they may read, by name."""
        with self._database.connect() as connection:
            return _allowed(connection, principal, _ALL)

    def named(self, principal: Principal, name: str) -> AllowedIndex | None:
        with self._database.connect() as connection:
            return named(connection, principal, name)

    def with_id(self, principal: Principal, index_id: str) -> AllowedIndex | None:
        return self._one(principal, _WITH_ID, index_id)

    def of_document(self, principal: Principal, document_id: str) -> AllowedIndex | None:
        """The index of the document."""
        return self._one(principal, _OF_DOCUMENT, document_id)

    def of_section(self, principal: Principal, section_id: str) -> AllowedIndex | None:
        """The index of the section's document."""
        return self._one(principal, _OF_SECTION, section_id)

    def _one(self, principal: Principal, query: Select[Any], id_: str) -> AllowedIndex | None:
        with self._database.connect() as connection:
            return next(iter(_allowed(connection, principal, query, storable(id_))), None)


def named(connection: Connection, principal: Principal, name: str) -> AllowedIndex | None:
    """For a transaction that changes the index found."""
    return next(iter(_allowed(connection, principal, _NAMED, written(name))), None)


def readable(connection: Connection, principal: Principal) -> list[str]:
    """Names of the indexes that the principal may read, in order."""
    return [each.index.name for each in _allowed(connection, principal, _ALL)]


def written(name: str) -> str:
    """The name in the form in which it is stored."""
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
    """Selects every index with the right granted to a principal (person, accounts, groups); 0 without a grant."""
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


# Made once: to make a query takes as long as to run it, and each action runs it.
_ALL = _granted()
_NAMED = _ALL.where(indexes.c.name == bindparam("key"))
_WITH_ID = _ALL.where(indexes.c.id == bindparam("key"))
_IN = select(documents.c.index_id)
_OF_DOCUMENT = _ALL.where(indexes.c.id == _IN.where(documents.c.id == bindparam("key")).scalar_subquery())
_OF_SECTION = _ALL.where(indexes.c.id == _IN.join(sections).where(sections.c.id == bindparam("key")).scalar_subquery())
