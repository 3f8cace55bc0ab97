"""Documents: what is known of each, what became of it, and which are to go. How a version comes in is in drafts.py."""

from collections.abc import Sequence
from datetime import UTC

from sqlalchemy import ColumnElement, Connection, Engine, Row, delete, select, update

from index_store.base.batches import batches
from index_store.base.database import VARIABLES
from index_store.base.errors import Failure
from index_store.base.records import Document, DocumentStatus
from index_store.catalogue.full_text import keywords_of
from index_store.catalogue.schema import documents, indexes
from index_store.catalogue.sites import put_page


class Documents:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self, index: str | None = None) -> list[Document]:
        """Of the index of this name, or of every one."""
        query = _RECORDS.order_by(indexes.c.name, documents.c.source)
        if index is not None:
            query = query.where(indexes.c.name == index)
        with self._engine.connect() as connection:
            return [_document(row) for row in connection.execute(query)]

    def record(self, document_id: str) -> Document | None:
        with self._engine.connect() as connection:
            row = connection.execute(_RECORDS.where(documents.c.id == document_id)).one_or_none()
        return _document(row) if row else None

    def rows(self, index_id: str) -> Sequence[Row]:
        query = select(documents).where(documents.c.index_id == index_id).order_by(documents.c.source)
        with self._engine.connect() as connection:
            return connection.execute(query).all()

    def row(self, document_id: str) -> Row | None:
        with self._engine.connect() as connection:
            return connection.execute(select(documents).where(documents.c.id == document_id)).one_or_none()

    def of_source(self, index_id: str, source: str) -> Row | None:
        query = select(documents).where(documents.c.index_id == index_id, documents.c.source == source)
        with self._engine.connect() as connection:
            return connection.execute(query).one_or_none()

    def versions(self) -> set[tuple[str, int]]:
        """Document and revision of every original that is to be kept."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(documents.c.id, documents.c.revision, documents.c.incoming)).all()
        return {(row.id, number) for row in rows for number in (row.revision, row.incoming) if number}

    def put_error(self, document_id: str, failure: Failure) -> None:
        """A version that is ready stays as it is, with the failure beside it."""
        with self._engine.begin() as connection:
            put_error(connection, documents.c.id == document_id, failure)

    def settle(self, document_id: str, known: dict | None) -> None:
        """The version that is ready is the newest: no other is on its way, none has failed."""
        with self._engine.begin() as connection:
            connection.execute(update(documents).where(documents.c.id == document_id).values(error=None, incoming=None))
            if known is not None:
                put_page(connection, document_id, known)

    def mark_removing(self, ids: Sequence[str]) -> None:
        """From here on no search finds them."""
        with self._engine.begin() as connection:
            for some in batches(ids, VARIABLES):
                connection.execute(
                    update(documents).where(documents.c.id.in_(some)).values(status=DocumentStatus.REMOVING)
                )

    def removing(self) -> Sequence[Row]:
        """With the collection of their index."""
        query = select(documents, indexes.c.collection).join(indexes)
        with self._engine.connect() as connection:
            return connection.execute(query.where(documents.c.status == DocumentStatus.REMOVING)).all()

    def delete(self, ids: Sequence[str]) -> None:
        """After their vectors are gone."""
        query = select(documents.c.id, documents.c.index_id)
        with self._engine.begin() as connection:
            for some in batches(ids, VARIABLES):
                rows = connection.execute(query.where(documents.c.id.in_(some))).all()
                connection.execute(delete(documents).where(documents.c.id.in_(some)))
                for row in rows:
                    keywords_of(row.index_id).delete_document(connection, row.id)


def put_error(connection: Connection, this: ColumnElement[bool], failure: Failure) -> None:
    unready = documents.c.status == DocumentStatus.PENDING
    connection.execute(update(documents).where(this).values(error=failure.model_dump()))
    connection.execute(update(documents).where(this, unready).values(status=DocumentStatus.FAILED))


_RECORDS = select(documents, indexes.c.name.label("index")).join(indexes)


def _document(row: Row) -> Document:
    return Document(
        id=row.id, index=row.index, source=row.source, parent=row.parent, title=row.title, kind=row.kind,
        size=row.size, status=DocumentStatus(row.status), error=Failure(**row.error) if row.error else None,
        sections=row.sections, chunks=row.chunks, added_at=row.added_at.replace(tzinfo=UTC),
    )  # fmt: skip
