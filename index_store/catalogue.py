"""Indexes, documents, sections and chunks in SQL. A chunk's vector is in vectors.py, under the chunk's id."""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import (
    JSON,
    Column,
    Connection,
    DateTime,
    Engine,
    ForeignKey,
    Integer,
    MetaData,
    Row,
    String,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    delete,
    event,
    func,
    insert,
    select,
    update,
)

from index_store.errors import Failure
from index_store.records import Document, DocumentStatus, Hit, Index, Section
from index_store.split import Section as SplitSection

metadata = MetaData()

indexes = Table(
    "indexes",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", String(64), unique=True, nullable=False),
    Column("embedding_model", String, nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("collection", String(64), nullable=False),
)

documents = Table(
    "documents",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("index_id", ForeignKey("indexes.id", ondelete="CASCADE"), nullable=False),
    Column("source", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("kind", String, nullable=False),
    Column("size", Integer, nullable=False),
    Column("status", String, nullable=False),
    Column("error", JSON(none_as_null=True)),
    Column("fingerprint", String(64), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("sections", Integer, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("added_at", DateTime, nullable=False),
    UniqueConstraint("index_id", "source"),
)

sections = Table(
    "sections",
    metadata,
    Column("id", String, primary_key=True),
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("position", Integer, nullable=False),
    Column("headings", JSON, nullable=False),
    Column("page", Integer),
    Column("text", Text, nullable=False),
)

chunks = Table(
    "chunks",
    metadata,
    Column("id", String, primary_key=True),
    Column("section_id", ForeignKey("sections.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("position", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("page", Integer),
    Column("headings", JSON, nullable=False),
)

leftovers = Table(
    "leftovers",
    metadata,
    Column("collection", String(64), primary_key=True),
    Column("document_id", String(32), primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("chunks", Integer, nullable=False),
)
"""Vectors that may be in Chroma and not in `chunks`: noted before they are written, so that none stay."""

VARIABLES = 900
"""values in one IN (...); SQLite before 3.32 takes 999"""


class Leftover(NamedTuple):
    collection: str
    document_id: str
    revision: int
    chunks: int

    @property
    def ids(self) -> list[str]:
        return [chunk_id(self.document_id, self.revision, position) for position in range(self.chunks)]


def chunk_id(document_id: str, revision: int, position: int) -> str:
    """The revision is part of it, so that a new version is written beside the old one."""
    return f"{document_id}-{revision}-{position:06}"


class Catalogue:
    """Every method is one transaction. Several threads read while one writes."""

    def __init__(self, file: Path) -> None:
        self._engine: Engine = create_engine(
            f"sqlite:///{file}", json_serializer=lambda value: json.dumps(value, ensure_ascii=False)
        )
        event.listen(self._engine, "connect", _set_up)
        metadata.create_all(self._engine)

    def close(self) -> None:
        self._engine.dispose()

    def indexes(self) -> list[Index]:
        ready = documents.c.status == DocumentStatus.READY
        query = (
            select(
                indexes.c.name,
                indexes.c.embedding_model,
                indexes.c.dimension,
                func.count(documents.c.id).filter(ready).label("documents"),
                func.coalesce(func.sum(documents.c.chunks), 0).label("chunks"),
            )
            .select_from(indexes.outerjoin(documents))
            .group_by(indexes.c.id)
            .order_by(indexes.c.name)
        )
        with self._engine.connect() as connection:
            return [Index(**row._mapping) for row in connection.execute(query)]

    def index(self, name: str) -> Row | None:
        with self._engine.connect() as connection:
            return connection.execute(select(indexes).where(indexes.c.name == name)).one_or_none()

    def create_index(self, id_: str, name: str, embedding_model: str, collection: str) -> None:
        """Its dimension is 0 until the first document is ready."""
        with self._engine.begin() as connection:
            connection.execute(
                insert(indexes).values(
                    id=id_, name=name, embedding_model=embedding_model, dimension=0, collection=collection
                )
            )

    def set_model(self, index_id: str, embedding_model: str, collection: str) -> None:
        """For an index that holds nothing yet."""
        with self._engine.begin() as connection:
            values = {"embedding_model": embedding_model, "dimension": 0, "collection": collection}
            connection.execute(update(indexes).where(indexes.c.id == index_id).values(**values))

    def has_chunks(self, index_id: str) -> bool:
        with self._engine.connect() as connection:
            query = select(documents.c.id).where(documents.c.index_id == index_id, documents.c.chunks > 0).limit(1)
            return connection.execute(query).first() is not None

    def documents(self, index: str | None = None) -> list[Document]:
        query = (
            select(documents, indexes.c.name.label("index")).join(indexes).order_by(indexes.c.name, documents.c.source)
        )
        if index is not None:
            query = query.where(indexes.c.name == index)
        with self._engine.connect() as connection:
            return [_document(row) for row in connection.execute(query)]

    def document(self, index_id: str, source: str) -> Row | None:
        query = select(documents).where(documents.c.index_id == index_id, documents.c.source == source)
        with self._engine.connect() as connection:
            return connection.execute(query).one_or_none()

    def put_failed(
        self, index_id: str, id_: str, source: str, title: str, kind: str, size: int, failure: Failure
    ) -> None:
        """A version that is there stays as it is, with the failure beside it."""
        with self._engine.begin() as connection:
            changed = connection.execute(
                update(documents)
                .where(documents.c.index_id == index_id, documents.c.source == source)
                .values(error=failure.model_dump())
            )
            if not changed.rowcount:
                connection.execute(
                    insert(documents).values(
                        id=id_, index_id=index_id, source=source, title=title, kind=kind, size=size,
                        status=DocumentStatus.FAILED, error=failure.model_dump(), fingerprint="", revision=0,
                        sections=0, chunks=0, added_at=_now(),
                    )
                )  # fmt: skip

    def clear_error(self, document_id: str) -> None:
        with self._engine.begin() as connection:
            connection.execute(update(documents).where(documents.c.id == document_id).values(error=None))

    def note_leftover(self, leftover: Leftover) -> None:
        """Before its vectors are written."""
        with self._engine.begin() as connection:
            connection.execute(insert(leftovers).prefix_with("OR REPLACE").values(**leftover._asdict()))

    def leftovers(self) -> list[Leftover]:
        with self._engine.connect() as connection:
            return [Leftover(*row) for row in connection.execute(select(leftovers))]

    def forget_leftover(self, leftover: Leftover) -> None:
        """After its vectors are gone."""
        with self._engine.begin() as connection:
            connection.execute(_leftover_row(leftover))

    def put_ready(
        self,
        index_id: str,
        collection: str,
        id_: str,
        source: str,
        title: str,
        kind: str,
        size: int,
        fingerprint: str,
        revision: int,
        dimension: int,
        parts: Sequence[SplitSection],
    ) -> Leftover | None:
        """Puts this version in place of the one before, whose vectors are then left over. They are to be deleted."""
        with self._engine.begin() as connection:
            count = sum(len(part.chunks) for part in parts)
            before = connection.execute(select(documents).where(documents.c.id == id_)).one_or_none()
            values = {
                "index_id": index_id, "source": source, "title": title, "kind": kind, "size": size,
                "status": DocumentStatus.READY, "error": None, "fingerprint": fingerprint, "revision": revision,
                "sections": len(parts), "chunks": count, "added_at": _now(),
            }  # fmt: skip
            old = None
            if before is None:
                connection.execute(insert(documents).values(id=id_, **values))
            else:
                old = self._left_over(connection, collection, [before])
                connection.execute(delete(sections).where(sections.c.document_id == id_))
                connection.execute(update(documents).where(documents.c.id == id_).values(**values))
            self._insert_parts(connection, id_, revision, parts)
            connection.execute(_leftover_row(Leftover(collection, id_, revision, count)))
            connection.execute(update(indexes).where(indexes.c.id == index_id).values(dimension=dimension))
            return old[0] if old else None

    def remove(self, collection: str, ids: Iterable[str]) -> list[Leftover]:
        """Removes the documents; their vectors are then left over. They are to be deleted."""
        with self._engine.begin() as connection:
            rows = [connection.execute(select(documents).where(documents.c.id == id_)).one() for id_ in ids]
            left = self._left_over(connection, collection, rows)
            for row in rows:
                connection.execute(delete(documents).where(documents.c.id == row.id))
            return left

    def hits(self, index_id: str, ids: Sequence[str]) -> dict[str, Hit]:
        """The chunks with these ids that are in the index, by id; rank and score are still to be set."""
        found: dict[str, Hit] = {}
        query = (
            select(
                chunks.c.id,
                chunks.c.section_id,
                sections.c.document_id,
                documents.c.source,
                documents.c.title,
                chunks.c.headings,
                chunks.c.page,
                sections.c.text,
                chunks.c.start,
                chunks.c.end,
            )
            .select_from(chunks.join(sections).join(documents))
            .where(documents.c.index_id == index_id)
        )
        with self._engine.connect() as connection:
            for i in range(0, len(ids), VARIABLES):
                for row in connection.execute(query.where(chunks.c.id.in_(ids[i : i + VARIABLES]))):
                    found[row.id] = Hit(
                        rank=1, score=0, chunk_id=row.id, section_id=row.section_id, document_id=row.document_id,
                        source=row.source, title=row.title, headings=tuple(row.headings), page=row.page,
                        text=row.text[row.start : row.end], start=row.start, end=row.end,
                    )  # fmt: skip
        return found

    def section(self, section_id: str) -> Section | None:
        query = (
            select(sections, documents.c.source, documents.c.title).join(documents).where(sections.c.id == section_id)
        )
        with self._engine.connect() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            return None
        return Section(
            id=row.id, document_id=row.document_id, source=row.source, title=row.title,
            headings=tuple(row.headings), page=row.page, text=row.text,
        )  # fmt: skip

    @staticmethod
    def _left_over(connection: Connection, collection: str, rows: Iterable[Row]) -> list[Leftover]:
        left = [Leftover(collection, row.id, row.revision, row.chunks) for row in rows if row.chunks]
        for leftover in left:
            connection.execute(insert(leftovers).prefix_with("OR REPLACE").values(**leftover._asdict()))
        return left

    @staticmethod
    def _insert_parts(connection: Connection, document_id: str, revision: int, parts: Sequence[SplitSection]) -> None:
        section_rows, chunk_rows = [], []
        for number, part in enumerate(parts):
            section_id = f"{document_id}-{revision}-s{number:05}"
            section_rows.append(
                {
                    "id": section_id, "document_id": document_id, "position": number,
                    "headings": part.headings, "page": part.page, "text": part.text,
                }
            )  # fmt: skip
            for chunk in part.chunks:
                position = len(chunk_rows)
                chunk_rows.append(
                    {
                        "id": chunk_id(document_id, revision, position), "section_id": section_id, "position": position,
                        "start": chunk.start, "end": chunk.end, "page": chunk.page, "headings": chunk.headings,
                    }
                )  # fmt: skip
        if section_rows:
            connection.execute(insert(sections), section_rows)
            connection.execute(insert(chunks), chunk_rows)


def _leftover_row(leftover: Leftover):
    return delete(leftovers).where(
        leftovers.c.collection == leftover.collection,
        leftovers.c.document_id == leftover.document_id,
        leftovers.c.revision == leftover.revision,
    )


def _document(row: Row) -> Document:
    return Document(
        id=row.id, index=row.index, source=row.source, title=row.title, kind=row.kind, size=row.size,
        status=DocumentStatus(row.status), error=Failure(**row.error) if row.error else None,
        sections=row.sections, chunks=row.chunks, added_at=row.added_at.replace(tzinfo=UTC),
    )  # fmt: skip


def _now() -> datetime:
    # Without a zone, as SQLite keeps it; always UTC.
    return datetime.now(UTC).replace(tzinfo=None)


def _set_up(connection, _record) -> None:
    cursor = connection.cursor()
    # WAL: readers go on while one writes.
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA busy_timeout = 30000")
    cursor.close()
