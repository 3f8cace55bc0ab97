"""Finds chunks by vector, by keyword, or by both; or the sections that contain them."""

import unicodedata
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from index_store.base import errors
from index_store.base.batches import batches
from index_store.catalogue.records import FoundChunk, IndexRecord
from index_store.full_text.analysis import Analysis
from index_store.full_text.bm25 import Worth
from index_store.library.library import Library
from index_store.search.fusion import FusionWeights, by_rank, by_score
from index_store.search.hits import Hit, Survey, TextLocation
from index_store.search.near_duplicates import are_near_duplicates
from index_store.search.other_language import differ_in_language, translated_share
from index_store.vectors.embeddings import Embeddings

MODES = ("vector", "keyword", "hybrid")
UNITS = ("chunk", "section")

LONGEST_QUESTION = 4_000
"""characters, about four pages of Japanese; a longer text is a document, not a question"""

DEPTH = 30
"""the least number of chunks that each side is asked for: docs/decisions/search/full-text.md"""

SPARE = 16
"""chunks beyond the wanted hits, so that equal scores are ordered and chunks that are left out leave no gap"""

ATTEMPTS = 5
"""tries of a search, if a version that it finds is replaced while it runs"""

NEAR_DUPLICATES = 6
"""chunks to compare beyond the wanted hits: a near duplicate scores about the same as the hit that it repeats"""


@dataclass(frozen=True)
class Query:
    question: str
    mode: str = "vector"
    unit: str = "chunk"
    k: int = 4
    """hits at most"""
    words: Sequence[str] | None = None
    """words for the keyword side, in place of the question"""
    document_ids: Sequence[str] | None = None
    """the only documents to search"""

    @property
    def searched_words(self) -> str:
        """The text of the keyword side."""
        return self.question if self.words is None else " ".join(self.words)


def check_length(question: str) -> None:
    """Raises QuestionTooLong."""
    if len(question) > LONGEST_QUESTION:
        raise errors.QuestionTooLong(length=len(question), most=LONGEST_QUESTION)


class _Scored(NamedTuple):
    chunk_id: str
    score: float
    vector: tuple[int, float] | None = None
    """rank and score"""
    keyword: tuple[int, float] | None = None


