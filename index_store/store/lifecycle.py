"""The life of an index: created, opened for a job, renamed, deleted. The facades check rights before they call; only
for a job, this file checks them, when the job's turn comes.
"""

import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from index_store.access.access import Access
from index_store.access.audit.entry import Action
from index_store.access.gate import Gate
from index_store.access.principal import LOCAL, Principal
from index_store.access.rights import Right
from index_store.base import errors
from index_store.catalogue.records import IndexRecord
from index_store.ingestion.context import Services
from index_store.ingestion.job import JobOrder
from index_store.ingestion.jobs import Jobs


class Lifecycle:
    """The life of all indexes of a store, shared by all its facades. Thread-safe."""

    def __init__(self, services: Services, access: Access, jobs: Jobs) -> None:
        self._library = services.library
        self._indexes = services.library.catalogue.indexes
        self._embeddings = services.embeddings
        self._access = access
        self._jobs = jobs
        self._naming = threading.Lock()
        """held while a name is checked and its index created, and while a job gets its index"""
        self._going: set[str] = set()
        """ids of indexes that are being deleted: no job begins to work on them"""

    def make(self, name: str, owner: Principal) -> IndexRecord:
        """`name`: checked. Raises IndexExists, ChangeFailed."""
        with self._naming:
            return self._make(name, owner)

    def open_for(self, order: JobOrder) -> IndexRecord:
        """Called in the job's thread. Creates the index if it is missing; an empty index takes the present model.

        Rights are checked here again, so that they can't change before the next step. Raises AccessWithdrawn,
        UnknownIndex, RightMissing, EditorNeeded, BadIndexName, IndexExists, EmbeddingModelMismatch.
        """
        gate = self._access.gate(partial(self._access.principal, order.person_id))
        with self._naming:
            index = self._to_fill(gate, order)
            if index.embedding_model != self._embeddings.id:
                if self._indexes.has_chunks(index.id):
                    raise index.model_mismatch(self._embeddings.id)
                self._library.set_model(index, self._embeddings.id)
                index = self._indexes.record(index.id) or index
            order.index_id, order.index = index.id, index.name
            return index

    def rename(self, gate: Gate, index: IndexRecord, new_name: str) -> None:
        """`new_name`: checked. Raises UnknownIndex, IndexExists, ChangeFailed."""
        with self._naming:
            self._check_stays(gate, index)
            taken = self._indexes.named(new_name)
            if taken and taken.id != index.id:
                raise errors.IndexExists(index=new_name)
            with repairable_change(index.name):
                try:
                    self._indexes.rename(index.id, new_name)
                except IntegrityError as error:  # as in `_make`
                    raise errors.IndexExists(index=new_name) from error

    def delete(self, gate: Gate, index: IndexRecord, by: Principal) -> None:
        """Waits until its jobs have ended. Raises UnknownIndex, ChangeFailed."""
        with self._ending(gate, index):
            for job in self._jobs.of(index.id):
                job.end()
            with repairable_change(index.name):
                is_deleted = self._library.delete_index(index)
            if not is_deleted:
                raise gate.unknown(index.name)
        self._access.audit.note(Action.INDEX_DELETED, by, index=index.name)

    def _to_fill(self, gate: Gate, order: JobOrder) -> IndexRecord:
        if order.index_id:
            known = gate.index_with_id(order.index_id, Right.WRITE)
        else:
            name = checked_name(order.index)
            try:
                known = gate.index_to_fill(name) or self._make(checked_new_name(name), gate.require_editor())
            except errors.IndexExists:  # another process has just created it; it may be theirs
                known = gate.index_to_fill(name)
                if known is None:
                    raise
        if known is None or known.id in self._going:
            raise gate.unknown(order.index)
        return known

    def _make(self, name: str, owner: Principal) -> IndexRecord:
        """Called while `_naming` is held. Raises IndexExists."""
        if self._indexes.named(name):
            raise errors.IndexExists(index=name)
        try:
            id_ = self._library.create_index(name, self._embeddings.id, None if owner.id == LOCAL.id else owner.id)
        except IntegrityError as error:  # another process has just created it
            raise errors.IndexExists(index=name) from error
        made = self._indexes.record(id_)
        if made is None:
            raise errors.ChangeFailed(name=name)
        self._access.audit.note(Action.INDEX_CREATED, owner, index=name)
        return made

    def _check_stays(self, gate: Gate, index: IndexRecord) -> None:
        """Called while `_naming` is held. Raises UnknownIndex if the index was deleted in the meantime, or is being
        deleted.
        """
        if index.id in self._going or self._indexes.record(index.id) is None:
            raise gate.unknown(index.name)

    @contextmanager
    def _ending(self, gate: Gate, index: IndexRecord) -> Iterator[None]:
        """Only one caller at a time may delete the index; the others get UnknownIndex."""
        with self._naming:
            self._check_stays(gate, index)
            self._going.add(index.id)
        try:
            yield
        finally:
            with self._naming:
                self._going.discard(index.id)


@contextmanager
def repairable_change(what: str) -> Iterator[None]:
    """If a change fails half-way, the next start finishes it. Raises ChangeFailed, DatabaseAway."""
    try:
        yield
    except errors.DatabaseAway:
        raise
    except (OSError, SQLAlchemyError) as error:
        raise errors.ChangeFailed(name=what) from error


def checked_name(name: str) -> str:
    """The name of an index that may be there already. Raises BadIndexName."""
    name = unicodedata.normalize("NFC", name)
    bad = any(unicodedata.category(character) in ("Cc", "Cs") or character in "/\\" for character in name)
    if not 1 <= len(name) <= 64 or bad or name != name.strip() or name in (".", ".."):
        raise errors.BadIndexName()
    return name


def checked_new_name(name: str) -> str:
    """Without characters that nobody sees, or that turn those after them: two indexes would look alike. Those that are
    named so already stay usable. Raises BadIndexName.
    """
    name = checked_name(name)
    if any(unicodedata.category(character) in _UNSEEN and character != _EMOJI_JOINER for character in name):
        raise errors.BadIndexName()
    return name


_UNSEEN = ("Cf", "Zl", "Zp")
_EMOJI_JOINER = "\u200d"
"""inside 👩‍💻"""
