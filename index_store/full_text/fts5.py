"""Postings in SQLite's FTS5, in a table with the index's own name."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from index_store.base.database.database import backend_of
from index_store.full_text.postings import ChunkRow, Postings, RankedChunk, Span

TERMS = 50
"""looked up in one statement; SQLite joins up to 500"""

_SIGNS = "!#$%&()*+,-./:;<=>?@[\\]^_`{|}~"
"""the ASCII signs that a term may have besides letters and digits: without this setting, FTS5 would split it there"""

_NO_LIMIT = -1


class FTS5(Postings):
    def create(self, connection: Connection) -> None:
        backend_of(connection).begin_reading(connection)
        for statement in _TABLES:
            self._run(connection, statement)

    def defer(self, connection: Connection) -> None:
        """Does nothing: FTS5 collects new postings itself."""

    def settle(self, connection: Connection) -> None:
        """Does nothing."""

    def exists(self, connection: Connection) -> bool:
        return self._run(connection, "SELECT 1 FROM sqlite_master WHERE name = '$t'").first() is not None

    def drop(self, connection: Connection) -> None:
        backend_of(connection).begin_reading(connection)
        for table in ("$t", "$t_chunks", "$t_terms", "$t_totals"):
            self._run(connection, f"DROP TABLE IF EXISTS {table}")

    def hold_exclusively(self, connection: Connection) -> None:
        """Does nothing: in SQLite, the first write locks the whole database."""

    def put(self, connection: Connection, chunks: Sequence[ChunkRow]) -> None:
        owners = [(each.row, each.chunk_id, each.document_id, each.length) for each in chunks]
        self._run(connection, "INSERT INTO $t_chunks VALUES (?, ?, ?, ?)", owners)
        columns = [(each.row, *each.columns) for each in chunks]
        self._run(connection, "INSERT INTO $t (rowid, title, headings, text) VALUES (?, ?, ?, ?)", columns)

    def columns(self, connection: Connection, rows: Sequence[int]) -> Iterator[Sequence[str]]:
        return self._in(connection, "SELECT title, headings, text FROM $t WHERE rowid", rows)

    def delete(self, connection: Connection, rows: Sequence[int]) -> None:
        values = [(row,) for row in rows]
        self._run(connection, "DELETE FROM $t WHERE rowid = ?", values)
        self._run(connection, "DELETE FROM $t_chunks WHERE row = ?", values)

    def add_counts(self, connection: Connection, counts: Mapping[str, int]) -> None:
        self._run(connection, _COUNT_TERM, list(counts.items()))
        gone = [(term,) for term, count in counts.items() if count < 0]
        if gone:
            self._run(connection, "DELETE FROM $t_terms WHERE term = ? AND chunks = 0", gone)

    def of(self, connection: Connection, terms: Sequence[str], span: Span) -> Iterator[tuple[str, NDArray[np.int64]]]:
        bounds = (span.first, span.last, _NO_LIMIT if span.most is None else span.most)
        for i in range(0, len(terms), TERMS):
            some = terms[i : i + TERMS]
            # FTS5 reads no syntax between quotes; analysis.py removes quotes from terms.
            values = tuple(value for term in some for value in (term, f'"{term}"', *bounds))
            for term, found in self._run(connection, " UNION ALL ".join([_POSTINGS_OF] * len(some)), values):
                if found:
                    yield term, np.fromstring(found, dtype=np.int64, sep=",")

    def ranked(self, connection: Connection, rows: Sequence[int]) -> Iterator[RankedChunk]:
        for row, chunk_id, length, *columns in self._in(connection, _RANKED, rows):
            yield RankedChunk(row, chunk_id, length, tuple(columns))

    def chunk_rows(self, connection: Connection, after: int, most: int) -> list[ChunkRow]:
        found = self._run(connection, _CHUNK_ROWS, (after, most))
        return [
            ChunkRow(row, id_, document_id, length, tuple(terms)) for row, id_, document_id, length, *terms in found
        ]


_TABLES = (
    # detail = none stores only which chunks hold a term. Places and counts are found in the chunks that are ranked.
    "CREATE VIRTUAL TABLE $t USING fts5(title, headings, text, detail = none, columnsize = 0, "
    f"""tokenize = "ascii tokenchars '{_SIGNS}'")""",
    "CREATE TABLE $t_chunks (row INTEGER PRIMARY KEY, chunk_id TEXT NOT NULL UNIQUE, document_id TEXT NOT NULL, "
    "length INTEGER NOT NULL)",
    "CREATE INDEX $t_documents ON $t_chunks (document_id)",
    "CREATE TABLE $t_terms (term TEXT PRIMARY KEY, chunks INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE $t_totals (chunks INTEGER NOT NULL, length INTEGER NOT NULL)",
    "INSERT INTO $t_totals VALUES (0, 0)",
)
_POSTINGS_OF = (
    "SELECT ?, group_concat(rowid) FROM (SELECT rowid FROM $t WHERE $t MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?)"
)
_RANKED = (
    "SELECT row, chunk_id, length, $t.title, $t.headings, $t.text FROM $t_chunks JOIN $t ON $t.rowid = row WHERE row"
)
_CHUNK_ROWS = (
    "SELECT row, chunk_id, document_id, length, $t.title, $t.headings, $t.text "
    "FROM $t_chunks JOIN $t ON $t.rowid = row WHERE row > ? ORDER BY row LIMIT ?"
)
_COUNT_TERM = "INSERT INTO $t_terms VALUES (?, ?) ON CONFLICT (term) DO UPDATE SET chunks = chunks + excluded.chunks"
