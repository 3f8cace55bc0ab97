"""Stored indexes: each has documents, an embedding model, a collection of vectors and its own full text."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    FunctionFilter,
    Row,
    bindparam,
    delete,
    func,
    insert,
    literal,
    select,
    update,
)

from index_store.base.batches import batches
from index_store.base.database.database import VARIABLES
from index_store.catalogue.full_text import bm25_index
from index_store.catalogue.leftovers import insert_dropped
from index_store.catalogue.records import DocumentStatus, Index, IndexRecord
from index_store.catalogue.removed_documents import insert_removed
from index_store.catalogue.schema import documents, indexes


class Indexes:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self, ids: Sequence[str]) -> list[Index]:
        """Those of them that exist, by name, each with its number of documents."""

        def how_many(status: DocumentStatus) -> FunctionFilter[int]:
            return func.count(documents.c.id).filter(documents.c.status == status)

        ready = documents.c.status == DocumentStatus.READY
        query = (
            select(
                indexes.c.name,
                indexes.c.embedding_model,
                indexes.c.dimension,
                how_many(DocumentStatus.READY).label("documents"),
                how_many(DocumentStatus.PENDING).label("pending"),
                how_many(DocumentStatus.FAILED).label("failed"),
                func.count(documents.c.id).filter(ready, documents.c.pages_without_text != "").label("partial"),
                func.coalesce(func.sum(documents.c.chunks).filter(ready), 0).label("chunks"),
            )
            .select_from(indexes.outerjoin(documents))
            .group_by(indexes.c.id)
        )
        with self._engine.connect() as connection:
            found = [
                Index(**row._asdict())
                for some in batches(ids, VARIABLES)
                for row in connection.execute(query.where(indexes.c.id.in_(some)))
            ]
        return sorted(found, key=lambda index: index.name)

    def records(self) -> list[IndexRecord]:
        """By name."""
        with self._engine.connect() as connection:
            return [index_record(row) for row in connection.execute(select(indexes).order_by(indexes.c.name))]

    def record(self, index_id: str) -> IndexRecord | None:
        with self._engine.connect() as connection:
            row = connection.execute(select(indexes).where(indexes.c.id == index_id)).one_or_none()
        return index_record(row) if row else None

    def named(self, name: str) -> IndexRecord | None:
        with self._engine.connect() as connection:
            row = connection.execute(_NAMED, {"name": name}).one_or_none()
        return index_record(row) if row else None

    def has_chunks(self, index_id: str) -> bool:
        """Whether a search can find anything."""
        ready = (documents.c.status == DocumentStatus.READY, documents.c.chunks > 0)
        query = select(documents.c.id).where(documents.c.index_id == index_id, *ready)
        with self._engine.connect() as connection:
            return connection.execute(query.limit(1)).first() is not None

    def pending(self, index_id: str) -> int:
        """Number of documents that are being added, so that no search finds them yet."""
        with self._engine.connect() as connection:
            return connection.execute(_PENDING, {"id": index_id}).scalar_one()

    def create(
        self, id_: str, name: str, embedding_model: str, collection: str, analysis: str, owner_id: str | None
    ) -> None:
        """Its dimension is 0 until the first document is ready."""
        values = {
            "id": id_, "name": name, "embedding_model": embedding_model, "dimension": 0, "collection": collection,
            "analysis": analysis, "owner_id": owner_id,
        }  # fmt: skip
        with self._engine.begin() as connection:
            connection.execute(insert(indexes).values(**values))
            bm25_index(id_).create(connection)

    def rename(self, index_id: str, name: str) -> None:
        with self._engine.begin() as connection:
            connection.execute(update(indexes).where(indexes.c.id == index_id).values(name=name))

    def set_model(self, index_id: str, embedding_model: str, collection: str) -> None:
        """Sets another model, and a new collection for its vectors: ready documents must be embedded again."""
        with self._engine.begin() as connection:
            _drop_collection(connection, index_id)
            values = {"embedding_model": embedding_model, "dimension": 0, "collection": collection}
            connection.execute(update(indexes).where(indexes.c.id == index_id).values(**values))
            connection.execute(
                update(documents)
                .where(documents.c.index_id == index_id, documents.c.status == DocumentStatus.READY)
                .values(status=DocumentStatus.PENDING, error=None)
            )

    def delete(self, index_id: str) -> None:
        with self._engine.begin() as connection:
            _drop_collection(connection, index_id)
            gone = connection.execute(select(documents.c.id).where(documents.c.index_id == index_id)).scalars().all()
            insert_removed(connection, gone)
            connection.execute(delete(indexes).where(indexes.c.id == index_id))
            bm25_index(index_id).drop(connection)


def index_record(row: Row[Any]) -> IndexRecord:
    return IndexRecord(
        id=row.id, name=row.name, embedding_model=row.embedding_model, dimension=row.dimension,
        collection=row.collection, analysis=row.analysis, glossary=row.glossary,
    )  # fmt: skip


def _drop_collection(connection: Connection, index_id: str) -> None:
    collection = connection.execute(select(indexes.c.collection).where(indexes.c.id == index_id)).scalar_one()
    insert_dropped(connection, collection)


# Made once: to make a query takes as long as to run it, and each search runs it.
_NAMED = select(indexes).where(indexes.c.name == bindparam("name"))
# With the status as a literal, which a partial index needs.
_PENDING = select(func.count()).where(
    documents.c.index_id == bindparam("id"),
    documents.c.status == literal(DocumentStatus.PENDING.value, literal_execute=True),
)
