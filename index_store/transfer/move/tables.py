"""Makes the rows of a database equal to those of another one: table by table, in batches.

First, the target loses rows that the origin does not have, or has with other values in columns that are unique. Then
each batch of the origin is looked up in the target by its keys; rows that are missing or differ there are put.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    RowMapping,
    Table,
    UniqueConstraint,
    delete,
    func,
    select,
    tuple_,
)

from index_store.base.batches import batches
from index_store.base.database.backend import DatabaseLocation
from index_store.base.database.database import VARIABLES, Schema, backend_of, open_database, refuse_newer
from index_store.transfer.move.errors import CountsDiffer

ProgressCallback = Callable[[str, int, int], None]
"""called with the name of what is being moved, how many of it are done, and how many there are"""

Rows = Sequence[dict[str, Any]]


class Tables:
    """A database with the same tables in both backends. See MovableDatabase."""

    def __init__(self, name: str, schema: Schema) -> None:
        self.name = name
        self.schema = schema

    def refuse_newer(self, place: DatabaseLocation) -> None:
        refuse_newer(place, self.schema)

    def make(self, place: DatabaseLocation) -> None:
        open_database(place, self.schema).dispose()

    def copy(self, origin: DatabaseLocation, target: DatabaseLocation, on_progress: ProgressCallback) -> None:
        with reading(origin) as read, writing(target) as write:
            copy_tables(read, write, self.schema.tables, self.name, on_progress)


@contextmanager
def reading(place: DatabaseLocation) -> Iterator[Connection]:
    """Everything is read at one moment."""
    engine = place.for_migration()
    try:
        with engine.connect() as connection:
            backend_of(connection).begin_reading(connection)
            yield connection
    finally:
        engine.dispose()


@contextmanager
def writing(place: DatabaseLocation) -> Iterator[Connection]:
    """The caller commits each batch."""
    engine: Engine = place.connect()
    try:
        with engine.connect() as connection:
            backend_of(connection).ignore_references(connection)
            yield connection
    finally:
        engine.dispose()


def copy_tables(
    origin: Connection, target: Connection, tables: MetaData, name: str, on_progress: ProgressCallback
) -> None:
    """Raises CountsDiffer, SQLAlchemyError."""
    # Before any row is put: a name may now belong to another row, and rows of other tables may go with a removed row.
    for table in tables.sorted_tables:
        _remove_others(origin, target, table)
    for table in tables.sorted_tables:
        _copy(origin, target, table, name, on_progress)
    for table in tables.sorted_tables:
        if _later(table):
            _copy(origin, target, table, name, on_progress, whole=True)
    for table in tables.sorted_tables:
        backend_of(target).go_on_numbering(target, table)
        target.commit()
        there, wanted = _count(target, table), _count(origin, table)
        if there != wanted:
            raise CountsDiffer(what=f"{name}.{table.name}", wanted=wanted, there=there)


def _later(table: Table) -> set[str]:
    """Columns that refer to rows written later: of a table that refers to this one, or of the table itself."""
    return {
        element.parent.name
        for key in table.foreign_key_constraints
        for element in key.elements
        if key.use_alter or element.column.table is table
    }


def _copy(
    origin: Connection,
    target: Connection,
    table: Table,
    name: str,
    on_progress: ProgressCallback,
    *,
    whole: bool = False,
) -> None:
    """`whole`: includes the columns of `_later`."""
    later = set() if whole else _later(table)
    columns = [column for column in table.columns if column.name not in later]
    key = list(table.primary_key.columns)
    what, wanted, done = f"{name}.{table.name}", _count(origin, table), 0
    is_empty = not _count(target, table)
    size = VARIABLES // len(key)
    found = origin.execute(select(*columns), execution_options={"yield_per": size}).mappings()
    for some in found.partitions():
        rows = [_fit(row, target) for row in some]
        there = {} if is_empty else _there(target, columns, key, rows)
        if new := [row for row in rows if there.get(_key(row, key)) != row]:
            backend_of(target).put(target, table, new)
            target.commit()
        done += len(rows)
        on_progress(what, done, wanted)
    if not wanted:
        on_progress(what, 0, 0)


def _fit(row: RowMapping | dict[str, Any], target: Connection) -> dict[str, Any]:
    """The row as the target will return it."""
    stored = backend_of(target).stored
    return {name: stored(value) if isinstance(value, str) else value for name, value in row.items()}


def _there(
    connection: Connection, columns: Sequence[Column[Any]], key: Sequence[Column[Any]], rows: Rows
) -> dict[Any, Any]:
    found = connection.execute(select(*columns).where(_is_among(key, rows))).mappings()
    return {_key(row, key): dict(row) for row in found}


def _remove_others(origin: Connection, target: Connection, table: Table) -> None:
    key = list(table.primary_key.columns)
    unique = [column for each in table.constraints if isinstance(each, UniqueConstraint) for column in each.columns]
    columns = [*key, *unique]
    others: list[dict[str, Any]] = []
    found = target.execute(select(*columns), execution_options={"yield_per": VARIABLES // len(key)}).mappings()
    for part in found.partitions():
        rows = [dict(row) for row in part]
        known = _there(origin, columns, key, rows)
        others += [row for row in rows if _fit(known.get(_key(row, key), {}), target) != row]
    for some in batches(others, VARIABLES // len(key)):
        target.execute(delete(table).where(_is_among(key, some)))
    target.commit()


def _is_among(key: Sequence[Column[Any]], rows: Rows) -> Any:
    if len(key) == 1:
        return key[0].in_([row[key[0].name] for row in rows])
    return tuple_(*key).in_([_key(row, key) for row in rows])


def _key(row: Any, key: Sequence[Column[Any]]) -> tuple[Any, ...]:
    return tuple(row[column.name] for column in key)


def _count(connection: Connection, table: Table) -> int:
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one())
