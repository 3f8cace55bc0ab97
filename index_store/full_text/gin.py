"""Postings in Postgres: an inverted index (GIN) over each chunk's terms, which are in its row of <table>_chunks.

Why not a table of postings, or a text search configuration: docs/decisions/data/growing.md
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, CursorResult
from sqlalchemy.exc import ProgrammingError

from index_store.full_text.postings import ChunkRow, Postings, RankedChunk, Span


class GIN(Postings):
    def create(self, connection: Connection) -> None:
        for statement in _TABLES:
            self._run(connection, statement)

    def defer(self, connection: Connection) -> None:
        self._run(connection, "DROP INDEX IF EXISTS $t_held")

    def settle(self, connection: Connection) -> None:
        self._run(connection, "SET LOCAL maintenance_work_mem = '256MB'")
        self._run(connection, _INDEX)

    def exists(self, connection: Connection) -> bool:
        if self._run(connection, "SELECT to_regclass('$t_chunks')").scalar() is None:
            return False
        try:
            # The lock lasts until the transaction ends. It takes the order of `drop`: another order could deadlock.
            self._run(connection, f"LOCK TABLE {', '.join(_DROPPED)} IN ACCESS SHARE MODE")
        except ProgrammingError:  # it was dropped a moment ago
            return False
        return True

    def drop(self, connection: Connection) -> None:
        for table in _DROPPED:
            self._run(connection, f"DROP TABLE IF EXISTS {table}")

    def hold_exclusively(self, connection: Connection) -> None:
        self._run(connection, "SELECT FROM $t_totals FOR UPDATE")

    def put(self, connection: Connection, chunks: Sequence[ChunkRow]) -> None:
        values = [(each.row, each.chunk_id, each.document_id, each.length, *each.columns) for each in chunks]
        self._run(connection, "INSERT INTO $t_chunks VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def columns(self, connection: Connection, rows: Sequence[int]) -> Iterator[Sequence[str]]:
        yield from self._run(
            connection, "SELECT title, headings, text FROM $t_chunks WHERE row = ANY (?)", (list(rows),)
        )

    def delete(self, connection: Connection, rows: Sequence[int]) -> None:
        self._run(connection, "DELETE FROM $t_chunks WHERE row = ANY (?)", (list(rows),))

    def add_counts(self, connection: Connection, counts: Mapping[str, int]) -> None:
        terms = list(counts)
        self._run(connection, _COUNT_TERMS, (terms, list(counts.values())))
        gone = [term for term, count in counts.items() if count < 0]
        if gone:
            self._run(connection, "DELETE FROM $t_terms WHERE term = ANY (?) AND chunks = 0", (gone,))

    def of(self, connection: Connection, terms: Sequence[str], span: Span) -> Iterator[tuple[str, NDArray[np.int64]]]:
        connection.exec_driver_sql(_PLANNED)
        for term, found in self._run(connection, _POSTINGS_OF, (list(terms), *span)):
            if found:
                yield term, np.array(found, dtype=np.int64)

    def ranked(self, connection: Connection, rows: Sequence[int]) -> Iterator[RankedChunk]:
        for row, chunk_id, length, *columns in self._run(connection, _RANKED, (list(rows),)):
            yield RankedChunk(row, chunk_id, length, tuple(columns))

    def chunk_rows(self, connection: Connection, after: int, most: int) -> list[ChunkRow]:
        found = self._run(connection, _CHUNK_ROWS, (after, most))
        return [
            ChunkRow(row, id_, document_id, length, tuple(terms)) for row, id_, document_id, length, *terms in found
        ]

    def _run(self, connection: Connection, statement: str, values: Any = None) -> CursorResult[*tuple[Any, ...]]:
        return super()._run(connection, statement.replace("?", "%s"), values)


_DROPPED = ("$t_chunks", "$t_terms", "$t_totals")
"""the order in which tables are dropped"""

_HELD = """string_to_array((title || ' ' || headings || ' ' || text) COLLATE "C", ' ')"""

_INDEX = f"CREATE INDEX IF NOT EXISTS $t_held ON $t_chunks USING gin (({_HELD})) WITH (fastupdate = off)"

_TABLES = (
    # Terms are stored out of line (TOAST). Rows stay short, a hundred per page, so checking a posting is fast.
    'CREATE TABLE $t_chunks ("row" bigint PRIMARY KEY, chunk_id text COLLATE "C" NOT NULL UNIQUE, '
    'document_id text COLLATE "C" NOT NULL, length integer NOT NULL, '
    "title text NOT NULL, headings text NOT NULL, text text NOT NULL) WITH (toast_tuple_target = 128)",
    "CREATE INDEX $t_documents ON $t_chunks (document_id)",
    _INDEX,
    'CREATE TABLE $t_terms (term text COLLATE "C" PRIMARY KEY, chunks integer NOT NULL)',
    "CREATE TABLE $t_totals (chunks bigint NOT NULL, length bigint NOT NULL)",
    "INSERT INTO $t_totals VALUES (0, 0)",
)
_PLANNED = """
    SELECT set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true),
        set_config('work_mem', '64MB', true)
"""
"""Without these settings, the planner would read a whole table that has grown since it was last analysed. 64 MB hold
the places of any word in 30 million chunks; with less, Postgres would search the text of each chunk.
"""

# Without ORDER BY, so that it stops at the limit. The bitmap gives rows in the order on disk, which is the order of
# arrival, except rows that took the space of deleted ones.
# + 0 keeps the planner from the index on the key, which would read all rows.
_POSTINGS_OF = """
    WITH span AS (SELECT ?::text[] AS terms, ?::bigint AS first, ?::bigint AS last, ?::bigint AS most)
    SELECT term, (
        SELECT array_agg(found.row) FROM (
            SELECT chunks.row FROM $t_chunks chunks
            WHERE $held @> ARRAY[term] AND chunks.row + 0 BETWEEN span.first AND span.last
            LIMIT span.most
        ) found
    ) FROM span, unnest(terms) AS term
""".replace("$held", _HELD)
_RANKED = "SELECT row, chunk_id, length, title, headings, text FROM $t_chunks WHERE row = ANY (?)"
_CHUNK_ROWS = (
    "SELECT row, chunk_id, document_id, length, title, headings, text FROM $t_chunks WHERE row > ? ORDER BY row LIMIT ?"
)
_COUNT_TERMS = """
    INSERT INTO $t_terms SELECT * FROM unnest(?::text[], ?::integer[]) AS counted (term, chunks)
    ORDER BY term COLLATE "C"
    ON CONFLICT (term) DO UPDATE SET chunks = $t_terms.chunks + excluded.chunks
"""
