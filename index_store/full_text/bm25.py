"""The full text of one index: finds the chunks that contain a question's terms and ranks them by BM25.

The database keeps the postings (postings.py: FTS5 in SQLite, GIN in Postgres). It does not rank: FTS5's own bm25()
reads every posting of every term, which takes more than a second per question at 100,000 chunks; Postgres has none.
This module looks up the terms with the most weight, up to POSTINGS postings. It takes the chunks that hold most of
this weight and ranks them by all terms. Both databases give the same result.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from math import log
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel
from sqlalchemy import Connection

from index_store.base.database.database import backend_of
from index_store.full_text.analysis import Analysis, Analyzer, Terms
from index_store.full_text.fts5 import FTS5
from index_store.full_text.gin import GIN
from index_store.full_text.postings import ChunkRow, Postings, Span

POSTINGS = 5_000
"""read for a question over all documents; a search within some documents reads all of theirs"""

CANDIDATES = 30
"""chunks that are ranked by all terms, unless more hits are wanted"""

PAIR_WEIGHT = 0.3
"""of a pair of characters, when a word weighs 1; this and the five values below: docs/decisions/search/full-text.md"""

PARTS_WEIGHT = 0.7
"""of all parts of a word with hyphens, when the word itself weighs 1: in a chunk they may stand anywhere"""

COLUMN_WEIGHTS = (2.0, 2.0, 1.0)
"""the weight of one occurrence in title, headings, text"""

K1, B = 0.6, 0.5
"""of BM25: K1, how soon more occurrences add nothing; B, how much a chunk's length counts against it"""

_PAIR = "="
"""before a pair, so that it differs from the word with the same characters"""

_TOPIC = "^"
"""before a term that a chunk has much of: in its title or headings, or many times. For a common word, only these
chunks are worth looking up"""
TOPIC_COUNT = 3.0
"""weighted occurrences from which a chunk has much of a term"""


@dataclass(frozen=True, slots=True)
class ChunkTerms:
    """A chunk in the full text: its terms, separated by spaces."""

    chunk_id: str
    title: str
    headings: str
    text: str

    @classmethod
    def of(cls, analyzer: Analyzer, chunk_id: str, title: str, headings: Sequence[str], text: str) -> "ChunkTerms":
        """`title`: with the document's folder in its archive, if it has one. Takes a millisecond for 300 characters of
        Japanese: best called before the transaction begins.
        """
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


@dataclass(frozen=True, slots=True)
class Worth:
    """What the terms of a question are worth in a search."""

    terms: Mapping[str, float]
    parts: Mapping[str, Mapping[str, float]]
    """of a word with hyphens, the parts that count where the word does not occur"""

    @classmethod
    def of(
        cls, weights: Mapping[str, float], parts: Mapping[str, Collection[str]], rarities: Mapping[str, float]
    ) -> Self:
        """`parts`: as in Analysis; those that are terms too count as these. `rarities`: as BM25Index gives them."""
        terms = {term: weight * rarities.get(term, rarities[""]) for term, weight in weights.items()}
        instead: dict[str, dict[str, float]] = {}
        for whole, some in parts.items():
            rarity = {part: rarities.get(part, rarities[""]) for part in some}
            if rarity and whole not in rarities:
                # No text writes it in one word: it must not be the rarest word of the question.
                terms[whole] = min(terms[whole], max(rarity.values()))
            most = PARTS_WEIGHT * terms[whole] / max(len(some), 1)
            instead[whole] = {part: min(each, most) for part, each in rarity.items() if part not in weights}
        return cls(terms, instead)

    def of_parts(self) -> dict[str, float]:
        return {part: each for parts in self.parts.values() for part, each in parts.items()}

    def share(self, held: Mapping[str, float]) -> float:
        """The share of the question in a text, 0 to 1. `held`: how much the text has of each term, 0 to 1."""
        gained = sum(self.terms[term] * much for term, much in held.items() if term in self.terms)
        for whole, parts in self.parts.items():
            if whole not in held:
                gained += sum(each * held.get(part, 0.0) for part, each in parts.items())
        return gained / sum(self.terms.values()) if self.terms else 0.0


class WordCount(BaseModel, frozen=True):
    """How many chunks hold a word of a question."""

    chunks: int
    """chunks that hold the word"""
    has_parts: bool
    """whether any chunk holds one of its parts, or of its pairs of characters: a text may be found by these only"""


