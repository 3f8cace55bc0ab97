"""Stored comparisons: their columns, and the vote for the best."""

import time
from collections.abc import Sequence

from pydantic import BaseModel
from sqlalchemy import ColumnElement, Connection, Engine, func, select, true

from index_store.access.principal import LOCAL, Principal
from rag.errors import BadColumnCount
from rag.runs.history import schema
from rag.runs.history.ownership import is_owned_by

LEAST_COLUMNS, MOST_COLUMNS = 2, 4
"""more than four can't be read side by side"""


class Comparison(BaseModel, frozen=True):
    id: str
    """also the id of the conversation with its runs"""
    question: str
    index: str
    created_at: float
    """seconds since the epoch"""
    run_ids: tuple[str | None, ...]
    """from left to right; None: the run was deleted later"""
    best: str | None
    """the run that got the vote"""


def check_column_count(count: int) -> None:
    """Raises BadColumnCount."""
    if not LEAST_COLUMNS <= count <= MOST_COLUMNS:
        raise BadColumnCount(least=LEAST_COLUMNS, most=MOST_COLUMNS, count=count)


def is_own_comparison(principal: Principal) -> ColumnElement[bool]:
    """True if its conversation is the principal's own."""
    if principal == LOCAL:
        return true()
    own = select(schema.conversations.c.id).where(is_owned_by(principal, schema.conversations.c.person_id))
    return schema.comparisons.c.id.in_(own)


class StoredComparisons:
    """Safe in any thread. Raises NotSaved if it can't save."""

    def __init__(self, database: Engine) -> None:
        """`database`: the history opens and closes it."""
        self._database = database

    def add(
        self, conversation_id: str, question: str, index: str, run_ids: Sequence[str], *, within: Connection
    ) -> Comparison:
        """Adds a comparison of stored runs, in a conversation of the person who compares them. `within`: the
        transaction that makes the conversation.
        """
        row = {"id": conversation_id, "question": question, "created_at": time.time()}
        within.execute(schema.comparisons.insert().values(index_name=index, **row))
        within.execute(
            schema.compared.insert(),
            [
                {"comparison_id": conversation_id, "position": position, "run_id": run_id}
                for position, run_id in enumerate(run_ids)
            ],
        )
        return Comparison(**row, index=index, run_ids=tuple(run_ids), best=None)

    def get(self, comparison_id: str) -> Comparison | None:
        return next(iter(self._select(schema.comparisons.c.id == comparison_id)), None)

    def latest(self, count: int, *, principal: Principal) -> list[Comparison]:
        """The principal's latest comparisons."""
        return self._select(is_own_comparison(principal), latest=count)

    def of_runs(self, run_ids: Sequence[str], *, principal: Principal) -> Comparison | None:
        """The principal's latest comparison of exactly these runs in this order."""
        with_first = select(schema.compared.c.comparison_id).where(schema.compared.c.run_id == run_ids[0])
        found = self._select(schema.comparisons.c.id.in_(with_first), is_own_comparison(principal))
        return next((each for each in found if each.run_ids == tuple(run_ids)), None)

    def replace(self, comparison_id: str, run_id: str, by: str, *, within: Connection) -> bool:
        """Replaces a column's run and drops a vote for it. `within`: the transaction that saves the new run. False if
        the run was no longer there.
        """
        column = (schema.compared.c.comparison_id == comparison_id) & (schema.compared.c.run_id == run_id)
        is_there = within.execute(schema.compared.update().where(column).values(run_id=by)).rowcount == 1
        best = (schema.comparisons.c.id == comparison_id) & (schema.comparisons.c.best_run_id == run_id)
        within.execute(schema.comparisons.update().where(best).values(best_run_id=None))
        return is_there

    def vote(self, comparison_id: str, run_id: str | None) -> None:
        """Votes for one of its runs as the best, in place of an earlier vote; None takes the vote back."""
        its_runs = select(schema.compared.c.run_id).where(schema.compared.c.comparison_id == comparison_id)
        with schema.changing(self._database) as connection:
            if run_id is None or run_id in connection.execute(its_runs).scalars().all():
                this = schema.comparisons.c.id == comparison_id
                connection.execute(schema.comparisons.update().where(this).values(best_run_id=run_id))

    def votes(self, run_ids: Sequence[str], *, principal: Principal) -> dict[str, int]:
        """How many of the principal's comparisons voted for each run. Runs without votes are left out."""
        best = schema.comparisons.c.best_run_id
        voted = select(best, func.count()).where(best.in_(run_ids), is_own_comparison(principal)).group_by(best)
        with self._database.connect() as connection:
            rows = connection.execute(voted).all()
        return {row[0]: row[1] for row in rows}

    def _select(self, *conditions: ColumnElement[bool], latest: int | None = None) -> list[Comparison]:
        """The latest first."""
        rows = select(schema.comparisons).where(*conditions).order_by(schema.comparisons.c.created_at.desc())
        with self._database.connect() as connection:
            found = connection.execute(rows.limit(latest)).all()
            columns = (
                select(schema.compared)
                .where(schema.compared.c.comparison_id.in_([row.id for row in found]))
                .order_by(schema.compared.c.position)
            )
            run_ids: dict[str, list[str | None]] = {row.id: [] for row in found}
            for column in connection.execute(columns):
                run_ids[column.comparison_id].append(column.run_id)
        return [
            Comparison(
                id=row.id,
                question=row.question,
                index=row.index_name,
                created_at=row.created_at,
                run_ids=tuple(run_ids[row.id]),
                best=row.best_run_id,
            )
            for row in found
        ]
