"""Finding passages: by vector, by keyword, or by both, fused; chunks, or the sections that they stand in."""

import unicodedata
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Row

from index_store.base import errors
from index_store.base.batches import batches
from index_store.base.records import Hit, Place
from index_store.library.library import Library
from index_store.search.fusion import Weights, by_rank, by_score
from index_store.search.near_duplicates import are_copies
from index_store.vectors.embeddings import Embeddings

MODES = ("vector", "keyword", "hybrid")
UNITS = ("chunk", "section")

DEPTH = 30
"""chunks that each side is asked for, at least: docs/decisions/full-text.md"""

SPARE = 16
"""beyond the hits wanted, so that equal scores are put in order and what is left out leaves no gap"""

COPIES = 6
"""looked at beyond the hits wanted: a copy scores next to what it is a copy of"""


@dataclass(frozen=True)
class Query:
    question: str
    mode: str = "vector"
    unit: str = "chunk"
    k: int = 4
    """hits, at most"""
    words: Sequence[str] | None = None
    """what the keyword side is asked for instead of the question"""
    document_ids: Sequence[str] | None = None
    """the only documents that are searched"""


class _Found(NamedTuple):
    chunk_id: str
    score: float
    vector: tuple[int, float] | None = None
    """rank and score"""
    keyword: tuple[int, float] | None = None


class Searcher:
    def __init__(self, library: Library, embeddings: Embeddings, fusion: str, keyword_weight: float) -> None:
        """`fusion`: score or rank. `keyword_weight`: 0 to 1, what the keyword side counts; the vector side the rest."""
        self._library = library
        self._catalogue = library.catalogue
        self._embeddings = embeddings
        self._fusion = fusion
        self._weights = Weights(vector=1 - keyword_weight, keyword=keyword_weight)
        self._reading = ThreadPoolExecutor(thread_name_prefix="keywords")
        """the keyword side, while Chroma searches the vectors"""

    def close(self) -> None:
        self._reading.shutdown()

    def search(self, index: Row, query: Query) -> list[Hit]:
        """Best first, always in the same order. Raises UnknownMode, UnknownUnit, EmptyQuestion, EmptyIndex,
        EmbeddingModelMismatch, ServiceError.
        """
        if query.mode not in MODES:
            raise errors.UnknownMode(mode=query.mode, known=", ".join(MODES))
        if query.unit not in UNITS:
            raise errors.UnknownUnit(unit=query.unit, known=", ".join(UNITS))
        if not query.question.strip():
            raise errors.EmptyQuestion()
        if query.document_ids is not None and not query.document_ids:
            return []
        # The dimension is that of the first document: before it there is nothing to embed a question for.
        hits = self._hits_of(index, query) if index.dimension else []
        if not hits and not self._catalogue.indexes.has_chunks(index.id):
            raise errors.EmptyIndex(index=index.name)
        return hits

    def _hits_of(self, index: Row, query: Query) -> list[Hit]:
        depth = max(query.k + SPARE, DEPTH)
        vector = None if query.mode == "keyword" else self._vector(index, query.question)
        far = self._library.vectors.far(index.collection, vector) if query.mode == "hybrid" else 0.0
        while True:
            reading = None if query.mode == "vector" else self._reading.submit(self._worded, index, query, depth)
            near = [] if vector is None else self._near(index, query, vector, depth)
            worded = reading.result() if reading else []
            hits = self._hits(index, query, self._found(query.mode, near, worded, far))
            # Many chunks may share a section, or be copies: ask for more until there are k.
            if len(hits) == query.k or max(len(near), len(worded)) < depth:
                return hits
            depth *= 4

    def _vector(self, index: Row, question: str):
        if index.embedding_model != self._embeddings.id:
            raise errors.model_mismatch(index, self._embeddings.id)
        vector = self._embeddings.query(unicodedata.normalize("NFKC", question))
        if len(vector) != index.dimension:
            raise errors.model_mismatch(index, self._embeddings.id, (index.dimension, len(vector)))
        return vector

    def _near(self, index: Row, query: Query, vector, depth: int) -> list[tuple[str, float]]:
        near = self._library.vectors.nearest(index.collection, vector, depth, query.document_ids)
        # Six places: cosines of the same texts differ beyond them by how the vectors were batched.
        return sorted(((id_, round(score, 6)) for id_, score in near), key=lambda each: (-each[1], each[0]))

    def _worded(self, index: Row, query: Query, depth: int) -> list[tuple[str, float]]:
        asked = query.question if query.words is None else " ".join(query.words)
        analysis = self._library.analyzer(index).question(asked)
        return self._catalogue.full_text.find(index.id, analysis, depth, query.document_ids)

    def _found(
        self, mode: str, near: Sequence[tuple[str, float]], worded: Sequence[tuple[str, float]], far: float
    ) -> list[_Found]:
        vector = {id_: (rank, score) for rank, (id_, score) in enumerate(near, 1)}
        keyword = {id_: (rank, score) for rank, (id_, score) in enumerate(worded, 1)}
        if mode != "hybrid":
            scored = list(near or worded)
        elif self._fusion == "rank":
            scored = [(each.id, each.score) for each in by_rank(list(vector), list(keyword), self._weights)]
        else:
            scored = [(each.id, each.score) for each in by_score(near, worded, far, self._weights)]
        return [_Found(id_, score, vector.get(id_), keyword.get(id_)) for id_, score in scored]

    def _hits(self, index: Row, query: Query, found: Sequence[_Found]) -> list[Hit]:
        """Each section and each text once, up to `k`; some more are looked at, which may be copies."""
        hits: list[Hit] = []
        sections: set[str] = set()
        for some in batches(found, query.k + COPIES):
            known = self._catalogue.passages.hits(index.id, [each.chunk_id for each in some], query.unit)
            for each in some:
                hit = known.get(each.chunk_id)
                if hit is None or (query.unit == "section" and hit.section_id in sections):
                    continue
                sections.add(hit.section_id)
                self._add(hits, hit, each, query.k)
            if len(hits) == query.k:
                break
        return hits

    @staticmethod
    def _add(hits: list[Hit], hit: Hit, found: _Found, k: int) -> None:
        for at, shown in enumerate(hits):
            if are_copies(shown.text, hit.text):
                place = Place(**hit.model_dump(include=set(Place.model_fields)))
                hits[at] = shown.model_copy(update={"copies": (*shown.copies, place)})
                return
        if len(hits) == k:
            return
        vector_rank, vector_score = found.vector or (None, None)
        keyword_rank, keyword_score = found.keyword or (None, None)
        ranks = {
            "rank": len(hits) + 1,
            "score": found.score,
            "vector_rank": vector_rank,
            "vector_score": vector_score,
            "keyword_rank": keyword_rank,
            "keyword_score": keyword_score,
        }
        hits.append(hit.model_copy(update=ranks))
