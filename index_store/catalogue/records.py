"""What the catalogue knows, as data: `Index`, `Document`, `Section`, `Chunk`, `Site` for people to see, and records of
indexes and documents for the packages that change them. Hits are in search/hits.py, results of adding in ingestion/.
"""

import shlex
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from pydantic import BaseModel

from index_store.base.errors import EmbeddingModelMismatch, Failure, VectorsLost
from index_store.crawl import CrawlOptions


class DocumentStatus(StrEnum):
    PENDING = "pending"
    """kept, and still to be read and embedded"""
    READY = "ready"
    """the only one that a search finds"""
    FAILED = "failed"
    REMOVING = "removing"


class Index(BaseModel, frozen=True):
    name: str
    documents: int
    """how many are ready"""
    pending: int
    failed: int
    chunks: int
    embedding_model: str
    dimension: int


class Document(BaseModel, frozen=True):
    id: str
    index: str
    source: str
    """an absolute path, an upload's file name, a URL, or an archive's source/member; unique within an index"""
    parent: str | None
    """the archive or the site's address that it came from"""
    title: str
    kind: str
    """the loader's name: txt, html, pdf ..."""
    size: int
    """of the original, in bytes"""
    status: DocumentStatus
    error: Failure | None
    """why it failed; of a ready one, why its newer version did"""
    sections: int
    chunks: int
    added_at: datetime


class Section(BaseModel, frozen=True):
    """The unit that the model reads: the text under one heading, with the path of headings above it."""

    id: str
    document_id: str
    source: str
    title: str
    headings: tuple[str, ...]
    page: int | None
    """from 1, where the format has pages"""
    text: str


class Chunk(BaseModel, frozen=True):
    """The unit of search: `section.text[start:end]`, in characters."""

    id: str
    section_id: str
    position: int
    """within the document, from 0"""
    headings: tuple[str, ...]
    page: int | None
    start: int
    end: int


class Site(BaseModel, frozen=True):
    """A site that was crawled; its documents have its address as their parent."""

    index: str
    options: CrawlOptions
    is_crawling: bool
    crawled_at: datetime | None
    """None until a crawl has come to its end"""


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """A stored index."""

    id: str
    name: str
    embedding_model: str
    dimension: int
    """of its vectors; 0 until the first document is ready"""
    collection: str
    """of Chroma, where its vectors are"""
    analysis: str | None
    """what made the terms of its full text (Analyzer.id); None: to be made"""
    glossary: str | None
    """a term a line"""

    def model_mismatch(self, present: str, dimensions: tuple[int, int] | None = None) -> EmbeddingModelMismatch:
        """`present`: the model that is set now; `dimensions`: of its vectors and the present ones, if they differ."""
        made_with = self.embedding_model
        if dimensions:
            made_with, present = f"{made_with} ({dimensions[0]})", f"{present} ({dimensions[1]})"
        return EmbeddingModelMismatch(
            index=self.name, quoted=shlex.quote(self.name), made_with=made_with, present=present
        )

    def vectors_lost(self) -> VectorsLost:
        return VectorsLost(index=self.name, quoted=shlex.quote(self.name))


class Lease(NamedTuple):
    """The right of one process to work on a document; a later lease replaces it."""

    item_id: int
    """of a job"""
    token: str


class IndexSize(NamedTuple):
    """The size of an index."""

    name: str
    owner: str | None
    """id of a person"""
    files: int
    size: int
    """bytes of originals"""


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A stored document; see `Document` for the fields of the same name."""

    id: str
    index_id: str
    source: str
    parent: str | None
    name: str | None
    """of its file; None of one from before originals were kept"""
    charset: str | None
    """that the server claimed which sent it"""
    title: str
    kind: str
    size: int
    status: DocumentStatus
    error: Failure | None
    fingerprint: str
    """of the content and the way it was split; empty when no version is ready"""
    revision: int
    """the version that is ready, 0 when none is"""
    incoming: int | None
    """a newer version, on its way or failed"""
    sections: int
    chunks: int

    @property
    def is_ready(self) -> bool:
        return self.status is DocumentStatus.READY

    @property
    def is_under_way(self) -> bool:
        """Whether it, or a newer version of it, is still to come."""
        is_newer_to_come = self.is_ready and self.incoming is not None and self.error is None
        return self.status is DocumentStatus.PENDING or is_newer_to_come

    @property
    def needs_retry(self) -> bool:
        """Whether it, or its newer version, failed or is still to come."""
        return self.status is DocumentStatus.FAILED or self.error is not None or self.is_under_way

    @property
    def revisions(self) -> tuple[int, ...]:
        """Versions of which the original is kept."""
        return tuple(number for number in (self.revision, self.incoming) if number)


@dataclass(frozen=True, slots=True)
class FoundChunk:
    """A chunk that a search may show, or the section that contains it: `text` is what is shown."""

    chunk_id: str
    section_id: str
    document_id: str
    source: str
    title: str
    headings: tuple[str, ...]
    page: int | None
    text: str
    start: int
    end: int
    """of `text` in the section, in characters"""
    best_start: int
    best_end: int
    """of the chunk in the section, in characters"""