class Searcher:
    def __init__(self, library: Library, embeddings: Embeddings, fusion: str, keyword_weight: float) -> None:
        """`fusion`: score or rank. `keyword_weight`: 0 to 1, the weight of the keyword side; the rest is the vector
        side's.
        """
        self._library = library
        self._catalogue = library.catalogue
        self._embeddings = embeddings
        self._fusion = fusion
        self._weights = FusionWeights(vector=1 - keyword_weight, keyword=keyword_weight)
        self._reading = ThreadPoolExecutor(thread_name_prefix="keyword search")
        """runs the keyword side while Chroma searches the vectors"""

    def close(self) -> None:
        self._reading.shutdown()

    def search(self, index: IndexRecord, query: Query) -> list[Hit]:
        """Best first, always in the same order. Raises UnknownMode, UnknownUnit, EmptyQuestion, QuestionTooLong,
        EmptyIndex, IndexNotReady, EmbeddingModelMismatch, VectorsLost, VectorServerError, ServiceError.
        """
        if query.mode not in MODES:
            raise errors.UnknownMode(mode=query.mode, known=", ".join(MODES))
        if query.unit not in UNITS:
            raise errors.UnknownUnit(unit=query.unit, known=", ".join(UNITS))
        if not query.question.strip():
            raise errors.EmptyQuestion()
        check_length(query.question)
        check_length(" ".join(query.words or ()))
        if query.document_ids is not None and not query.document_ids:
            return []
        swaps = self._library.swaps
        hits = self._hits_there(index, query)
        if not hits and not self._catalogue.indexes.has_chunks(index.id):
            pending = self._catalogue.indexes.pending(index.id)
            raise errors.IndexNotReady(index=index.name) if pending else errors.EmptyIndex(index=index.name)
        if not hits and self._library.has_swapped(swaps):
            # The first document may have become ready in the meantime.
            hits = self._hits_there(self._catalogue.indexes.record(index.id) or index, query)
        return hits

    def _hits_there(self, index: IndexRecord, query: Query) -> list[Hit]:
        # The first document sets the dimension; before that, no question needs to be embedded.
        return self._hits_of(index, query, self._vector_of(index, query)) if index.dimension else []

    def _should_have_vectors(self, index: IndexRecord) -> bool:
        now = self._catalogue.indexes.record(index.id)
        return bool(now and now.collection == index.collection and self._catalogue.indexes.has_chunks(index.id))

    def survey(self, index: IndexRecord, question: str, k: int) -> Survey:
        """What the index contains for a question, by both sides. Raises the errors of `search` except EmptyIndex."""
        check_length(question)
        analyzer = self._library.analyzer(index)
        analysis = analyzer.question(question)
        listed = {word.term: word.lemma for word in analysis.searched}
        subjects = {word.term for word in analysis.subjects}
        held = self._catalogue.full_text.rarities(index.id, {*listed, *chain(*analysis.parts.values())})
        absent = {term for term in listed if _is_absent(term, analysis, held)}
        # A passage may have a part of a code that no text has: the letters of another code. So parts count for nothing.
        parts = {whole: some for whole, some in analysis.parts.items() if whole not in absent}
        worth = Worth.of(dict.fromkeys(listed, 1.0), parts, held)
        hits: list[Hit] = []
        mean = 0.0
        if index.dimension and question.strip():
            vector = self._vector(index, question)
            hits = self._hits_of(index, Query(question, "hybrid", k=k), vector)
            mean = self._library.vectors.mean_cosine(index.collection, vector)

        def share(hit: Hit) -> float:
            text = "\n".join((hit.title, *hit.headings, hit.header, hit.text))
            return worth.share({term.text: 1.0 for term in analyzer.terms(text).words})

        return Survey(
            hits=tuple(hits),
            shares=tuple(map(share, hits)),
            mean=mean,
            words=tuple(listed.values()),
            absent=tuple(word for term, word in listed.items() if term in subjects & absent),
        )

    def _vector_of(self, index: IndexRecord, query: Query) -> NDArray[np.float32] | None:
        return None if query.mode == "keyword" else self._vector(index, query.question)

    def _hits_of(self, index: IndexRecord, query: Query, vector: NDArray[np.float32] | None) -> list[Hit]:
        """`vector`: of the question; None if the vector side is not asked."""
        depth = max(query.k + SPARE, DEPTH)
        analyzer = self._library.analyzer(index)
        question = analyzer.question(query.question)
        analysis = question if query.words is None else analyzer.question(query.searched_words)
        # As they are written, and as terms, which have no endings.
        asked = frozenset(each for word in question.searched for each in (word.written, word.term))
        floor = 0.0
        if vector is not None and query.mode == "hybrid":
            floor = self._library.vectors.mean_cosine(index.collection, vector)
        attempts = ATTEMPTS
        while True:
            swaps = self._library.swaps
            reading = None
            if query.mode != "vector":
                reading = self._reading.submit(
                    self._catalogue.full_text.find, index.id, analysis, depth, query.document_ids
                )
            by_vector = [] if vector is None else self._by_vector(index, query, vector, depth)
            by_keyword = reading.result() if reading else []
            scored = self._scored(index, query, analysis, by_vector, by_keyword, floor)
            hits, all_known = self._hits(index, query, asked, scored)
            if not all_known and self._library.has_swapped(swaps) and attempts > 1:
                attempts -= 1
                continue
            # Many chunks may share a section, or be near duplicates: ask for more until there are k hits.
            if len(hits) == query.k or max(len(by_vector), len(by_keyword)) < depth:
                return hits
            depth *= 4

    def _vector(self, index: IndexRecord, question: str) -> NDArray[np.float32]:
        if index.embedding_model != self._embeddings.id:
            raise index.model_mismatch(self._embeddings.id)
        vector = self._embeddings.query(unicodedata.normalize("NFKC", question))
        if len(vector) != index.dimension:
            raise index.model_mismatch(self._embeddings.id, (index.dimension, len(vector)))
        return vector

    def _by_vector(
        self, index: IndexRecord, query: Query, vector: NDArray[np.float32], depth: int
    ) -> list[tuple[str, float]]:
        """Raises VectorsLost if none is found. Otherwise an answer would say that the documents don't contain it."""
        bias = self._embeddings.language_bias
        near = partial(self._library.vectors.nearest, index.collection, vector, depth, bias=bias)
        nearest = near(query.document_ids)
        if not nearest and query.document_ids is None and self._should_have_vectors(index):
            # The first document may have become ready in the meantime.
            nearest = near()
            if not nearest and self._should_have_vectors(index):
                raise index.vectors_lost()
        # Rounded to six places: beyond these, the cosine of a text depends on the batch in which it was embedded.
        return sorted(((id_, round(score, 6)) for id_, score in nearest), key=lambda each: (-each[1], each[0]))

    def _scored(
        self,
        index: IndexRecord,
        query: Query,
        analysis: Analysis,
        by_vector: Sequence[tuple[str, float]],
        by_keyword: Sequence[tuple[str, float]],
        floor: float,
    ) -> list[_Scored]:
        vector = {id_: (rank, score) for rank, (id_, score) in enumerate(by_vector, 1)}
        keyword = {id_: (rank, score) for rank, (id_, score) in enumerate(by_keyword, 1)}
        if query.mode != "hybrid":
            scores = list(by_vector or by_keyword)
        elif self._fusion == "rank":
            scores = [(each.id, each.score) for each in by_rank(list(vector), list(keyword), self._weights)]
        else:
            translated = translated_share(query.searched_words, [word.written for word in analysis.searched])
            others = self._in_other_language(index, query, list(vector)) if translated and keyword else []
            fused = by_score(
                by_vector, by_keyword, floor, self._weights, in_other_language=others, translated=translated
            )
            scores = [(each.id, each.score) for each in fused]
        return [_Scored(id_, score, vector.get(id_), keyword.get(id_)) for id_, score in scores]

    def _in_other_language(self, index: IndexRecord, query: Query, ids: Sequence[str]) -> list[str]:
        known = self._catalogue.sections.found(index.id, ids, whole_sections=False)
        return [id_ for id_, found in known.items() if differ_in_language(found.text, query.searched_words)]

    def _hits(
        self, index: IndexRecord, query: Query, asked: Collection[str], scored: Sequence[_Scored]
    ) -> tuple[list[Hit], bool]:
        """Up to `k` hits, each section and each text once, and whether the catalogue knows all compared chunks. More
        chunks than wanted are compared, as some may be near duplicates.
        """
        hits: list[Hit] = []
        all_known = True
        sections: set[str] = set()
        is_section = query.unit == "section"
        for some in batches(scored, query.k + NEAR_DUPLICATES):
            ids = [each.chunk_id for each in some]
            known = self._catalogue.sections.found(index.id, ids, whole_sections=is_section)
            all_known = all_known and len(known) == len(ids)
            for each in some:
                found = known.get(each.chunk_id)
                if found is None or (is_section and found.section_id in sections):
                    continue
                sections.add(found.section_id)
                _add(hits, found, each, query.k, asked)
            if len(hits) == query.k:
                break
        return hits, all_known


