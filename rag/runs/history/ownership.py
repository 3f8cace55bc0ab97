"""The owners of conversations and runs. People are in another database, so only their ids are stored here."""

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Engine, Table, func, select, true

from index_store.access.gate import CurrentPrincipal
from index_store.access.principal import LOCAL, Principal, Role
from rag.runs.history import schema


class Owner(NamedTuple):
    """Who owns a row, as the audit log names people."""

    id: str


def person_id(principal: Principal) -> str | None:
    """The stored id. None for the local person, and for everything from before people signed in."""
    return None if principal == LOCAL else principal.id


def owner(stored: str | None) -> Owner:
    """`stored`: as by `person_id`."""
    return Owner(LOCAL.id if stored is None else stored)


def is_owned_by(principal: Principal, owner: ColumnElement[Any]) -> ColumnElement[bool]:
    """A condition on a column of person ids. An admin owns their own rows and rows without an owner, but no rows of
    other people. The local person has the data folder and so owns all rows.
    """
    if principal == LOCAL:
        return true()
    if principal.role is Role.ADMIN:
        return func.coalesce(owner, principal.id) == principal.id
    return owner == principal.id


class Ownership:
    """What a person owns; facades check it before each call. Raises AccessWithdrawn."""

    def __init__(self, database: Engine, who: CurrentPrincipal) -> None:
        self._database = database
        self.who = who

    def has_conversation(self, conversation_id: str) -> bool:
        return bool(self._found(schema.conversations, schema.conversations.c.id == conversation_id))

    def has_run(self, run_id: str) -> bool:
        return bool(self._found(schema.runs, schema.runs.c.id == run_id))

    def runs(self, run_ids: Collection[str]) -> set[str]:
        """The runs that the person owns."""
        return self._found(schema.runs, schema.runs.c.id.in_(run_ids))

    def _found(self, table: Table, condition: ColumnElement[bool]) -> set[str]:
        """The ids of those that the person owns."""
        rows = select(table.c.id).where(condition, is_owned_by(self.who(), table.c.person_id))
        with self._database.connect() as connection:
            return set(connection.execute(rows).scalars())
