"""Sections and chunks, written and read. A chunk's vector is in Chroma, under the chunk's id."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, Table, bindparam, insert, select

from index_store.base.batches import batches
from index_store.base.database.database import VARIABLES
from index_store.catalogue.records import Chunk, DocumentStatus, FoundChunk, Section
from index_store.catalogue.schema import chunks, documents, sections
from index_store.parsing.chunking.blocks import header_at
from index_store.parsing.chunking.chunker import ParsedSection

AT_ONCE = 200
"""sections that are written together, so that only these of a long document are in memory"""


def chunk_id(document_id: str, revision: int, position: int) -> str:
    """Contains the revision, so that a new version can be written next to the old one."""
    return f"{document_id}-{revision}-{position:06}"


class Sections:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of(self, document_id: str) -> list[Section]:
        query = _SECTIONS.where(sections.c.document_id == document_id).order_by(sections.c.position)
        with self._engine.connect() as connection:
            return [_section(row) for row in connection.execute(query)]

    def get(self, section_id: str) -> Section | None:
        with self._engine.connect() as connection:
            row = connection.execute(_SECTIONS.where(sections.c.id == section_id)).one_or_none()
        return _section(row) if row else None

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

    def embedded(self, document_id: str) -> Iterator[tuple[str, bytes]]:
        """Id, and digest of the text that was embedded, of every chunk for which it is known, in their order."""
        query = (
            select(chunks.c.id, chunks.c.digest)
            .join(sections)
            .where(sections.c.document_id == document_id, chunks.c.digest.is_not(None))
            .order_by(chunks.c.position)
        )
        with self._engine.connect() as connection:
            for row in connection.execute(query):
                yield row.id, row.digest

    def chunk_ids(self, index_id: str, *, only_ready: bool = True) -> Iterator[tuple[str, str]]:
        """Chunk and document of every chunk; by default only of those that a search may find."""
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

    def found(self, index_id: str, ids: Sequence[str], *, whole_sections: bool) -> dict[str, FoundChunk]:
        """The chunks with these ids that a search may find, or the sections that contain them, by the chunk's id."""
        query = _IN_SECTIONS if whole_sections else _ALONE
        with self._engine.connect() as connection:
            return {
                row.id: _found(row, whole_section=whole_sections)
                for some in batches(ids, VARIABLES)
                for row in connection.execute(query, {"index_id": index_id, "ids": some})
            }


def insert_sections(connection: Connection, document_id: str, revision: int, parsed: Iterable[ParsedSection]) -> None:
    position = 0
    for some in batches(enumerate(parsed), AT_ONCE):
        section_rows, chunk_rows = [], []
        for number, section in some:
            section_id = f"{document_id}-{revision}-s{number:05}"
            section_rows.append(
                {
                    "id": section_id, "document_id": document_id, "position": number, "headings": section.headings,
                    "page": section.page, "text": section.text,
                }
            )  # fmt: skip
            for chunk in section.chunks:
                chunk_rows.append(
                    {
                        "id": chunk_id(document_id, revision, position), "section_id": section_id,
                        "position": position, "start": chunk.start, "end": chunk.end, "page": chunk.page,
                        "headings": chunk.headings, "digest": chunk.digest,
                    }
                )  # fmt: skip
                position += 1
        connection.execute(insert(sections), section_rows)
        connection.execute(insert(chunks), chunk_rows)


_SECTIONS = select(sections, documents.c.source, documents.c.title).join(documents)


def _found_query(named: Table) -> Select[Any]:
    """`named`: which of the two has the headings. The page is the chunk's: a section may be over many."""
    columns = (chunks.c.id, chunks.c.section_id, sections.c.document_id, documents.c.source, documents.c.title)
    place = (named.c.headings, chunks.c.page, sections.c.text, chunks.c.start, chunks.c.end)
    return (
        select(*columns, *place)
        .select_from(chunks.join(sections).join(documents))
        .where(
            documents.c.index_id == bindparam("index_id"),
            documents.c.status == DocumentStatus.READY,
            chunks.c.id.in_(bindparam("ids", expanding=True)),
        )
    )


_ALONE, _IN_SECTIONS = _found_query(chunks), _found_query(sections)


def _section(row: Row[Any]) -> Section:
    return Section(
        id=row.id, document_id=row.document_id, source=row.source, title=row.title,
        headings=tuple(row.headings), page=row.page, text=row.text,
    )  # fmt: skip


def _found(row: Row[Any], *, whole_section: bool) -> FoundChunk:
    start, end = (0, len(row.text)) if whole_section else (row.start, row.end)
    return FoundChunk(
        chunk_id=row.id, section_id=row.section_id, document_id=row.document_id, source=row.source,
        title=row.title, headings=tuple(row.headings), page=row.page, text=row.text[start:end], start=start, end=end,
        best_start=row.start, best_end=row.end, header=header_at(row.text, start),
    )  # fmt: skip
