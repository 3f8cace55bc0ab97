"""A conversation as a tree of runs: one run follows another. Runs that follow the same run are siblings.

Siblings are a question and the questions asked in its place.
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
    """by id, only for runs that have siblings: the siblings with the run itself, the earliest first"""

    @property
    def end(self) -> str | None:
        """The last run."""
        return self.runs[-1] if self.runs else None

    def siblings_of(self, run_id: str) -> tuple[str, ...]:
        """Only the run itself if it has no siblings."""
        return self.siblings.get(run_id, (run_id,))

    def through(self, run_id: str) -> "Branch":
        """The branch up to this run; empty if it is not in the branch, such as after the conversation was deleted."""
        return Branch(self.runs[: self.runs.index(run_id) + 1] if run_id in self.runs else ())

    def before(self, run_id: str) -> "Branch":
        """The branch up to the run before this one."""
        return Branch(self.runs[: self.runs.index(run_id)])


class Branches:
    """Read from the history's database."""

    def __init__(self, database: Engine) -> None:
        self._database = database

    def branch(self, conversation_id: str, *, through: str | None = None) -> Branch:
        """The branch with the latest question. `through`: only branches with this run count; all count if the
        conversation has no such run.
        """
        runs = schema.runs.c
        of_it = runs.conversation_id == conversation_id
        rows = select(runs.id, runs.follows).where(of_it).order_by(runs.started_at, runs.id)
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
    """The latest run among `through` and its descendants."""
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
