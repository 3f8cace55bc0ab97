"""The full-text side of one index: which chunks hold a question's terms, best first by BM25.

SQLite's FTS5 keeps the postings. It does not rank: its own bm25() reads every posting of every term, over a second a
question at 100,000 chunks. Here the terms that tell most are looked up, as far as POSTINGS goes, and the chunks that
hold most of them are ranked by all terms.

The tables of an index, all within the catalogue's database and its transactions:

    <table>           FTS5: the terms of a chunk's title, headings and text
    <table>_chunks    whose they are, and how many
    <table>_terms     in how many chunks each term is
    <table>_totals    one row: how many chunks and terms there are
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel
from sqlalchemy import Connection, CursorResult

from index_store.base.batches import batches
from index_store.base.database import VARIABLES
from index_store.full_text.analysis import Analysis, Analyzer, Terms

POSTINGS = 5_000
"""looked at for a question over all documents; within some all of theirs are"""

CANDIDATES = 30
"""chunks that are ranked by all terms, unless more hits are wanted"""

PAIR_WEIGHT = 0.3
"""of a pair of characters, beside 1 of a word: docs/decisions/full-text.md, like the four below"""

COLUMN_WEIGHTS = (2.0, 2.0, 1.0)
"""what one occurrence counts in title, headings, text"""

K1, B = 0.6, 0.5
"""of BM25: how soon more occurrences add nothing, and how far length counts against a chunk"""

TERMS = 50
"""looked up in one statement; SQLite joins up to 500"""

_SIGNS = "!#$%&()*+,-./:;<=>?@[\\]^_`{|}~"
"""of ASCII, all that a term may have beside letters and digits: FTS5 would part it there"""

_PAIR = "="
"""before a pair, so that it is another term than the word of the same characters"""

_TOPIC = "^"
"""before a term of which a chunk has much: in its title or headings, or again and again. Of a common word only these
are worth looking up"""
TOPIC_COUNT = 3.0
"""from how many occurrences on, weighted by column"""


@dataclass(frozen=True, slots=True)
class ChunkTerms:
    """A chunk as it is kept here: its terms, parted by spaces."""

    chunk_id: str
    title: str
    headings: str
    text: str

    @classmethod
    def of(cls, analyzer: Analyzer, chunk_id: str, title: str, headings: Sequence[str], text: str) -> "ChunkTerms":
        """A millisecond for 300 characters of Japanese: best made before the transaction begins."""
        columns = [_terms(analyzer.terms(part)) for part in (title, "\n".join(headings), text)]
        counts = _counted(columns)
        topics = [_TOPIC + term for term, count in counts.items() if count >= TOPIC_COUNT and term[0] != _PAIR]
        columns[-1] += topics
        return cls(chunk_id, *(" ".join(column) for column in columns))

    @property
    def columns(self) -> tuple[str, str, str]:
        return self.title, self.headings, self.text

    @property
    def length(self) -> int:
        return sum(len(column.split()) for column in self.columns)


class WordCount(BaseModel, frozen=True):
    """Where a word of a question stands."""

    chunks: int
    """that hold it"""
    has_parts: bool
    """whether any two of its characters stand together somewhere: what is Japanese may be found by these alone"""


class BM25Index:
    """Tables of its own for each index: another's terms don't count in it, and nothing has to be filtered.

    Each method is part of the caller's transaction.
    """

    def __init__(self, table: str) -> None:
        """`table`: letters, digits and _ only."""
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", table):
            raise ValueError(f"not a name for a table: {table!r}")
        self._table = table

    def create(self, connection: Connection) -> None:
        _begin(connection)
        for statement in _TABLES:
            self._run(connection, statement)

    def exists(self, connection: Connection) -> bool:
        return self._run(connection, "SELECT 1 FROM sqlite_master WHERE name = '$t'").first() is not None

    def drop(self, connection: Connection) -> None:
        """If they are there."""
        _begin(connection)
        for table in ("$t", "$t_chunks", "$t_terms", "$t_totals"):
            self._run(connection, f"DROP TABLE IF EXISTS {table}")

    def put(self, connection: Connection, document_id: str, chunks: Iterable[ChunkTerms]) -> None:
        """Their chunk ids must be new here."""
        first = self._run(connection, "SELECT coalesce(max(row), 0) + 1 FROM $t_chunks").scalar_one()
        rows = list(enumerate(chunks, first))
        if not rows:
            return
        owners = [(row, chunk.chunk_id, document_id, chunk.length) for row, chunk in rows]
        self._run(connection, "INSERT INTO $t_chunks VALUES (?, ?, ?, ?)", owners)
        columns = [(row, *chunk.columns) for row, chunk in rows]
        self._run(connection, "INSERT INTO $t (rowid, title, headings, text) VALUES (?, ?, ?, ?)", columns)
        self._count(connection, (chunk.columns for _, chunk in rows), 1)

    def delete_document(self, connection: Connection, document_id: str) -> None:
        found = self._run(connection, "SELECT row FROM $t_chunks WHERE document_id = ?", (document_id,))
        self._delete(connection, found.scalars().all())

    def chunk_ids(self, connection: Connection) -> Iterator[str]:
        """Of all that is kept here."""
        yield from self._run(connection, "SELECT chunk_id FROM $t_chunks").scalars()

    def search(
        self, connection: Connection, analysis: Analysis, k: int, document_ids: Sequence[str] | None = None
    ) -> list[tuple[str, float]]:
        """Up to `k` chunk ids with their scores, best first; of these documents alone when they are given.

        A score is the share of the question that the chunk holds, above 0 and up to 1, rare terms counting most. Equal
        scores are in the order in which the chunks were put in.
        """
        _begin(connection)  # so that all that is read is of one moment, whoever writes meanwhile
        chunks, length = self._run(connection, "SELECT chunks, length FROM $t_totals").one()
        allowed = None if document_ids is None else self._rows_of(connection, document_ids)
        weights = dict.fromkeys(analysis.kept, 1.0)
        weights |= dict.fromkeys((_PAIR + pair for pair in analysis.pairs), PAIR_WEIGHT)
        asked = [*weights, *(_TOPIC + word for word in analysis.kept)]
        known = dict(self._in(connection, "SELECT term, chunks FROM $t_terms WHERE term IN", asked))
        if not known or (allowed is not None and not len(allowed)):
            return []
        worth = {term: weight * _rarity(known.get(term, 0), chunks) for term, weight in weights.items()}
        rows = self._candidates(connection, worth, known, allowed, max(k, CANDIDATES))
        scored = sorted(self._scored(connection, rows, worth, length / chunks), key=lambda each: (-each[0], each[1]))
        return [(chunk_id, score) for score, _, chunk_id in scored[:k]]

    def count(
        self, connection: Connection, words: Mapping[str, Collection[str]], document_ids: Sequence[str] | None = None
    ) -> dict[str, WordCount]:
        """By term, exactly; in these documents alone when they are given. `words`: terms, each with its pairs."""
        _begin(connection)
        asked = {*words, *(_PAIR + pair for pairs in words.values() for pair in pairs)}
        held = dict(self._in(connection, "SELECT term, chunks FROM $t_terms WHERE term IN", list(asked)))
        if document_ids is not None:
            allowed = self._rows_of(connection, document_ids)
            postings = self._postings(connection, list(held), _span(allowed)) if len(allowed) else ()
            held = {term: int(np.isin(rows, allowed, assume_unique=True).sum()) for term, rows in postings}
        return {
            term: WordCount(chunks=held.get(term, 0), has_parts=any(held.get(_PAIR + pair) for pair in pairs))
            for term, pairs in words.items()
        }

    def rarities(self, connection: Connection, terms: Collection[str]) -> dict[str, float]:
        """By term, what it weighs in a search: the fewer chunks hold it, the more. Those that none holds are left out,
        but for their weight as the term "".
        """
        _begin(connection)
        chunks = self._run(connection, "SELECT chunks FROM $t_totals").scalar_one()
        held = self._in(connection, "SELECT term, chunks FROM $t_terms WHERE term IN", list(terms))
        return {"": _rarity(0, chunks)} | {term: _rarity(count, chunks) for term, count in held}

    def _candidates(
        self,
        connection: Connection,
        worth: Mapping[str, float],
        known: Mapping[str, int],
        allowed: NDArray[np.int64] | None,
        count: int,
    ) -> list[int]:
        """The `count` rows that hold what is worth most. `known`: in how many chunks each term is."""
        chosen: list[str] = []
        beyond: list[str] = []
        left = POSTINGS
        for term in sorted(known, key=lambda term: (-worth[term.removeprefix(_TOPIC)], -len(term), term)):
            # Within some documents only their rows are looked at.
            is_within = allowed is not None or known[term] <= left
            left -= known[term] if is_within else 0
            (chosen if is_within else beyond).append(term)
        once, often = _saturated(1, K1), _saturated(TOPIC_COUNT, K1)
        gains = {term: each * once for term, each in worth.items()}
        gains |= {_TOPIC + term: each * often - (0 if term in beyond else gains[term]) for term, each in worth.items()}
        rows, gain = self._gained(connection, gains, chosen, allowed)
        if len(rows) < count and beyond:
            # Few hold a rare word: of those that hold the best common one, the first are as good as any.
            rows, gain = self._gained(connection, gains, [*chosen, beyond[0]], allowed)
        if len(rows) > count:  # sorting some is faster than sorting all
            is_near = gain >= np.partition(gain, -count)[-count]
            rows, gain = rows[is_near], gain[is_near]
        best: list[int] = rows[np.argsort(-gain, kind="stable")[:count]].tolist()
        return best

    def _gained(
        self,
        connection: Connection,
        gains: Mapping[str, float],
        terms: Sequence[str],
        allowed: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Rows that hold any of the terms, and what each gains by all it holds."""
        span = (0, 2**62, POSTINGS) if allowed is None else _span(allowed)
        rows, gained = [np.empty(0, np.int64)], [np.empty(0)]
        for term, found in self._postings(connection, terms, span):
            rows.append(found)
            gained.append(np.full(len(found), gains[term]))
        each, position = np.unique(np.concatenate(rows), return_inverse=True)
        gain = np.bincount(position, weights=np.concatenate(gained), minlength=len(each)).astype(np.float64, copy=False)
        if allowed is None:
            return each, gain
        is_allowed = np.isin(each, allowed, assume_unique=True)
        return each[is_allowed], gain[is_allowed]

    def _postings(
        self, connection: Connection, terms: Sequence[str], span: tuple[int, int, int]
    ) -> Iterator[tuple[str, NDArray[np.int64]]]:
        """Each term that is there with its rows. `span`: the first and the last of them, and how many at most."""
        for i in range(0, len(terms), TERMS):
            some = terms[i : i + TERMS]
            # Between quotes nothing is FTS5's syntax; analysis.py takes quotes out of terms.
            values = tuple(value for term in some for value in (term, f'"{term}"', *span))
            for term, found in self._run(connection, " UNION ALL ".join([_POSTINGS_OF] * len(some)), values):
                if found:
                    yield term, np.fromstring(found, dtype=np.int64, sep=",")

    def _scored(
        self, connection: Connection, rows: Sequence[int], worth: Mapping[str, float], mean_length: float
    ) -> Iterator[tuple[float, int, str]]:
        """Score, row and chunk id."""
        whole = sum(worth.values())
        for row, chunk_id, length, *columns in self._in(connection, _RANKED, rows):
            counts = _counted(filter(worth.__contains__, column.split()) for column in columns)
            norm = K1 * (1 - B + B * length / mean_length)
            # Six places: the order in which floats are added must not decide.
            score = sum(worth[term] * _saturated(count, norm) for term, count in counts.items()) / whole
            yield round(score, 6), row, chunk_id

    def _rows_of(self, connection: Connection, document_ids: Sequence[str]) -> NDArray[np.int64]:
        found = self._in(connection, "SELECT row FROM $t_chunks WHERE document_id IN", document_ids)
        return np.sort(np.array([row for (row,) in found], dtype=np.int64))

    def _delete(self, connection: Connection, rows: Sequence[int]) -> None:
        columns = self._in(connection, "SELECT title, headings, text FROM $t WHERE rowid IN", rows)
        self._count(connection, columns, -1)
        if rows:
            values = [(row,) for row in rows]
            self._run(connection, "DELETE FROM $t WHERE rowid = ?", values)
            self._run(connection, "DELETE FROM $t_chunks WHERE row = ?", values)

    def _count(self, connection: Connection, chunks: Iterable[Sequence[str]], sign: int) -> None:
        """Adds these chunks to what is counted, or takes them away."""
        counts: Counter[str] = Counter()
        total = length = 0
        for columns in chunks:
            terms = [term for column in columns for term in column.split()]
            counts.update(set(terms))
            total += 1
            length += len(terms)
        totals = (sign * total, sign * length)
        self._run(connection, "UPDATE $t_totals SET chunks = chunks + ?, length = length + ?", totals)
        if counts:
            self._run(connection, _COUNT_TERM, [(term, sign * count) for term, count in counts.items()])
        if counts and sign < 0:
            gone = [(term,) for term in counts]
            self._run(connection, "DELETE FROM $t_terms WHERE term = ? AND chunks = 0", gone)

    def _in(self, connection: Connection, statement: str, values: Sequence[Any]) -> Iterator[Any]:
        """Rows of `statement`, which ends in IN, for however many values."""
        for some in batches(values, VARIABLES):
            yield from self._run(connection, f"{statement} ({', '.join('?' * len(some))})", tuple(some)).all()

    def _run(self, connection: Connection, statement: str, values: Any = None) -> CursorResult[*tuple[Any, ...]]:
        """`$t` stands for the name of the table, which can't be a parameter."""
        return connection.exec_driver_sql(statement.replace("$t", self._table), values)


