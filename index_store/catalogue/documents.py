"""Stored documents: their data, their status, and removals. New versions: pending_versions.py."""

from collections.abc import Sequence
from datetime import UTC
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, Select, cast, delete, func, select, update

from index_store.base.batches import batches
from index_store.base.database.database import VARIABLES
from index_store.base.errors import Failure
from index_store.catalogue.full_text import bm25_index
from index_store.catalogue.records import Document, DocumentRecord, DocumentStatus, IndexSize
from index_store.catalogue.removed_documents import insert_removed
from index_store.catalogue.schema import LONG, documents, indexes
from index_store.catalogue.sites import put_page

_HAS_ORIGINAL = ((documents.c.revision > 0) | documents.c.incoming.is_not(None)) & (
    documents.c.status != DocumentStatus.REMOVING
)
_SIZE = (func.count(documents.c.id), cast(func.coalesce(func.sum(documents.c.size), 0), LONG))


class Documents:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self, index_ids: Sequence[str]) -> list[Document]:
        """The documents of these indexes, by the index's name and the source."""
        with self._engine.connect() as connection:
            found = [
                _document(row)
                for some in batches(index_ids, VARIABLES)
                for row in connection.execute(_SHOWN.where(documents.c.index_id.in_(some)))
            ]
        return sorted(found, key=lambda document: (document.index, document.source))

    def get(self, document_id: str) -> Document | None:
        with self._engine.connect() as connection:
            row = connection.execute(_SHOWN.where(documents.c.id == document_id)).one_or_none()
        return _document(row) if row else None

    def records(self, index_id: str) -> list[DocumentRecord]:
        """The documents of one index, by source."""
        return self._records(select(documents).where(documents.c.index_id == index_id).order_by(documents.c.source))

    def records_of(self, ids: Sequence[str]) -> list[DocumentRecord]:
        """The documents of these ids, in their order. Unknown ids are skipped."""
        found = {
            each.id: each
            for some in batches(ids, VARIABLES)
            for each in self._records(select(documents).where(documents.c.id.in_(some)))
        }
        return [found[id_] for id_ in ids if id_ in found]

    def record(self, document_id: str) -> DocumentRecord | None:
        return next(iter(self._records(select(documents).where(documents.c.id == document_id))), None)

    def of_source(self, index_id: str, source: str) -> DocumentRecord | None:
        query = select(documents).where(documents.c.index_id == index_id, documents.c.source == source)
        return next(iter(self._records(query)), None)

    def _records(self, query: Select[Any]) -> list[DocumentRecord]:
        with self._engine.connect() as connection:
            return [_record(row) for row in connection.execute(query)]

    def index_size(
        self, index_id: str, *, but: Sequence[str] = (), but_members_of: str | None = None
    ) -> tuple[int, int]:
        """The number of an index's documents that have an original, and their bytes; without the ids `but`, and without
        the members of the archive of this source.
        """
        these = [documents.c.index_id == index_id, _HAS_ORIGINAL, documents.c.id.not_in(but)]
        if but_members_of is not None:
            these.append(documents.c.parent.is_distinct_from(but_members_of))
        with self._engine.connect() as connection:
            count, size = connection.execute(select(*_SIZE).where(*these)).one()
        return count, size

    def index_sizes(self) -> list[IndexSize]:
        """The size of every index, by name."""
        query = (
            select(indexes.c.name, indexes.c.owner_id, *_SIZE)
            .select_from(indexes.outerjoin(documents, (documents.c.index_id == indexes.c.id) & _HAS_ORIGINAL))
            .group_by(indexes.c.id)
            .order_by(indexes.c.name)
        )
        with self._engine.connect() as connection:
            return [IndexSize(*row) for row in connection.execute(query)]

    def revisions(self) -> set[tuple[str, int]]:
        """Document and revision of every original that must be kept."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(documents.c.id, documents.c.revision, documents.c.incoming)).all()
        return {(row.id, number) for row in rows for number in (row.revision, row.incoming) if number}

    def put_error(self, document_id: str, failure: Failure) -> None:
        """Records the failure. A ready version stays as it is."""
        with self._engine.begin() as connection:
            put_error(connection, documents.c.id == document_id, failure)

    def clear_incoming(
        self, document_id: str, page: dict[str, Any] | None, error: dict[str, Any] | None = None
    ) -> None:
        """Records that the ready version is the newest that is kept: no other is being added, none can be tried again.

        `page`: data for the next crawl; None keeps the present data. `error`: why a newer version never came, if one
        did not.
        """
        with self._engine.begin() as connection:
            this = documents.c.id == document_id
            connection.execute(update(documents).where(this).values(error=error, incoming=None))
            if page is not None:
                put_page(connection, document_id, page)

    def mark_removing(self, ids: Sequence[str]) -> None:
        """From now on no search finds them."""
        with self._engine.begin() as connection:
            for some in batches(ids, VARIABLES):
                connection.execute(
                    update(documents).where(documents.c.id.in_(some)).values(status=DocumentStatus.REMOVING)
                )

    def removing(self) -> list[DocumentRecord]:
        """Documents of all indexes that must be removed."""
        return self._records(select(documents).where(documents.c.status == DocumentStatus.REMOVING))

    def delete(self, ids: Sequence[str]) -> None:
        """Called after their vectors are deleted."""
        query = select(documents.c.id, documents.c.index_id)
        with self._engine.begin() as connection:
            for some in batches(ids, VARIABLES):
                rows = connection.execute(query.where(documents.c.id.in_(some))).all()
                connection.execute(delete(documents).where(documents.c.id.in_(some)))
                insert_removed(connection, (row.id for row in rows))
                for row in rows:
                    bm25_index(row.index_id).delete_document(connection, row.id)


def put_error(connection: Connection, this: ColumnElement[bool], failure: Failure) -> None:
    unready = documents.c.status == DocumentStatus.PENDING
    connection.execute(update(documents).where(this).values(error=failure.model_dump()))
    connection.execute(update(documents).where(this, unready).values(status=DocumentStatus.FAILED))


_SHOWN = select(documents, indexes.c.name.label("index_name")).join(indexes)


def _document(row: Row[Any]) -> Document:
    return Document(
        id=row.id, index=row.index_name, source=row.source, parent=row.parent, title=row.title, kind=row.kind,
        size=row.size, status=DocumentStatus(row.status), error=Failure(**row.error) if row.error else None,
        sections=row.sections, chunks=row.chunks, pages_without_text=row.pages_without_text or "",
        added_at=row.added_at.replace(tzinfo=UTC),
    )  # fmt: skip


def _record(row: Row[Any]) -> DocumentRecord:
    return DocumentRecord(
        id=row.id, index_id=row.index_id, source=row.source, parent=row.parent, name=row.name, charset=row.charset,
        title=row.title, kind=row.kind, size=row.size, status=DocumentStatus(row.status),
        error=Failure(**row.error) if row.error else None, fingerprint=row.fingerprint, revision=row.revision,
        incoming=row.incoming, sections=row.sections, chunks=row.chunks,
        pages_without_text=row.pages_without_text or "",
    )  # fmt: skip
