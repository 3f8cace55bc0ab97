"""What the index store knows, as data: indexes, documents, their sections, and the hits of a search."""

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel

from index_store.errors import Failure


class DocumentStatus(StrEnum):
    PENDING = "pending"
    READY = "ready"
    FAILED = "failed"


class AddStatus(StrEnum):
    READY = "ready"
    UNCHANGED = "unchanged"
    FAILED = "failed"


class Index(BaseModel, frozen=True):
    name: str
    documents: int
    """how many are ready"""
    chunks: int
    embedding_model: str
    dimension: int


class Document(BaseModel, frozen=True):
    id: str
    index: str
    source: str
    """an absolute path, an upload's file name, or later a URL; unique within an index"""
    title: str
    kind: str
    """txt, md, html or pdf"""
    size: int
    """of the original, in bytes"""
    status: DocumentStatus
    error: Failure | None
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


class Hit(BaseModel, frozen=True):
    """A chunk that a search found: a piece of its section's text, from `start` to `end` in characters."""

    rank: int
    """from 1"""
    score: float
    """cosine similarity, -1 to 1, for a vector search"""
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