class BM25Index:
    """Each index has its own tables, so other indexes' terms don't count and no filter is needed.

    Each method is part of the caller's transaction.
    """

    def __init__(self, table: str) -> None:
        """`table`: letters, digits and _ only."""
        self._fts5, self._gin = FTS5(table), GIN(table)

    def create(self, connection: Connection) -> None:
        self._postings(connection).create(connection)

    @contextmanager
    def filling(self, connection: Connection) -> Iterator[None]:
        """Makes it faster to put very many chunks. Searches may find them only after the block ends."""
        postings = self._postings(connection)
        postings.defer(connection)
        yield
        postings.settle(connection)

    def exists(self, connection: Connection) -> bool:
        return self._postings(connection).exists(connection)

    def drop(self, connection: Connection) -> None:
        """Drops the tables, if they exist."""
        self._postings(connection).drop(connection)

    def put(self, connection: Connection, document_id: str, chunks: Iterable[ChunkTerms]) -> None:
        """Adds a document's chunks. Raises an IntegrityError if one of their ids is already here."""
        postings = self._postings(connection)
        postings.hold_exclusively(connection)
        rows = [
            ChunkRow(row, chunk.chunk_id, document_id, chunk.length, chunk.columns)
            for row, chunk in enumerate(chunks, postings.next_row(connection))
        ]
        if rows:
            _put(postings, connection, rows)

    def chunk_rows(self, connection: Connection, after: int, most: int) -> list[ChunkRow]:
        """Up to `most` rows after row `after`, in the order in which they were put."""
        return self._postings(connection).chunk_rows(connection, after, most)

    def put_rows(self, connection: Connection, rows: Sequence[ChunkRow]) -> None:
        """Adds rows of another backend's copy of this index. None of them, and no later row, may be here yet."""
        _put(self._postings(connection), connection, rows)

    def totals(self, connection: Connection) -> tuple[int, int]:
        """The numbers of chunks and of terms."""
        return self._postings(connection).totals(connection)

    def delete_document(self, connection: Connection, document_id: str) -> None:
        postings = self._postings(connection)
        postings.hold_exclusively(connection)
        rows = postings.rows_of(connection, [document_id]).tolist()
        if rows:
            _count(postings, connection, postings.columns(connection, rows), -1)
            postings.delete(connection, rows)

    def chunk_ids(self, connection: Connection) -> Iterator[str]:
        """The ids of all chunks."""
        return self._postings(connection).chunk_ids(connection)

    def search(
        self, connection: Connection, analysis: Analysis, k: int, document_ids: Sequence[str] | None = None
    ) -> list[tuple[str, float]]:
        """Up to `k` chunk ids with their scores, best first; only of the given documents, if any are given.

        A score is the share of the question that the chunk holds, above 0 and up to 1; rare terms count most. Equal
        scores are in the order in which the chunks were put.
        """
        backend_of(connection).begin_reading(connection)
        postings = self._postings(connection)
        chunks, length = postings.totals(connection)
        allowed = None if document_ids is None else postings.rows_of(connection, document_ids)
        weights = dict.fromkeys(analysis.kept, 1.0)
        weights |= dict.fromkeys((_PAIR + pair for pair in analysis.pairs), PAIR_WEIGHT)
        asked = [*weights, *(_TOPIC + word for word in analysis.kept), *chain(*analysis.parts.values())]
        known = postings.known(connection, list(dict.fromkeys(asked)))
        if not known or (allowed is not None and not len(allowed)):
            return []
        worth = Worth.of(weights, analysis.parts, _rarities(known, chunks))
        rows = self._candidates(connection, worth, known, allowed, max(k, CANDIDATES))
        scored = sorted(self._scored(connection, rows, worth, length / chunks), key=lambda each: (-each[0], each[1]))
        return [(chunk_id, score) for score, _, chunk_id in scored[:k]]

    def count(
        self,
        connection: Connection,
        words: Mapping[str, Collection[str]],
        parts: Mapping[str, Collection[str]],
        document_ids: Sequence[str] | None = None,
    ) -> dict[str, WordCount]:
        """The exact count for each term; only in the given documents, if any. `words`: each term with its pairs;
        `parts`: as in Analysis.
        """
        backend_of(connection).begin_reading(connection)
        postings = self._postings(connection)
        within = {term: {*(_PAIR + pair for pair in pairs), *parts.get(term, ())} for term, pairs in words.items()}
        held = postings.known(connection, list({*words, *chain(*within.values())}))
        if document_ids is not None:
            allowed = postings.rows_of(connection, document_ids)
            found = postings.of(connection, list(held), _span(allowed)) if len(allowed) else ()
            held = {term: int(np.isin(rows, allowed, assume_unique=True).sum()) for term, rows in found}
        return {
            term: WordCount(chunks=held.get(term, 0), has_parts=any(held.get(each) for each in some))
            for term, some in within.items()
        }

    def rarities(self, connection: Connection, terms: Collection[str]) -> dict[str, float]:
        """The weight of each term in a search: the fewer chunks hold it, the higher. A term that no chunk holds is left
        out; the key "" gives the weight of all such terms.
        """
        backend_of(connection).begin_reading(connection)
        postings = self._postings(connection)
        chunks, _ = postings.totals(connection)
        return _rarities(postings.known(connection, list(terms)), chunks)

    def _postings(self, connection: Connection) -> Postings:
        return self._fts5 if connection.dialect.name == "sqlite" else self._gin

    def _candidates(
        self,
        connection: Connection,
        worth: Worth,
        known: Mapping[str, int],
        allowed: NDArray[np.int64] | None,
        count: int,
    ) -> list[int]:
        """The `count` rows that hold the terms with the most weight. `known`: how many chunks hold each term."""
        chosen: list[str] = []
        beyond: list[str] = []
        left = POSTINGS
        every = {**worth.of_parts(), **worth.terms}
        for term in sorted(known, key=lambda term: (-every[term.removeprefix(_TOPIC)], -len(term), term)):
            # A search within some documents reads only their rows.
            is_within = allowed is not None or known[term] <= left
            left -= known[term] if is_within else 0
            (chosen if is_within else beyond).append(term)
        once, often = _saturated(1, K1), _saturated(TOPIC_COUNT, K1)
        terms = {term: each * once for term, each in worth.terms.items()}
        terms |= {
            _TOPIC + term: each * often - (0 if term in beyond else terms[term]) for term, each in worth.terms.items()
        }
        parts = {whole: {part: each * once for part, each in some.items()} for whole, some in worth.parts.items()}
        gains = Worth(terms, parts)
        rows, gain = self._gained(connection, gains, chosen, allowed)
        if len(rows) < count and beyond:
            # Few chunks hold the rare words. Of those that hold the best common word, the first are as good as any.
            rows, gain = self._gained(connection, gains, [*chosen, beyond[0]], allowed)
        if len(rows) > count:  # sorting some is faster than sorting all
            is_near = gain >= np.partition(gain, -count)[-count]
            rows, gain = rows[is_near], gain[is_near]
        best: list[int] = rows[np.argsort(-gain, kind="stable")[:count]].tolist()
        return best

    def _gained(
        self,
        connection: Connection,
        gains: Worth,
        terms: Sequence[str],
        allowed: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Rows that hold any of the terms, and the sum of the gains of these terms in each row."""
        span = Span(most=POSTINGS) if allowed is None else _span(allowed)
        rows, gained = [np.empty(0, np.int64)], [np.empty(0)]
        held = dict(self._postings(connection).of(connection, terms, span))
        for term in filter(gains.terms.__contains__, held):
            rows.append(held[term])
            gained.append(np.full(len(held[term]), gains.terms[term]))
        for whole, parts in gains.parts.items():
            for part in filter(held.__contains__, parts):
                without = np.setdiff1d(held[part], held.get(whole, rows[0]), assume_unique=True)
                rows.append(without)
                gained.append(np.full(len(without), parts[part]))
        each, position = np.unique(np.concatenate(rows), return_inverse=True)
        gain = np.bincount(position, weights=np.concatenate(gained), minlength=len(each)).astype(np.float64, copy=False)
        if allowed is None:
            return each, gain
        is_allowed = np.isin(each, allowed, assume_unique=True)
        return each[is_allowed], gain[is_allowed]

    def _scored(
        self, connection: Connection, rows: Sequence[int], worth: Worth, mean_length: float
    ) -> Iterator[tuple[float, int, str]]:
        """Yields score, row and chunk id."""
        sought = {*worth.terms, *worth.of_parts()}
        for row, chunk_id, length, columns in self._postings(connection).ranked(connection, rows):
            counts = _counted(filter(sought.__contains__, column.split()) for column in columns)
            norm = K1 * (1 - B + B * length / mean_length)
            # Rounded to six places: the order in which floats are added must not change the ranking.
            score = worth.share({term: _saturated(count, norm) for term, count in counts.items()})
            yield round(score, 6), row, chunk_id


def _put(postings: Postings, connection: Connection, rows: Sequence[ChunkRow]) -> None:
    postings.put(connection, rows)
    _count(postings, connection, (each.columns for each in rows), 1)


def _count(postings: Postings, connection: Connection, chunks: Iterable[Sequence[str]], sign: int) -> None:
    """Adds these chunks to the counts (`sign` 1), or subtracts them (-1)."""
    counts: Counter[str] = Counter()
    total = length = 0
    for columns in chunks:
        terms = [term for column in columns for term in column.split()]
        counts.update(set(terms))
        total += 1
        length += len(terms)
    postings.add_totals(connection, sign * total, sign * length)
    if counts:
        postings.add_counts(connection, {term: sign * count for term, count in counts.items()})


def _terms(terms: Terms) -> list[str]:
    return [*(term.text for term in terms.words), *(_PAIR + term.text for term in terms.pairs)]


def _counted(columns: Iterable[Iterable[str]]) -> dict[str, float]:
    """How often each term occurs, weighted by column."""
    counts: dict[str, float] = {}
    for terms, weight in zip(columns, COLUMN_WEIGHTS, strict=True):
        for term in terms:
            counts[term] = counts.get(term, 0.0) + weight
    return counts


def _span(allowed: NDArray[np.int64]) -> Span:
    """All rows from the first of `allowed` to the last."""
    return Span(int(allowed[0]), int(allowed[-1]))


def _saturated(count: float, norm: float) -> float:
    return count / (count + norm)


def _rarities(known: Mapping[str, int], chunks: int) -> dict[str, float]:
    """`known`: how many chunks hold each term. The key "" is for all other terms."""
    return {"": _rarity(0, chunks)} | {term: _rarity(count, chunks) for term, count in known.items()}


def _rarity(count: int, chunks: int) -> float:
    """The weight of a term that `count` of all chunks hold: BM25's idf in Lucene's form, always above 0."""
    return log(1 + (chunks - count + 0.5) / (count + 0.5))
