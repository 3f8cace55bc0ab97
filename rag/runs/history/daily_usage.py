"""Usage per person and day, stored apart from the runs: deleting runs does not give tokens back."""

from datetime import date, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, Engine, case, func, select

from index_store.base.database.database import backend_of
from rag.runs.history import schema

KEPT_DAYS = 31
"""today is one of them"""


def today() -> date:
    """The day where the app runs; it begins at local midnight."""
    return datetime.now().astimezone().date()


def _first_day() -> date:
    return today() - timedelta(days=KEPT_DAYS - 1)


class PersonUsage(NamedTuple):
    person_id: str
    """LOCAL's id for the local person"""
    runs_today: int
    tokens_today: int
    runs: int
    """in the last KEPT_DAYS days"""
    tokens: int


class DailyUsage:
    """Safe in any thread. Raises NotSaved if it can't save."""

    def __init__(self, database: Engine) -> None:
        """`database`: the history opens and closes it."""
        self._database = database

    def add(self, person_id: str, day: date, *, tokens: int, runs: int = 1) -> None:
        """Adds one run with its tokens, or (`runs=0`) tokens of a run that is in flight or suggests questions."""
        row = {"person_id": person_id, "day": day.isoformat(), "runs": runs, "tokens": tokens}
        with schema.changing(self._database) as connection:
            backend_of(connection).add(connection, schema.used, row, ("runs", "tokens"))

    def tokens(self, person_id: str, day: date) -> int:
        this = (schema.used.c.person_id == person_id, schema.used.c.day == day.isoformat())
        with self._database.connect() as connection:
            return connection.execute(select(schema.used.c.tokens).where(*this)).scalar() or 0

    def of(self, person_id: str) -> PersonUsage:
        return next(iter(self._by_person(schema.used.c.person_id == person_id)), PersonUsage(person_id, 0, 0, 0, 0))

    def by_person(self) -> list[PersonUsage]:
        """The people with the most tokens first."""
        return self._by_person()

    def _by_person(self, *conditions: ColumnElement[bool]) -> list[PersonUsage]:
        used, is_today = schema.used.c, schema.used.c.day == today().isoformat()
        columns = [func.sum(case((is_today, column), else_=0)) for column in (used.runs, used.tokens)]
        columns += [func.sum(used.runs), func.sum(used.tokens)]
        rows = select(used.person_id, *columns).group_by(used.person_id).order_by(func.sum(used.tokens).desc())
        kept = rows.where(used.day >= _first_day().isoformat(), *conditions)
        with self._database.connect() as connection:
            return [PersonUsage(*row) for row in connection.execute(kept)]

    def forget(self, *person_ids: str, before: date | None = None) -> None:
        """Deletes usage before that day (None: before today). `person_ids`: only of these people, else of all."""
        these = schema.used.c.day < (before or today()).isoformat()
        if person_ids:
            these &= schema.used.c.person_id.in_(person_ids)
        with schema.changing(self._database) as connection:
            connection.execute(schema.used.delete().where(these))

    def sweep(self) -> None:
        self.forget(before=_first_day())
