"""The full text of each index: its own tables (full_text/bm25.py), in the catalogue's transactions."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, select, update

from index_store.base.database.database import backend_of
from index_store.catalogue.records import archive_folder
from index_store.catalogue.schema import chunks, documents, indexes, sections
from index_store.full_text.analysis import Analysis, Analyzer
from index_store.full_text.bm25 import BM25Index, ChunkTerms, WordCount
from index_store.parsing.chunking.blocks import text_at

TABLES = "keywords_"
"""the start of the names of all tables of the full text; the id of their index follows"""


class FullText:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def set_glossary(self, index_id: str, glossary: str | None) -> None:
        """Call `rebuild` after it."""
        values = {"glossary": glossary, "analysis": None}
        with self._engine.begin() as connection:
            connection.execute(update(indexes).where(indexes.c.id == index_id).values(**values))

    def rebuild(self, index_id: str, analyzer: Analyzer) -> None:
        """Builds it from the sections of the index."""
        full_text = bm25_index(index_id)
        with self._engine.begin() as connection:
            connection.execute(update(indexes).where(indexes.c.id == index_id).values(analysis=analyzer.id))
            full_text.drop(connection)
            full_text.create(connection)
            ids = connection.execute(select(documents.c.id).where(documents.c.index_id == index_id)).scalars().all()
            with full_text.filling(connection):
                for document_id in ids:
                    rows = connection.execute(_CHUNK_TEXTS.where(documents.c.id == document_id)).all()
                    full_text.put(connection, document_id, [_terms(analyzer, row) for row in rows])

    def find(
        self, index_id: str, analysis: Analysis, k: int, document_ids: Sequence[str] | None
    ) -> list[tuple[str, float]]:
        """Up to `k` chunk ids; see BM25Index.search. Some may be of documents that are not ready."""
        with self._reading(index_id) as (connection, full_text):
            return full_text.search(connection, analysis, k, document_ids) if full_text else []

    def count_words(
        self,
        index_id: str,
        words: Mapping[str, Collection[str]],
        parts: Mapping[str, Collection[str]],
        document_ids: Sequence[str] | None,
    ) -> dict[str, WordCount]:
        """See BM25Index.count."""
        with self._reading(index_id) as (connection, full_text):
            return full_text.count(connection, words, parts, document_ids) if full_text else {}

    def rarities(self, index_id: str, terms: Collection[str]) -> dict[str, float]:
        """See BM25Index.rarities."""
        with self._reading(index_id) as (connection, full_text):
            return full_text.rarities(connection, terms) if full_text else {"": 1.0}

    @contextmanager
    def _reading(self, index_id: str) -> Iterator[tuple[Connection, BM25Index | None]]:
        """Everything is read at one moment. None if the index was deleted since it was looked up."""
        with self._engine.connect() as connection:
            backend_of(connection).begin_reading(connection)
            full_text = bm25_index(index_id)
            yield connection, full_text if full_text.exists(connection) else None

    def chunk_ids(self, index_id: str) -> set[str]:
        """The ids of the chunks in the full text."""
        with self._engine.connect() as connection:
            return set(bm25_index(index_id).chunk_ids(connection))


def bm25_index(index_id: str) -> BM25Index:
    return BM25Index(f"{TABLES}{index_id}")


_DOCUMENT = documents.c.source, documents.c.parent, documents.c.title
_CHUNK_TEXTS: Select[Any] = (
    select(chunks.c.id, chunks.c.headings, chunks.c.start, chunks.c.end, *_DOCUMENT, sections.c.text)
    .select_from(chunks.join(sections).join(documents))
    .order_by(chunks.c.position)
)


def _terms(analyzer: Analyzer, row: Row[Any]) -> ChunkTerms:
    title = f"{archive_folder(row.source, row.parent)} {row.title}"
    return ChunkTerms.of(analyzer, row.id, title, row.headings, text_at(row.text, row.start, row.end))
