"""What the index store knows, as data: indexes, documents, their sections, and the hits of a search."""

from datetime import datetime
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel

from index_store.base.errors import Failure
from index_store.crawl import CrawlOptions


class DocumentStatus(StrEnum):
    PENDING = "pending"
    """kept, and still to be read and embedded"""
    READY = "ready"
    """the only one that a search finds"""
    FAILED = "failed"
    REMOVING = "removing"


class AddStatus(StrEnum):
    READY = "ready"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    REMOVED = "removed"
    """gone from the site or archive that it came from"""


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


class Added(BaseModel, frozen=True):
    """What became of one source that was to be added."""

    source: str
    status: AddStatus
    document_id: str | None
    chunks: int
    sections: int
    error: Failure | None


class Section(BaseModel, frozen=True):
    """What the model reads: the text under one heading, with the path of headings above it."""

    id: str
    document_id: str
    source: str
    title: str
    headings: tuple[str, ...]
    page: int | None
    """from 1, where the format has pages"""
    text: str


class Chunk(BaseModel, frozen=True):
    """What is searched: `section.text[start:end]`, in characters."""

    id: str
    section_id: str
    position: int
    """within the document, from 0"""
    headings: tuple[str, ...]
    page: int | None
    start: int
    end: int


class Original(BaseModel, frozen=True):
    """The file as it came."""

    path: Path
    name: str
    kind: str
    charset: str | None
    """what the server that sent it claimed"""


class Site(BaseModel, frozen=True):
    """A site that was crawled; its documents have its address as their parent."""

    index: str
    options: CrawlOptions
    is_crawling: bool
    crawled_at: datetime | None
    """None until a crawl has come to its end"""


class Difference(BaseModel, frozen=True):
    """Where catalogue, vectors and originals do not agree."""

    index: str | None
    document: str | None
    """its source"""
    what: Failure


class WordCount(BaseModel, frozen=True):
    """Where a word of a question stands."""

    chunks: int
    """that hold it"""
    has_parts: bool
    """whether any two of its characters stand together somewhere: what is Japanese may be found by these alone"""


class Place(BaseModel, frozen=True):
    """Where else a text stands."""

    chunk_id: str
    section_id: str
    document_id: str
    source: str
    title: str
    headings: tuple[str, ...]
    page: int | None


class Hit(Place):
    """A chunk that a search found, or its section: a piece of a section's text, from `start` to `end` in characters."""

    rank: int
    """from 1"""
    score: float
    """of a vector search the cosine, -1 to 1; of a keyword search the share of the question that it holds, 0 to 1; of
    both what fusion.py makes of them"""
    text: str
    start: int
    end: int
    best_start: int
    best_end: int
    """in the section, where the chunk that was found stands"""
    vector_rank: int | None = None
    """from 1; None where that side did not find it, or was not asked"""
    vector_score: float | None = None
    keyword_rank: int | None = None
    keyword_score: float | None = None
    copies: tuple[Place, ...] = ()
    """where next to the same text stands, best first: these are no hits of their own"""
