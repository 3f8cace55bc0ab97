"""The list of a person's runs: searched, filtered, sorted, and read one page at a time.

No event is read: the row of a run has its result. Each order has an index, so a page costs the same with a hundred
thousand runs as with a hundred.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sqlalchemy import Column, ColumnElement, Engine, Row, and_, case, func, literal, or_, select

from index_store.access.principal import Principal
from index_store.base.database.database import backend_of
from rag.runs.history import schema
from rag.runs.history.conversations.comparison import is_own_comparison
from rag.runs.history.history import PastRun
from rag.runs.history.ownership import is_owned_by
from rag.trace.derived.cause import Cause

State = Literal["unconfirmed", "no_answer", "thumb_down", "failed", "slow", "voted"]
"""`failed`: also runs that met a limit; `slow`: the slowest tenth of the person's runs; `voted`: the best of a
comparison"""

Order = Literal["latest", "earliest", "slowest", "fastest", "most_tokens", "fewest_tokens"]

STATES: tuple[State, ...] = get_args(State)
ORDERS: tuple[Order, ...] = get_args(Order)
CAUSES: tuple[Cause, ...] = get_args(Cause)

SLOW = 10
"""one run in so many is slow"""

_runs = schema.runs.c

_ORDERS: dict[Order, tuple[Column[float] | Column[int], bool]] = {
    "latest": (_runs.started_at, True),
    "earliest": (_runs.started_at, False),
    "slowest": (_runs.seconds, True),
    "fastest": (_runs.seconds, False),
    "most_tokens": (_runs.tokens, True),
    "fewest_tokens": (_runs.tokens, False),
}
"""the column that is sorted by, and whether the highest comes first; runs with the same value are sorted by id"""

_WHY = func.coalesce(
    _runs.cause_by_person,
    case(
        (
            and_(_runs.cause == "none", _runs.feedback == -1, _runs.outcome.is_distinct_from("from_model")),
            "misread",
        ),
        else_=_runs.cause,
    ),
)
"""the same as `PastRun.why`"""


@dataclass(frozen=True)
class RunFilter:
    """A filter of runs; None or empty: any."""

    words: str = ""
    """all must be in the question, in any order and case"""
    state: State | None = None
    pipeline: str | None = None
    index: str | None = None
    why: Cause | None = None


class RunList:
    """The runs of one principal. Safe in any thread."""

    def __init__(self, database: Engine) -> None:
        self._database = database

    def page(self, filters: RunFilter, order: Order, *, first: int, count: int, principal: Principal) -> list[PastRun]:
        """`count` runs from `first` on (counted from 0). Sorted by seconds or tokens, runs in flight are last."""
        rows = select(schema.runs, _runs.index_name.label("index")).where(*self._conditions(filters, principal))
        with self._database.connect() as connection:
            found = connection.execute(rows.order_by(*_sorted(order)).offset(first).limit(count)).mappings().all()
        return [PastRun.model_validate(dict(row)) for row in found]

    def count(self, filters: RunFilter, *, principal: Principal) -> int:
        rows = select(func.count()).select_from(schema.runs).where(*self._conditions(filters, principal))
        with self._database.connect() as connection:
            return connection.execute(rows).scalar_one()

    def count_through(self, run_id: str, filters: RunFilter, order: Order, *, principal: Principal) -> int:
        """How many of the runs come before this one, with itself; 0 if there is no such run. A page that begins there
        repeats none, however many runs have come since.
        """
        with self._database.connect() as connection:
            named = select(schema.runs).where(_runs.id == run_id, is_owned_by(principal, _runs.person_id))
            last = connection.execute(named).one_or_none()
            if last is None:
                return 0
            before = [*self._conditions(filters, principal), _is_not_after(order, last)]
            return connection.execute(select(func.count()).select_from(schema.runs).where(*before)).scalar_one()

    def existing(self, run_ids: Collection[str], *, principal: Principal) -> set[str]:
        """The runs among them that still exist."""
        rows = select(_runs.id).where(_runs.id.in_(run_ids), is_owned_by(principal, _runs.person_id))
        with self._database.connect() as connection:
            return set(connection.execute(rows).scalars())

    def pipelines(self, *, principal: Principal) -> list[str]:
        """Pipelines that have runs, also pipelines that only another version knows."""
        return self._each(_runs.pipeline, principal)

    def indexes(self, *, principal: Principal) -> list[str]:
        """Indexes that have runs, also deleted ones."""
        return self._each(_runs.index_name, principal)

    def set_cause(self, run_id: str, cause: Cause | None) -> None:
        """Sets the cause by hand; it replaces the trace's. None takes it back. Raises NotSaved."""
        with schema.changing(self._database) as connection:
            connection.execute(schema.runs.update().where(_runs.id == run_id).values(cause_by_person=cause))

    def _conditions(self, filters: RunFilter, principal: Principal) -> list[ColumnElement[bool]]:
        conditions = [is_owned_by(principal, _runs.person_id)]
        conditions += [backend_of(self._database).holds(_runs.question, word) for word in filters.words.split()]
        if filters.state:
            conditions.append(_in_state(filters.state, principal))
        if filters.pipeline is not None:
            conditions.append(_runs.pipeline == filters.pipeline)
        if filters.index is not None:
            conditions.append(_runs.index_name == filters.index)
        if filters.why:
            conditions.append(literal(filters.why) == _WHY)
        return conditions

    def _each(self, column: ColumnElement[str], principal: Principal) -> list[str]:
        """Each value once, read step by step from the column's index: DISTINCT would read all runs."""
        least = select(func.min(column).label("value")).where(is_owned_by(principal, _runs.person_id))
        each = least.cte("each", recursive=True)
        following = least.where(column > each.c.value).correlate(each).scalar_subquery()
        each = each.union_all(select(following).where(each.c.value.is_not(None)))
        with self._database.connect() as connection:
            return list(connection.execute(select(each.c.value).where(each.c.value.is_not(None))).scalars())


