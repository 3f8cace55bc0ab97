"""The interface of postings in SQL (which chunks contain which terms), for fts5.py and gin.py.

The tables of an index, all within the catalogue's database and its transactions:
    <table>_chunks    the chunks: their documents and lengths
    <table>_terms     how many chunks hold each term
    <table>_totals    one row: the numbers of chunks and of terms
and the terms of each chunk, in three columns: title, headings, text.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, CursorResult

from index_store.base.batches import batches
from index_store.base.database.database import VARIABLES


class Span(NamedTuple):
    """A range of rows to read."""

    first: int = 0
    last: int = 2**62
    most: int | None = None
    """the largest number of rows per term, the earliest ones where this costs nothing extra; None: all"""


class ChunkRow(NamedTuple):
    row: int
    chunk_id: str
    document_id: str
    length: int
    """in terms"""
    columns: tuple[str, str, str]
    """terms, separated by spaces"""


class RankedChunk(NamedTuple):
    """A chunk with the numbers that BM25 needs."""

    row: int
    chunk_id: str
    length: int
    columns: tuple[str, str, str]


class Postings(ABC):
    """Each method is part of the caller's transaction."""

    def __init__(self, table: str) -> None:
        """`table`: letters, digits and _ only."""
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", table):
            raise ValueError(f"not a name for a table: {table!r}")
        self._table = table

    @abstractmethod
    def create(self, connection: Connection) -> None: ...

    @abstractmethod
    def defer(self, connection: Connection) -> None:
        """Called before very many chunks are put. Searches may find them only after `settle`."""

    @abstractmethod
    def settle(self, connection: Connection) -> None:
        """Ends what `defer` began: makes the new chunks searchable."""

    @abstractmethod
    def exists(self, connection: Connection) -> bool: ...

    @abstractmethod
    def drop(self, connection: Connection) -> None:
        """Drops the tables, if they exist."""

    @abstractmethod
    def hold_exclusively(self, connection: Connection) -> None:
        """Keeps other transactions from changing these postings until this one ends."""

    @abstractmethod
    def put(self, connection: Connection, chunks: Sequence[ChunkRow]) -> None:
        """Adds chunks. Raises an IntegrityError if one of their ids is already here."""

    @abstractmethod
    def columns(self, connection: Connection, rows: Sequence[int]) -> Iterator[Sequence[str]]:
        """The terms of these chunks, in any order."""

    @abstractmethod
    def delete(self, connection: Connection, rows: Sequence[int]) -> None: ...

    @abstractmethod
    def add_counts(self, connection: Connection, counts: Mapping[str, int]) -> None:
        """Adds to the number of chunks of each term. A term that no chunk holds any more is deleted."""

    @abstractmethod
    def of(self, connection: Connection, terms: Sequence[str], span: Span) -> Iterator[tuple[str, NDArray[np.int64]]]:
        """Yields each known term with the rows that hold it."""

    @abstractmethod
    def ranked(self, connection: Connection, rows: Sequence[int]) -> Iterator[RankedChunk]:
        """The chunks of these rows, in any order."""

    @abstractmethod
    def chunk_rows(self, connection: Connection, after: int, most: int) -> list[ChunkRow]:
        """Up to `most` rows after row `after`, in order."""

    def next_row(self, connection: Connection) -> int:
        return int(self._run(connection, "SELECT coalesce(max(row), 0) + 1 FROM $t_chunks").scalar_one())

    def totals(self, connection: Connection) -> tuple[int, int]:
        """The numbers of chunks and of terms."""
        chunks, length = self._run(connection, "SELECT chunks, length FROM $t_totals").one()
        return chunks, length

    def add_totals(self, connection: Connection, chunks: int, length: int) -> None:
        self._run(connection, "UPDATE $t_totals SET chunks = chunks + ?, length = length + ?", (chunks, length))

    def known(self, connection: Connection, terms: Sequence[str]) -> dict[str, int]:
        """How many chunks hold each term; unknown terms are left out."""
        return dict(self._in(connection, "SELECT term, chunks FROM $t_terms WHERE term", terms))

    def rows_of(self, connection: Connection, document_ids: Sequence[str]) -> NDArray[np.int64]:
        """The rows of these documents, in order."""
        found = self._in(connection, "SELECT row FROM $t_chunks WHERE document_id", document_ids)
        return np.sort(np.array([row for (row,) in found], dtype=np.int64))

    def chunk_ids(self, connection: Connection) -> Iterator[str]:
        yield from self._run(connection, "SELECT chunk_id FROM $t_chunks").scalars()

    def _in(self, connection: Connection, statement: str, values: Sequence[Any]) -> Iterator[Any]:
        """Rows of `statement`, which ends just before IN, for any number of values."""
        for some in batches(values, VARIABLES):
            yield from self._run(connection, f"{statement} IN ({', '.join('?' * len(some))})", tuple(some)).all()

    def _run(self, connection: Connection, statement: str, values: Any = None) -> CursorResult[*tuple[Any, ...]]:
        """Runs a statement. `$t` stands for the table's name, which can't be a parameter; ? stands for a parameter."""
        return connection.exec_driver_sql(statement.replace("$t", self._table), values)
