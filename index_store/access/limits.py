"""Limits for people: from the settings for everybody, or set by admins for the members of a group.

Of several groups of one person the most generous counts, for each limit by itself; a group that says nothing of one
leaves it as everybody's. What an index may hold is its owner's limit, whoever adds to it.
"""

from collections.abc import Collection

from pydantic import BaseModel, Field
from sqlalchemy import Engine, select

from index_store.access.principal import Principal
from index_store.access.transaction import changing, storable
from index_store.catalogue.schema import indexes, limits, people

UNLIMITED = 0


class GroupLimits(BaseModel, frozen=True):
    """None: as everybody; 0: no limit."""

    runs_at_once: int | None = Field(default=None, ge=0)
    tokens_a_day: int | None = Field(default=None, ge=0)
    """of all their runs, from midnight to midnight"""
    files: int | None = Field(default=None, ge=0)
    """per index that is theirs"""
    megabytes: int | None = Field(default=None, ge=0)
    """of originals, per index that is theirs"""


class Limits:
    """Safe from any thread, and beside another process. What it can't save raises ChangeFailed."""

    def __init__(self, database: Engine) -> None:
        self._database = database

    def all(self) -> dict[str, GroupLimits]:
        """By group, in order; those alone that have some."""
        with self._database.connect() as connection:
            rows = connection.execute(select(limits).order_by(limits.c.group)).mappings()
            return {row["group"]: GroupLimits.model_validate(dict(row)) for row in rows}

    def set(self, group: str, to: GroupLimits) -> None:
        """In the place of what it had."""
        values = to.model_dump()
        name = storable(group).strip()
        with changing(self._database, name) as connection:
            connection.execute(limits.delete().where(limits.c.group == name))
            if any(value is not None for value in values.values()):
                connection.execute(limits.insert().values(group=name, **values))

    def of(self, principal: Principal) -> GroupLimits:
        return self._of_groups(principal.groups)

    def of_index(self, index_id: str) -> GroupLimits:
        """Of its owner."""
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
    """The limit that counts. `of_all`: as the settings have it."""
    limit = of_all if of_group is None else of_group
    return float("inf") if limit == UNLIMITED else limit
