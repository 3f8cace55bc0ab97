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
    """stored, but not yet read and embedded"""
    READY = "ready"
    """searches find only these documents"""
    FAILED = "failed"
    REMOVING = "removing"


class Index(BaseModel, frozen=True):
    name: str
    documents: int
    """number of ready documents"""
    pending: int
    failed: int
    partial: int
    """number of ready documents with pages or attachments without text"""
    chunks: int
    embedding_model: str
    dimension: int


class Document(BaseModel, frozen=True):
    id: str
    index: str
    source: str
    """an absolute path, an upload's file name, a URL, or an archive's source/member; unique within an index"""
    parent: str | None
    """the archive, or the address of the site, that it came from"""
    title: str
    kind: str
    """the loader's name: txt, html, pdf ..."""
    size: int
    """of the original, in bytes"""
    status: DocumentStatus
    error: Failure | None
    """why it failed; for a ready document, why its newer version failed"""
    sections: int
    chunks: int
    pages_without_text: str
    """the pages, or slides, that have a picture or a drawing, but no text, such as 3, 5-7; empty if there is none"""
    added_at: datetime


class Section(BaseModel, frozen=True):
    """The unit that the model reads: the text under one heading, with the path of headings above it."""

    id: str
    document_id: str
    source: str
    title: str
    headings: tuple[str, ...]
    page: int | None
    """from 1, if the format has pages"""
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
    """A crawled site; its documents have its address as their parent."""

    index: str
    options: CrawlOptions
    is_crawling: bool
    crawled_at: datetime | None
    """when the last crawl ended; None before that"""


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """A stored index."""

    id: str
    name: str
    embedding_model: str
    dimension: int
    """of its vectors; 0 until the first document is ready"""
    collection: str
    """its collection of vectors in Chroma"""
    analysis: str | None
    """the analyzer that made the terms of its full text (Analyzer.id); None: not made yet"""
    glossary: str | None
    """one term per line"""

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
    """of its file; None for a document that is older than stored originals"""
    charset: str | None
    """the one named by the server that sent it"""
    title: str
    kind: str
    size: int
    status: DocumentStatus
    error: Failure | None
    fingerprint: str
    """of the content and of how it was split; empty if no version is ready"""
    revision: int
    """the ready version; 0 if there is none"""
    incoming: int | None
    """a newer version that is being added or has failed"""
    sections: int
    chunks: int
    pages_without_text: str

    @property
    def is_ready(self) -> bool:
        return self.status is DocumentStatus.READY

    @property
    def is_under_way(self) -> bool:
        """Whether it, or a newer version of it, is being added."""
        is_newer_to_come = self.is_ready and self.incoming is not None and self.error is None
        return self.status is DocumentStatus.PENDING or is_newer_to_come

    @property
    def needs_retry(self) -> bool:
        """Whether it, or its newer version, has failed or is being added."""
        return self.status is DocumentStatus.FAILED or self.error is not None or self.is_under_way

    @property
    def revisions(self) -> tuple[int, ...]:
        """Versions whose originals are kept."""
        return tuple(number for number in (self.revision, self.incoming) if number)


def archive_folder(source: str, parent: str | None) -> str:
    """The folders of a member of an archive, which often tell what its name does not: 2025年度 for
    rules.zip/2025年度/travel.txt. Empty for every other document. `parent`: of the document.
    """
    if parent is None or "://" in parent:  # a page belongs to its site
        return ""
    return source.removeprefix(f"{parent}/").rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class FoundChunk:
    """A chunk that a search may show, or the section that contains it: `text` is the text shown."""

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
    header: str
    """the header of the table, if `text` begins among its rows"""