_TABLES = (
    # detail = none: only which chunks. Where and how often is counted in those that are ranked.
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
    "SELECT row, chunk_id, length, $t.title, $t.headings, $t.text FROM $t_chunks JOIN $t ON $t.rowid = row WHERE row IN"
)
_COUNT_TERM = "INSERT INTO $t_terms VALUES (?, ?) ON CONFLICT (term) DO UPDATE SET chunks = chunks + excluded.chunks"


def _begin(connection: Connection) -> None:
    """Python's sqlite3 begins a transaction at the first change of rows, not at CREATE, DROP or SELECT."""
    driver = connection.connection.dbapi_connection
    if isinstance(driver, sqlite3.Connection) and not driver.in_transaction:
        connection.exec_driver_sql("BEGIN")


def _terms(terms: Terms) -> list[str]:
    return [*(term.text for term in terms.words), *(_PAIR + term.text for term in terms.pairs)]


def _counted(columns: Iterable[Iterable[str]]) -> dict[str, float]:
    """How often each term occurs, weighted by column."""
    counts: dict[str, float] = {}
    for terms, weight in zip(columns, COLUMN_WEIGHTS, strict=True):
        for term in terms:
            counts[term] = counts.get(term, 0.0) + weight
    return counts


def _span(allowed: NDArray[np.int64]) -> tuple[int, int, int]:
    """All rows from the first of these to the last; -1 is SQLite's word for no limit."""
    return int(allowed[0]), int(allowed[-1]), -1


def _saturated(count: float, norm: float) -> float:
    return count / (count + norm)


def _rarity(count: int, chunks: int) -> float:
    """The weight of a term that is in `count` of all chunks: BM25's idf, as Lucene has it, above 0."""
    return log(1 + (chunks - count + 0.5) / (count + 0.5))
