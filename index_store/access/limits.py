"""Limits for people: from the settings for everybody, or set by admins for the members of a group.

If a person is in several groups, the highest value of each limit counts. A group without a value for a limit leaves
that limit as it is for everybody. An index has the limits of its owner, whoever adds to it.
"""

from collections.abc import Collection

from pydantic import BaseModel, Field
from sqlalchemy import Engine, select

from index_store.access.people.typed_names import typed
from index_store.access.principal import Principal
from index_store.access.transaction import changing_exclusively
from index_store.base.errors import NoGroupNamed
from index_store.catalogue.schema import indexes, limits, people

UNLIMITED = 0


class GroupLimits(BaseModel, frozen=True):
    """None: the limit of everybody; 0: no limit."""

    runs_at_once: int | None = Field(default=None, ge=0)
    tokens_a_day: int | None = Field(default=None, ge=0)
    """of all their runs, from midnight to midnight"""
    files: int | None = Field(default=None, ge=0)
    """per index that they own"""
    megabytes: int | None = Field(default=None, ge=0)
    """of originals, per index that they own"""


class Limits:
    """Thread-safe, also with other processes. Raises ChangeFailed if a change can't be saved."""

    def __init__(self, database: Engine) -> None:
        self._database = database

    def all(self) -> dict[str, GroupLimits]:
        """By group, in order; only groups that have limits."""
        with self._database.connect() as connection:
            rows = connection.execute(select(limits).order_by(limits.c.group)).mappings()
            return {row["group"]: GroupLimits.model_validate(dict(row)) for row in rows}

    def set(self, group: str, to: GroupLimits) -> None:
        """Replaces the limits that the group had. Raises NoGroupNamed."""
        values = to.model_dump()
        name = typed(group)
        if not name:
            raise NoGroupNamed()
        with changing_exclusively(self._database, name) as connection:
            connection.execute(limits.delete().where(limits.c.group == name))
            if any(value is not None for value in values.values()):
                connection.execute(limits.insert().values(group=name, **values))

    def of(self, principal: Principal) -> GroupLimits:
        return self._of_groups(principal.groups)

    def of_index(self, index_id: str) -> GroupLimits:
        """The limits of the index's owner."""
        owner = select(people.c.groups).join(indexes, indexes.c.owner_id == people.c.id)
        with self._database.connect() as connection:
            groups = connection.execute(owner.where(indexes.c.id == index_id)).scalar()
        return self._of_groups(groups or ())

    def _of_groups(self, groups: Collection[str]) -> GroupLimits:
        if not groups:
            return GroupLimits()
        with self._database.connect() as connection:
            rows = connection.execute(select(limits).where(limits.c.group.in_(groups))).mappings().all()
        said = {name: [row[name] for row in rows if row[name] is not None] for name in GroupLimits.model_fields}
        return GroupLimits(**{name: _most(values) for name, values in said.items() if values})


def _most(values: Collection[int]) -> int:
    return UNLIMITED if UNLIMITED in values else max(values)


def in_force(of_group: int | None, of_all: int) -> float:
    """The limit that counts. `of_all`: the value in the settings."""
    limit = of_all if of_group is None else of_group
    return float("inf") if limit == UNLIMITED else limit
