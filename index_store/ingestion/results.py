"""The result of each source."""

from enum import StrEnum

from pydantic import BaseModel

from index_store.base.errors import Failure, PlainError
from index_store.catalogue.records import DocumentRecord
from index_store.library.versions import EmbeddedVersion


class IngestStatus(StrEnum):
    READY = "ready"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    REMOVED = "removed"
    """no longer in the site or archive that it came from"""


class IngestResult(BaseModel, frozen=True):
    """The result of one source."""

    source: str
    status: IngestStatus
    document_id: str | None
    chunks: int
    sections: int
    pages_without_text: str = ""
    """as in `Document`"""
    error: Failure | None


def ready(embedded: EmbeddedVersion) -> IngestResult:
    version, parsed = embedded.version, embedded.parsed
    return IngestResult(
        source=version.source, status=IngestStatus.READY, document_id=version.document_id,
        chunks=parsed.chunk_count, sections=parsed.section_count,
        pages_without_text=parsed.pages_without_text, error=None,
    )  # fmt: skip


def unchanged(document: DocumentRecord) -> IngestResult:
    return IngestResult(
        source=document.source, status=IngestStatus.UNCHANGED, document_id=document.id,
        chunks=document.chunks, sections=document.sections, pages_without_text=document.pages_without_text, error=None,
    )  # fmt: skip


def removed(document: DocumentRecord) -> IngestResult:
    return IngestResult(
        source=document.source, status=IngestStatus.REMOVED, document_id=document.id, chunks=0, sections=0, error=None
    )


def failed(source: str, document_id: str | None, error: PlainError) -> IngestResult:
    return IngestResult(
        source=source, status=IngestStatus.FAILED, document_id=document_id, chunks=0, sections=0,
        error=error.as_failure(),
    )  # fmt: skip
