"""Indexes, documents, sections and chunks in SQL. A chunk's vector is in vectors.py, under the chunk's id."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, Row, delete, func, insert, select, update

from index_store import errors
from index_store.analysis import Analysis, Analyzer
from index_store.errors import Failure
from index_store.keywords import Entry, Keywords
from index_store.loaders.sections import Split
from index_store.records import Chunk, Document, DocumentStatus, Hit, Index, Section
from index_store.schema import chunks, documents, dropped, indexes, leftovers, open_catalogue, pages, sections, sites
from index_store.split import Section as SplitSection

VARIABLES = 900
"""values in one IN (...); SQLite before 3.32 takes 999"""

PARTS = 200
"""sections that are written at once: of a long document no more are in memory"""


class Leftover(NamedTuple):
    collection: str
    document_id: str
    revision: int
    chunks: int

    @property
    def ids(self) -> list[str]:
        return [chunk_id(self.document_id, self.revision, position) for position in range(self.chunks)]


@dataclass(frozen=True)
class Draft:
    """A version of a document on its way in."""

    index_id: str
    collection: str
    """of the index, when the draft was begun"""
    document_id: str
    revision: int
    source: str
    parent: str | None
    name: str
    kind: str
    charset: str | None
    size: int
    fingerprint: str
    known: dict | None = None
    """of a crawled page, what the crawler wants to know again"""
    is_new: bool = False
    """whether the document was not there before"""


def chunk_id(document_id: str, revision: int, position: int) -> str:
    """The revision is part of it, so that a new version is written beside the old one."""
    return f"{document_id}-{revision}-{position:06}"


class Catalogue:
    """Every method is one transaction. Several threads read while one writes."""

    def __init__(self, file: Path) -> None:
        self._engine: Engine = open_catalogue(file, lambda value: json.dumps(value, ensure_ascii=False))

    def close(self) -> None:
        self._engine.dispose()

    # Indexes

    def indexes(self) -> list[Index]:
        def how_many(status: DocumentStatus):
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
                func.coalesce(func.sum(documents.c.chunks).filter(ready), 0).label("chunks"),
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

    def index_by_id(self, index_id: str) -> Row | None:
        with self._engine.connect() as connection:
            return connection.execute(select(indexes).where(indexes.c.id == index_id)).one_or_none()

    def index_rows(self) -> Sequence[Row]:
        with self._engine.connect() as connection:
            return connection.execute(select(indexes).order_by(indexes.c.name)).all()

    def create_index(self, id_: str, name: str, embedding_model: str, collection: str, analysis: str) -> None:
        """Its dimension is 0 until the first document is ready."""
        values = {
            "id": id_, "name": name, "embedding_model": embedding_model, "dimension": 0, "collection": collection,
            "analysis": analysis,
        }  # fmt: skip
        with self._engine.begin() as connection:
            connection.execute(insert(indexes).values(**values))
            _keywords(id_).create(connection)

    def rename_index(self, index_id: str, name: str) -> None:
        with self._engine.begin() as connection:
            connection.execute(update(indexes).where(indexes.c.id == index_id).values(name=name))

    def set_model(self, index_id: str, embedding_model: str, collection: str) -> None:
        """Another model, and a collection for its vectors: every document that was ready is to be embedded again."""
        with self._engine.begin() as connection:
            _drop_collection_of(connection, index_id)
            values = {"embedding_model": embedding_model, "dimension": 0, "collection": collection}
            connection.execute(update(indexes).where(indexes.c.id == index_id).values(**values))
            connection.execute(
                update(documents)
                .where(documents.c.index_id == index_id, documents.c.status == DocumentStatus.READY)
                .values(status=DocumentStatus.PENDING, error=None)
            )

    def delete_index(self, index_id: str) -> None:
        with self._engine.begin() as connection:
            _drop_collection_of(connection, index_id)
            connection.execute(delete(indexes).where(indexes.c.id == index_id))
            _keywords(index_id).drop(connection)

    def has_chunks(self, index_id: str) -> bool:
        """Whether a search can find anything."""
        query = select(documents.c.id).where(
            documents.c.index_id == index_id, documents.c.status == DocumentStatus.READY, documents.c.chunks > 0
        )
        with self._engine.connect() as connection:
            return connection.execute(query.limit(1)).first() is not None

    # Documents

    def documents(self, index: str | None = None) -> list[Document]:
        query = (
            select(documents, indexes.c.name.label("index")).join(indexes).order_by(indexes.c.name, documents.c.source)
        )
        if index is not None:
            query = query.where(indexes.c.name == index)
        with self._engine.connect() as connection:
            return [_document(row) for row in connection.execute(query)]

    def document(self, document_id: str) -> Document | None:
        query = select(documents, indexes.c.name.label("index")).join(indexes).where(documents.c.id == document_id)
        with self._engine.connect() as connection:
            row = connection.execute(query).one_or_none()
        return _document(row) if row else None

    def row(self, index_id: str, source: str) -> Row | None:
        query = select(documents).where(documents.c.index_id == index_id, documents.c.source == source)
        with self._engine.connect() as connection:
            return connection.execute(query).one_or_none()

    def row_by_id(self, document_id: str) -> Row | None:
        with self._engine.connect() as connection:
            return connection.execute(select(documents).where(documents.c.id == document_id)).one_or_none()

    def rows(self, index_id: str) -> Sequence[Row]:
        query = select(documents).where(documents.c.index_id == index_id).order_by(documents.c.source)
        with self._engine.connect() as connection:
            return connection.execute(query).all()

    def versions(self) -> set[tuple[str, int]]:
        """Document and revision of every original that is to be kept."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(documents.c.id, documents.c.revision, documents.c.incoming)).all()
        return {(row.id, number) for row in rows for number in (row.revision, row.incoming) if number}

    def begin(self, draft: Draft) -> None:
        """A version that is ready stays so until this one is."""
        values = {"parent": draft.parent, "name": draft.name, "charset": draft.charset, "incoming": draft.revision}
        with self._engine.begin() as connection:
            if draft.is_new:
                connection.execute(
                    insert(documents).values(
                        id=draft.document_id, index_id=draft.index_id, source=draft.source, title=draft.name,
                        kind=draft.kind, size=draft.size, status=DocumentStatus.PENDING, error=None, fingerprint="",
                        revision=0, sections=0, chunks=0, added_at=_now(), **values,
                    )
                )  # fmt: skip
                return
            this = documents.c.id == draft.document_id
            connection.execute(update(documents).where(this).values(error=None, **values))
            pending = {"status": DocumentStatus.PENDING, "kind": draft.kind, "size": draft.size}
            connection.execute(
                update(documents).where(this, documents.c.status != DocumentStatus.READY).values(**pending)
            )

    def put_failed(self, draft: Draft, failure: Failure) -> None:
        """A version that is ready stays as it is, with the failure beside it."""
        with self._engine.begin() as connection:
            _put_error(connection, _still(draft), failure)

    def put_error(self, document_id: str, failure: Failure) -> None:
        """The same of whatever version."""
        with self._engine.begin() as connection:
            _put_error(connection, documents.c.id == document_id, failure)

    def put_refused(self, draft: Draft, failure: Failure) -> None:
        """A document of which nothing is kept: a page that can't be fetched, a file of an unknown kind."""
        with self._engine.begin() as connection:
            if not draft.is_new:
                _put_error(connection, documents.c.id == draft.document_id, failure)
                return
            connection.execute(
                insert(documents).values(
                    id=draft.document_id, index_id=draft.index_id, source=draft.source, parent=draft.parent,
                    name=draft.name, title=draft.name, kind=draft.kind, size=draft.size, status=DocumentStatus.FAILED,
                    error=failure.model_dump(), fingerprint="", revision=0, sections=0, chunks=0, added_at=_now(),
                )
            )  # fmt: skip

    def settle(self, document_id: str, known: dict | None) -> None:
        """The version that is ready is the newest: no other is on its way, none has failed."""
        with self._engine.begin() as connection:
            connection.execute(update(documents).where(documents.c.id == document_id).values(error=None, incoming=None))
            if known is not None:
                _put_page(connection, document_id, known)

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

    def put_ready(self, draft: Draft, split: Split, dimension: int, entries: Iterable[Entry]) -> Leftover | None:
        """Puts this version in place of the one before, whose vectors are then left over. They are to be deleted.

        `entries`: the full text of its chunks. Raises Superseded.
        """
        with self._engine.begin() as connection:
            index = connection.execute(select(indexes).where(indexes.c.id == draft.index_id)).one_or_none()
            before = connection.execute(select(documents).where(_still(draft))).one_or_none()
            if before is None or index is None or index.collection != draft.collection:
                raise errors.Superseded(name=draft.name)
            old = Leftover(draft.collection, before.id, before.revision, before.chunks) if before.chunks else None
            if old:
                connection.execute(insert(leftovers).prefix_with("OR REPLACE").values(**old._asdict()))
                connection.execute(delete(sections).where(sections.c.document_id == before.id))
            values = {
                "parent": draft.parent, "name": draft.name, "charset": draft.charset, "title": split.title,
                "kind": draft.kind, "size": draft.size, "status": DocumentStatus.READY, "error": None,
                "fingerprint": draft.fingerprint, "revision": draft.revision, "incoming": None,
                "sections": split.section_count, "chunks": split.chunk_count, "added_at": _now(),
            }  # fmt: skip
            connection.execute(update(documents).where(documents.c.id == before.id).values(**values))
            self._insert_parts(connection, draft, split)
            keywords = _keywords(index.id)
            keywords.delete_document(connection, before.id)
            keywords.put(connection, before.id, entries)
            _put_page(connection, draft.document_id, draft.known)
            new = Leftover(draft.collection, before.id, draft.revision, split.chunk_count)
            connection.execute(_leftover_row(new))
            if not index.dimension:
                connection.execute(update(indexes).where(indexes.c.id == index.id).values(dimension=dimension))
            return old

    def mark_removing(self, ids: Sequence[str]) -> None:
        """From here on no search finds them."""
        with self._engine.begin() as connection:
            for some in _slices(ids):
                connection.execute(
                    update(documents).where(documents.c.id.in_(some)).values(status=DocumentStatus.REMOVING)
                )

    def removing(self) -> Sequence[Row]:
        query = select(documents, indexes.c.collection).join(indexes)
        with self._engine.connect() as connection:
            return connection.execute(query.where(documents.c.status == DocumentStatus.REMOVING)).all()

    def delete_documents(self, ids: Sequence[str]) -> None:
        """After their vectors are gone."""
        query = select(documents.c.id, documents.c.index_id)
        with self._engine.begin() as connection:
            for some in _slices(ids):
                rows = connection.execute(query.where(documents.c.id.in_(some))).all()
                connection.execute(delete(documents).where(documents.c.id.in_(some)))
                for row in rows:
                    _keywords(row.index_id).delete_document(connection, row.id)

    # Collections that no index uses any more

    def dropped(self) -> list[str]:
        with self._engine.connect() as connection:
            return list(connection.execute(select(dropped.c.collection)).scalars())

    def forget_dropped(self, collection: str) -> None:
        with self._engine.begin() as connection:
            connection.execute(delete(dropped).where(dropped.c.collection == collection))

    def give_space_back(self) -> None:
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM")

    # Sites

    def put_site(self, index_id: str, url: str, options: dict) -> None:
        """Its crawl begins."""
        with self._engine.begin() as connection:
            known = connection.execute(select(sites.c.crawled_at).where(_site(index_id, url))).one_or_none()
            values = {"options": options, "is_crawling": True}
            if known:
                connection.execute(update(sites).where(_site(index_id, url)).values(**values))
            else:
                connection.execute(insert(sites).values(index_id=index_id, url=url, **values))

    def end_crawl(self, index_id: str, url: str, *, is_complete: bool) -> None:
        values = {"is_crawling": False} | ({"crawled_at": _now()} if is_complete else {})
        with self._engine.begin() as connection:
            connection.execute(update(sites).where(_site(index_id, url)).values(**values))

    def delete_site(self, index_id: str, url: str) -> None:
        with self._engine.begin() as connection:
            connection.execute(delete(sites).where(_site(index_id, url)))

    def has_site(self, index_id: str, url: str) -> bool:
        with self._engine.connect() as connection:
            return connection.execute(select(sites.c.url).where(_site(index_id, url))).first() is not None

    def sites(self, index_id: str) -> Sequence[Row]:
        with self._engine.connect() as connection:
            return connection.execute(select(sites).where(sites.c.index_id == index_id).order_by(sites.c.url)).all()

    def known_pages(self, index_id: str, site: str) -> dict[str, dict | None]:
        """Source of each document of the site -> what the crawler wants to know again, where a version is ready."""
        query = (
            select(documents.c.source, documents.c.status, pages.c.known)
            .select_from(documents.outerjoin(pages))
            .where(documents.c.index_id == index_id, documents.c.parent == site)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        return {row.source: row.known if row.status == DocumentStatus.READY else None for row in rows}

    # Sections and chunks

    def sections(self, document_id: str) -> list[Section]:
        query = select(sections, documents.c.source, documents.c.title).join(documents)
        query = query.where(sections.c.document_id == document_id).order_by(sections.c.position)
        with self._engine.connect() as connection:
            return [_section(row) for row in connection.execute(query)]

    def chunks(self, document_id: str) -> list[Chunk]:
        query = select(chunks).join(sections).where(sections.c.document_id == document_id).order_by(chunks.c.position)
        with self._engine.connect() as connection:
            return [
                Chunk(
                    id=row.id, section_id=row.section_id, position=row.position, headings=tuple(row.headings),
                    page=row.page, start=row.start, end=row.end,
                )
                for row in connection.execute(query)
            ]  # fmt: skip

    def chunk_ids(self, index_id: str, *, only_ready: bool = True) -> Iterator[tuple[str, str]]:
        """Chunk and document of every chunk; by default of those that a search may find."""
        query = (
            select(chunks.c.id, documents.c.id.label("document_id"))
            .select_from(chunks.join(sections).join(documents))
            .where(documents.c.index_id == index_id)
        )
        if only_ready:
            query = query.where(documents.c.status == DocumentStatus.READY)
        with self._engine.connect() as connection:
            for row in connection.execute(query):
                yield row.id, row.document_id

    # Full text

    def set_glossary(self, index_id: str, glossary: str | None) -> None:
        """`analyse_again` is to follow."""
        values = {"glossary": glossary, "analysis": None}
        with self._engine.begin() as connection:
            connection.execute(update(indexes).where(indexes.c.id == index_id).values(**values))

    def analyse_again(self, index_id: str, analyzer: Analyzer) -> None:
        """Makes the full text of the index anew from its sections."""
        keywords = _keywords(index_id)
        with self._engine.begin() as connection:
            connection.execute(update(indexes).where(indexes.c.id == index_id).values(analysis=analyzer.id))
            keywords.drop(connection)
            keywords.create(connection)
            ids = connection.execute(select(documents.c.id).where(documents.c.index_id == index_id)).scalars().all()
            for document_id in ids:
                rows = connection.execute(_chunk_texts().where(documents.c.id == document_id)).all()
                keywords.put(
                    connection,
                    document_id,
                    [
                        Entry.of(analyzer, row.id, row.title, row.headings, row.text[row.start : row.end])
                        for row in rows
                    ],
                )

    def find(
        self, index_id: str, analysis: Analysis, k: int, document_ids: Sequence[str] | None
    ) -> list[tuple[str, float]]:
        """Up to `k` chunk ids by full text; see Keywords.search. Some may be of documents that are not ready."""
        with self._engine.connect() as connection:
            # All of it from one moment.
            connection.exec_driver_sql("BEGIN")
            keywords = _keywords(index_id)
            # It may have been deleted since it was looked up.
            return keywords.search(connection, analysis, k, document_ids) if keywords.exists(connection) else []

    def full_text_ids(self, index_id: str) -> set[str]:
        """Chunks that full text may find."""
        with self._engine.connect() as connection:
            return set(_keywords(index_id).chunk_ids(connection))

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
            .where(documents.c.index_id == index_id, documents.c.status == DocumentStatus.READY)
        )
        with self._engine.connect() as connection:
            for i in range(0, len(ids), VARIABLES):
                for row in connection.execute(query.where(chunks.c.id.in_(ids[i : i + VARIABLES]))):
                    found[row.id] = Hit(
                        rank=1, score=0, chunk_id=row.id, section_id=row.section_id, document_id=row.document_id,
                        source=row.source, title=row.title, headings=tuple(row.headings), page=row.page,
                        text=row.text[row.start : row.end], start=row.start, end=row.end, best_start=row.start,
                        best_end=row.end,
                    )  # fmt: skip
        return found

    def section(self, section_id: str) -> Section | None:
        query = (
            select(sections, documents.c.source, documents.c.title).join(documents).where(sections.c.id == section_id)
        )
        with self._engine.connect() as connection:
            row = connection.execute(query).one_or_none()
        return _section(row) if row else None

    @staticmethod
    def _insert_parts(connection: Connection, draft: Draft, parts: Iterable[SplitSection]) -> None:
        position = 0
        for some in _batches(enumerate(parts), PARTS):
            section_rows, chunk_rows = [], []
            for number, part in some:
                section_id = f"{draft.document_id}-{draft.revision}-s{number:05}"
                section_rows.append(
                    {
                        "id": section_id, "document_id": draft.document_id, "position": number,
                        "headings": part.headings, "page": part.page, "text": part.text,
                    }
                )  # fmt: skip
                for chunk in part.chunks:
                    chunk_rows.append(
                        {
                            "id": chunk_id(draft.document_id, draft.revision, position), "section_id": section_id,
                            "position": position, "start": chunk.start, "end": chunk.end, "page": chunk.page,
                            "headings": chunk.headings,
                        }
                    )  # fmt: skip
                    position += 1
            connection.execute(insert(sections), section_rows)
            connection.execute(insert(chunks), chunk_rows)


