"""New versions of documents: started, then finished, failed or refused. A ready version stays until then."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, delete, insert, select, update

from index_store.base import errors
from index_store.base.errors import Failure
from index_store.catalogue.documents import put_error
from index_store.catalogue.full_text import bm25_index
from index_store.catalogue.leftovers import Leftover, delete_leftover, insert_leftovers
from index_store.catalogue.records import DocumentStatus, Lease, archive_folder
from index_store.catalogue.schema import documents, indexes, job_items, now, sections
from index_store.catalogue.sections import insert_sections
from index_store.catalogue.sites import put_page
from index_store.full_text.bm25 import ChunkTerms
from index_store.parsing.worker.protocol import ParsedDocument


@dataclass(frozen=True)
class PendingVersion:
    """A version of a document that is being added."""

    index_id: str
    collection: str
    """of the index, when this version was begun"""
    document_id: str
    revision: int
    source: str
    parent: str | None
    name: str
    kind: str
    charset: str | None
    size: int
    fingerprint: str
    page: dict[str, Any] | None = None
    """for a crawled page: data that the next crawl needs"""
    is_new: bool = False
    """whether the document is new"""
    embeds_all: bool = False
    """whether also texts that the version before has are embedded again, because somebody asked for this"""
    error: dict[str, Any] | None = None
    """why a newer version never came, which stays true of this one: it is made from the stored original"""
    retries: bool = False
    """whether it is another try at a version that is newer than the ready one, and had not come to its end"""
    lease: Lease | None = None
    """under which it is processed, if there are several processes"""

    @property
    def archive_folder(self) -> str:
        return archive_folder(self.source, self.parent)


class PendingVersions:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, version: PendingVersion) -> None:
        """A ready version stays ready until this one is."""
        values = {
            "parent": version.parent, "name": version.name, "charset": version.charset, "incoming": version.revision,
        }  # fmt: skip
        with self._engine.begin() as connection:
            if version.is_new:
                connection.execute(insert(documents).values(**_first(version), **values, status=DocumentStatus.PENDING))
                return
            this = documents.c.id == version.document_id
            connection.execute(update(documents).where(this).values(error=None, **values))
            pending = {"status": DocumentStatus.PENDING, "kind": version.kind, "size": version.size}
            connection.execute(
                update(documents).where(this, documents.c.status != DocumentStatus.READY).values(**pending)
            )

    def note_vectors(self, versions: Sequence[tuple[PendingVersion, Leftover]]) -> list[PendingVersion]:
        """Called before the vectors are written: records them as left over until their version is finished. Returns the
        versions whose lease is still held.
        """
        with self._engine.begin() as connection:
            held = [(version, leftover) for version, leftover in versions if _is_held(connection, version.lease)]
            if held:
                insert_leftovers(connection, [leftover for _, leftover in held])
        return [version for version, _ in held]

    def finish(
        self, version: PendingVersion, parsed: ParsedDocument, dimension: int, terms: Iterable[ChunkTerms]
    ) -> Leftover | None:
        """Puts this version in place of the one before. Returns that one's vectors, which must be deleted.

        `terms`: the full text of its chunks. Raises Superseded, LeaseLost.
        """
        with self._engine.begin() as connection:
            if not _is_held(connection, version.lease):
                raise errors.LeaseLost(name=version.name)
            index = connection.execute(select(indexes).where(indexes.c.id == version.index_id)).one_or_none()
            before = connection.execute(select(documents).where(_still(version)).with_for_update()).one_or_none()
            if before is None or index is None or index.collection != version.collection:
                raise errors.Superseded(name=version.name)
            old = Leftover(version.collection, before.id, before.revision, before.chunks) if before.chunks else None
            if old:
                insert_leftovers(connection, [old])
                connection.execute(delete(sections).where(sections.c.document_id == before.id))
            values = {
                "parent": version.parent, "name": version.name, "charset": version.charset, "title": parsed.title,
                "kind": version.kind, "size": version.size, "status": DocumentStatus.READY, "error": version.error,
                "fingerprint": version.fingerprint, "revision": version.revision, "incoming": None,
                "sections": parsed.section_count, "chunks": parsed.chunk_count,
                "pages_without_text": parsed.pages_without_text, "added_at": now(),
            }  # fmt: skip
            connection.execute(update(documents).where(documents.c.id == before.id).values(**values))
            insert_sections(connection, before.id, version.revision, parsed)
            full_text = bm25_index(index.id)
            full_text.delete_document(connection, before.id)
            full_text.put(connection, before.id, terms)
            put_page(connection, before.id, version.page)
            delete_leftover(connection, Leftover(version.collection, before.id, version.revision, parsed.chunk_count))
            if not index.dimension:
                connection.execute(update(indexes).where(indexes.c.id == index.id).values(dimension=dimension))
            return old

    def fail(self, version: PendingVersion, failure: Failure) -> None:
        """Records the failure. A ready version stays as it is."""
        with self._engine.begin() as connection:
            put_error(connection, _still(version), failure)

    def refuse(self, version: PendingVersion, failure: Failure) -> None:
        """Records a document without a file: a page that can't be fetched, a file of an unknown kind."""
        with self._engine.begin() as connection:
            if not version.is_new:
                put_error(connection, documents.c.id == version.document_id, failure)
                return
            connection.execute(
                insert(documents).values(
                    **_first(version), parent=version.parent, name=version.name, status=DocumentStatus.FAILED,
                    error=failure.model_dump(),
                )
            )  # fmt: skip


def _is_held(connection: Connection, lease: Lease | None) -> bool:
    """Whether the lease is held; this stays so until the transaction ends."""
    if lease is None:
        return True
    item = select(job_items.c.id).where(job_items.c.id == lease.item_id, job_items.c.lease == lease.token)
    return connection.execute(item.with_for_update()).first() is not None


def _first(version: PendingVersion) -> dict[str, Any]:
    """The values of a new document before any version of it is ready."""
    return {
        "id": version.document_id, "index_id": version.index_id, "source": version.source, "title": version.name,
        "kind": version.kind, "size": version.size, "fingerprint": "", "revision": 0, "sections": 0, "chunks": 0,
        "added_at": now(),
    }  # fmt: skip


def _still(version: PendingVersion) -> ColumnElement[bool]:
    """Whether its document still waits for this version: it may have been replaced or removed in the meantime."""
    return (
        (documents.c.id == version.document_id)
        & (documents.c.incoming == version.revision)
        & (documents.c.status != DocumentStatus.REMOVING)
    )