def _sorted(order: Order) -> tuple[ColumnElement[Any], ...]:
    """With the id last: Postgres gives equal rows in another order for each page."""
    column, falls = _ORDERS[order]
    first, last = (column.desc(), _runs.id.desc()) if falls else (column.asc(), _runs.id.asc())
    return first.nulls_last() if column.nullable else first, last


def _is_not_after(order: Order, run: Row[Any]) -> ColumnElement[bool]:
    column, falls = _ORDERS[order]
    value = getattr(run, column.name)
    if value is None:
        is_before: ColumnElement[bool] = column.is_not(None)
    else:
        is_before = column > value if falls else column < value
    up_to = _runs.id >= run.id if falls else _runs.id <= run.id
    return or_(is_before, and_(column.is_not_distinct_from(value), up_to))


def _in_state(state: State, principal: Principal) -> ColumnElement[bool]:
    match state:
        case "unconfirmed":
            return _runs.outcome == "unconfirmed"
        case "no_answer":
            return _runs.outcome == "not_in_documents"
        case "thumb_down":
            return _runs.feedback == -1
        case "failed":
            return or_(_runs.status == "failed", _runs.status == "limited")
        case "slow":
            return _runs.seconds >= _slow_from(principal)
        case "voted":
            return _runs.id.in_(select(schema.comparisons.c.best_run_id).where(is_own_comparison(principal)))


def _slow_from(principal: Principal) -> ColumnElement[float]:
    """The seconds from which a run is in the slowest tenth of the person's runs."""
    known = (_runs.seconds.is_not(None), is_owned_by(principal, _runs.person_id))
    tenth = select((func.count() - 1) // SLOW).select_from(schema.runs).where(*known).scalar_subquery()
    return select(_runs.seconds).where(*known).order_by(_runs.seconds.desc()).offset(tenth).limit(1).scalar_subquery()