def _is_absent(term: str, analysis: Analysis, held: Collection[str]) -> bool:
    """`held`: the terms, of those of the question and their parts, that the index has."""
    parts = analysis.parts.get(term)
    return term not in held and not (parts and all(part in held for part in parts))


def _add(hits: list[Hit], found: FoundChunk, scored: _Scored, k: int, asked: Collection[str]) -> None:
    """Adds a new hit, or adds the chunk to the hit that it is a near duplicate of."""
    for at, hit in enumerate(hits):
        if are_near_duplicates(hit.text, found.text, asked, (_above(hit), _above(found))):
            hits[at] = hit.model_copy(update={"copies": (*hit.copies, _place(found))})
            return
    if len(hits) == k:
        return
    vector_rank, vector_score = scored.vector or (None, None)
    keyword_rank, keyword_score = scored.keyword or (None, None)
    hits.append(
        Hit(
            chunk_id=found.chunk_id, section_id=found.section_id, document_id=found.document_id, source=found.source,
            title=found.title, headings=found.headings, page=found.page, text=found.text, start=found.start,
            end=found.end, best_start=found.best_start, best_end=found.best_end, rank=len(hits) + 1,
            score=scored.score, vector_rank=vector_rank, vector_score=vector_score, keyword_rank=keyword_rank,
            keyword_score=keyword_score, header=found.header,
        )
    )  # fmt: skip


def _above(found: Hit | FoundChunk) -> str:
    return " ".join((found.title, *found.headings))


def _place(found: FoundChunk) -> TextLocation:
    return TextLocation(
        chunk_id=found.chunk_id, section_id=found.section_id, document_id=found.document_id, source=found.source,
        title=found.title, headings=found.headings, page=found.page,
    )  # fmt: skip
