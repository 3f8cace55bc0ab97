"""What became of one source, as jobs tell it."""

from sqlalchemy import Row

from index_store.base.errors import PlainError
from index_store.base.records import Added, AddStatus
from index_store.library.versions import Version


def ready(version: Version) -> Added:
    return Added(
        source=version.draft.source, status=AddStatus.READY, document_id=version.draft.document_id,
        chunks=version.split.chunk_count, sections=version.split.section_count, error=None,
    )  # fmt: skip


def unchanged(document: Row) -> Added:
    return Added(
        source=document.source, status=AddStatus.UNCHANGED, document_id=document.id,
        chunks=document.chunks, sections=document.sections, error=None,
    )  # fmt: skip


def removed(document: Row) -> Added:
    return Added(
        source=document.source, status=AddStatus.REMOVED, document_id=document.id, chunks=0, sections=0, error=None
    )


def failed(source: str, document_id: str | None, error: PlainError) -> Added:
    return Added(
        source=source, status=AddStatus.FAILED, document_id=document_id, chunks=0, sections=0, error=error.as_failure()
    )
