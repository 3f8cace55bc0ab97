"""Versions of documents on their way in: begun, then finished, failed or refused. One that is ready stays meanwhile."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Engine, delete, insert, select, update

from index_store.base import errors
from index_store.base.errors import Failure
from index_store.base.records import DocumentStatus
from index_store.catalogue.documents import put_error
from index_store.catalogue.full_text import keywords_of
from index_store.catalogue.leftovers import Leftover, delete_leftover, insert_leftovers
from index_store.catalogue.passages import insert_passages
from index_store.catalogue.schema import documents, indexes, now, sections
from index_store.catalogue.sites import put_page
from index_store.full_text.bm25 import Entry
from index_store.parsing.worker.sections import Split


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


class Drafts:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, draft: Draft) -> None:
        """A version that is ready stays so until this one is."""
        values = {"parent": draft.parent, "name": draft.name, "charset": draft.charset, "incoming": draft.revision}
        with self._engine.begin() as connection:
            if draft.is_new:
                connection.execute(insert(documents).values(**_first(draft), **values, status=DocumentStatus.PENDING))
                return
            this = documents.c.id == draft.document_id
            connection.execute(update(documents).where(this).values(error=None, **values))
            pending = {"status": DocumentStatus.PENDING, "kind": draft.kind, "size": draft.size}
            connection.execute(
                update(documents).where(this, documents.c.status != DocumentStatus.READY).values(**pending)
            )

    def finish(self, draft: Draft, split: Split, dimension: int, entries: Iterable[Entry]) -> Leftover | None:
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
                insert_leftovers(connection, [old])
                connection.execute(delete(sections).where(sections.c.document_id == before.id))
            values = {
                "parent": draft.parent, "name": draft.name, "charset": draft.charset, "title": split.title,
                "kind": draft.kind, "size": draft.size, "status": DocumentStatus.READY, "error": None,
                "fingerprint": draft.fingerprint, "revision": draft.revision, "incoming": None,
                "sections": split.section_count, "chunks": split.chunk_count, "added_at": now(),
            }  # fmt: skip
            connection.execute(update(documents).where(documents.c.id == before.id).values(**values))
            insert_passages(connection, before.id, draft.revision, split)
            keywords = keywords_of(index.id)
            keywords.delete_document(connection, before.id)
            keywords.put(connection, before.id, entries)
            put_page(connection, before.id, draft.known)
            delete_leftover(connection, Leftover(draft.collection, before.id, draft.revision, split.chunk_count))
            if not index.dimension:
                connection.execute(update(indexes).where(indexes.c.id == index.id).values(dimension=dimension))
            return old

    def fail(self, draft: Draft, failure: Failure) -> None:
        """A version that is ready stays as it is, with the failure beside it."""
        with self._engine.begin() as connection:
            put_error(connection, _still(draft), failure)

    def refuse(self, draft: Draft, failure: Failure) -> None:
        """A document of which nothing is kept: a page that can't be fetched, a file of an unknown kind."""
        with self._engine.begin() as connection:
            if not draft.is_new:
                put_error(connection, documents.c.id == draft.document_id, failure)
                return
            connection.execute(
                insert(documents).values(
                    **_first(draft), parent=draft.parent, name=draft.name, status=DocumentStatus.FAILED,
                    error=failure.model_dump(),
                )
            )  # fmt: skip


def _first(draft: Draft) -> dict:
    """What is known of a new document before any version of it is ready."""
    return {
        "id": draft.document_id, "index_id": draft.index_id, "source": draft.source, "title": draft.name,
        "kind": draft.kind, "size": draft.size, "fingerprint": "", "revision": 0, "sections": 0, "chunks": 0,
        "added_at": now(),
    }  # fmt: skip


def _still(draft: Draft) -> ColumnElement[bool]:
    """Whether the draft is what its document still waits for: it may have been replaced or removed meanwhile."""
    return (
        (documents.c.id == draft.document_id)
        & (documents.c.incoming == draft.revision)
        & (documents.c.status != DocumentStatus.REMOVING)
    )