def _leftover_row(leftover: Leftover):
    return delete(leftovers).where(
        leftovers.c.collection == leftover.collection,
        leftovers.c.document_id == leftover.document_id,
        leftovers.c.revision == leftover.revision,
    )


def _still(draft: Draft):
    """Whether the draft is what its document still waits for: it may have been replaced or removed meanwhile."""
    return (
        (documents.c.id == draft.document_id)
        & (documents.c.incoming == draft.revision)
        & (documents.c.status != DocumentStatus.REMOVING)
    )


def _site(index_id: str, url: str):
    return (sites.c.index_id == index_id) & (sites.c.url == url)


def _drop_collection_of(connection: Connection, index_id: str) -> None:
    collection = connection.execute(select(indexes.c.collection).where(indexes.c.id == index_id)).scalar_one()
    connection.execute(insert(dropped).prefix_with("OR REPLACE").values(collection=collection))


def _keywords(index_id: str) -> Keywords:
    return Keywords(f"keywords_{index_id}")


def _chunk_texts():
    joined = chunks.join(sections).join(documents)
    columns = (chunks.c.id, chunks.c.headings, chunks.c.start, chunks.c.end, documents.c.title, sections.c.text)
    return select(*columns).select_from(joined).order_by(chunks.c.position)


def _put_error(connection: Connection, this: ColumnElement[bool], failure: Failure) -> None:
    unready = documents.c.status == DocumentStatus.PENDING
    connection.execute(update(documents).where(this).values(error=failure.model_dump()))
    connection.execute(update(documents).where(this, unready).values(status=DocumentStatus.FAILED))


def _put_page(connection: Connection, document_id: str, known: dict | None) -> None:
    connection.execute(delete(pages).where(pages.c.document_id == document_id))
    if known is not None:
        connection.execute(insert(pages).values(document_id=document_id, known=known))


def _batches(items: Iterable, size: int) -> Iterator[list]:
    items = iter(items)
    return iter(lambda: list(islice(items, size)), [])


def _slices(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[i : i + VARIABLES] for i in range(0, len(ids), VARIABLES))


def _document(row: Row) -> Document:
    return Document(
        id=row.id, index=row.index, source=row.source, parent=row.parent, title=row.title, kind=row.kind,
        size=row.size, status=DocumentStatus(row.status), error=Failure(**row.error) if row.error else None,
        sections=row.sections, chunks=row.chunks, added_at=row.added_at.replace(tzinfo=UTC),
    )  # fmt: skip


def _section(row: Row) -> Section:
    return Section(
        id=row.id, document_id=row.document_id, source=row.source, title=row.title,
        headings=tuple(row.headings), page=row.page, text=row.text,
    )  # fmt: skip


def _now() -> datetime:
    # Without a zone, as SQLite keeps it; always UTC.
    return datetime.now(UTC).replace(tzinfo=None)
