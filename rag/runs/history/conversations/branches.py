"""A conversation as a tree of runs: one follows another, and two that follow the same one are siblings.

Siblings are a question and the ones that were asked in its place.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Engine, select

from rag.runs.history import schema


@dataclass(frozen=True)
class Branch:
    """One path through the tree, from a first question to a last one."""

    runs: tuple[str, ...] = ()
    """their ids, the earliest first"""
    siblings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """of those that have some, by id: themselves among them, the earliest first"""

    @property
    def end(self) -> str | None:
        """The last run of it."""
        return self.runs[-1] if self.runs else None

    def siblings_of(self, run_id: str) -> tuple[str, ...]:
        """Itself alone where it has none."""
        return self.siblings.get(run_id, (run_id,))

    def before(self, run_id: str) -> "Branch":
        """As far as to the run before this one of it."""
        return Branch(self.runs[: self.runs.index(run_id)])


class Branches:
    """Read from the history's database."""

    def __init__(self, database: Engine) -> None:
        self._database = database

    def branch(self, conversation_id: str, *, through: str | None = None) -> Branch:
        """The one that was asked in last; `through`: of those alone that this run is in, or of all where it is none of
        the conversation.
        """
        runs = schema.runs.c
        rows = select(runs.id, runs.follows).where(runs.conversation_id == conversation_id).order_by(runs.started_at)
        with self._database.connect() as connection:
            found = connection.execute(rows).all()
        known = {row.id for row in found}
        before = {row.id: row.follows if row.follows in known else None for row in found}
        following: defaultdict[str | None, list[str]] = defaultdict(list)
        for run_id, follows in before.items():
            following[follows].append(run_id)
        way = _way_to(_latest(before, through), before)
        siblings = {each: tuple(following[before[each]]) for each in way}
        return Branch(tuple(way), {run_id: each for run_id, each in siblings.items() if len(each) > 1})


def _latest(before: dict[str, str | None], through: str | None) -> str | None:
    """The run that began last, of those that come to `through` when they are followed back."""
    if through not in before:
        return next(reversed(before), None)
    within = {through}
    latest = through
    for run_id, follows in before.items():
        if follows in within:
            within.add(run_id)
            latest = run_id
    return latest


def _way_to(run_id: str | None, before: dict[str, str | None]) -> list[str]:
    way: list[str] = []
    while run_id is not None:
        way.append(run_id)
        run_id = before[run_id]
    return way[::-1]
