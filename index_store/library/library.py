"""Keeps catalogue, vectors and originals consistent: every change that touches more than one of them.

New versions of documents are in versions.py, under the same lock; this file removes documents and indexes.

The catalogue is the truth. Before a change writes or deletes anything elsewhere, it records this in the catalogue. So
the process may be killed at any moment: the next start finishes or undoes the change (`repair`).
"""

import logging
import threading
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from index_store.base.database.backend import ChangeLock
from index_store.base.errors import OriginalsError, VectorServerError
from index_store.base.folders import changes_of
from index_store.catalogue.catalogue import Catalogue
from index_store.catalogue.leftovers import Leftover
from index_store.catalogue.records import DocumentRecord, IndexRecord
from index_store.full_text.analysis import Analyzer
from index_store.full_text.glossary import Glossary
from index_store.library.originals.originals import Originals
from index_store.vectors.chroma import VectorStore

CATALOGUE = "catalogue.sqlite3"
"""its file name, if it is a file"""
CHROMA = "chroma"

log = logging.getLogger(__name__)


class Library:
    """One change at a time; no change waits for a parser or a model."""

    def __init__(
        self,
        folder: Path,
        open_catalogue: Callable[[], tuple[Catalogue, ChangeLock | None]],
        open_vectors: Callable[[Catalogue], VectorStore],
        open_originals: Callable[[Catalogue], Originals],
        *,
        is_owner: bool = True,
    ) -> None:
        """`open_catalogue`: also returns the lock against other processes, if there can be any. `is_owner`: whether
        this process repairs what others have left unfinished.
        """
        self._writing = threading.RLock()
        self._depth = 0
        """how many times the current holder has it"""
        self._is_exclusive = False
        """whether the current holder locks out all other processes"""
        self._changes: ChangeLock = _OfFolder(folder)
        self.on_removal: Callable[[], object] = _nothing
        """called after documents were removed"""
        self._swaps = 0
        """number of begins and ends of swaps: odd during a swap"""
        self._analyzers: dict[str, tuple[str, Analyzer]] = {}
        """by index: the glossary, and the analyzer made from it"""
        with ExitStack() as opened:
            with self._changes.held(exclusive=True):
                self.catalogue, shared = open_catalogue()
            opened.enter_context(closing(self.catalogue))
            self._has_others = shared is not None
            self._changes = shared or self._changes
            opened.enter_context(closing(self._changes))
            with self.held():
                self.vectors = opened.enter_context(closing(open_vectors(self.catalogue)))
                self.originals = opened.enter_context(closing(open_originals(self.catalogue)))
                if is_owner:
                    self.repair()
            self._opened = opened.pop_all()
        self.vectors.watch(self._catch_up)
        self.originals.watch(self._sweep)

    def close(self) -> None:
        self.vectors.stop_watching()
        self.originals.stop_watching()
        with ExitStack() as held:
            try:
                held.enter_context(self.held())
            finally:  # also while the database is away
                self._opened.close()

    def repair(self) -> None:
        """Finishes or undoes the changes of a process that died. Pending documents stay pending."""
        for index in self.catalogue.indexes.records():
            if index.collection in self.vectors.broken:
                log.warning(
                    "The vectors of %s can't be read after a process was killed. They are embedded again", index.name
                )
                self.catalogue.indexes.set_model(index.id, index.embedding_model, new_collection())
        with self._later_where_away():
            self._finish_vectors()
        for index in self.catalogue.indexes.records():
            self._update_full_text(index)
        with self._later_where_away():
            self.originals.sweep()

    def _finish_vectors(self) -> None:
        """Deletes the vectors that the catalogue records as to be deleted."""
        for leftover in self.catalogue.leftovers.vectors():
            self._clear(leftover)
        self._finish_removing()
        used = {index.collection for index in self.catalogue.indexes.records()}
        for collection in {*self.catalogue.leftovers.collections(), *self.vectors.collections()} - used:
            self._finish_dropping(collection)

    def _catch_up(self) -> None:
        """Does the changes that were not possible while the vector server was away."""
        with self.held():
            self._finish_vectors()
        self.on_removal()

    def unfinished(self) -> set[object]:
        """What is recorded as to be deleted. An entry stays only if its process has ended or could not delete it."""
        leftovers = self.catalogue.leftovers
        removing = (document.id for document in self.catalogue.documents.removing())
        return {*leftovers.vectors(), *leftovers.collections(), *removing}

    def finish(self) -> None:
        """Deletes what is `unfinished`, unless the vector server is away."""
        with self._later_where_away():
            self._catch_up()

    def _sweep(self) -> None:
        """Deletes originals that could not be removed while their store was away."""
        with self.held():
            self.originals.sweep()

    @contextmanager
    def _later_where_away(self) -> Iterator[None]:
        """Postpones changes recorded in the catalogue while the server of the vectors or of the originals is away."""
        try:
            yield
        except (VectorServerError, OriginalsError) as error:
            log.warning("A change will be finished later: %s", error)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Until the block ends, no other thread or process changes anything, and no backup copies the data.

        Raises RuntimeError inside `saving`: two processes that each wait until the other has saved would wait for ever.
        """
        with self._holding(exclusive=True):
            yield

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Like `held`, but other processes may save other documents at the same time."""
        with self._holding(exclusive=False):
            yield

    @contextmanager
    def _holding(self, *, exclusive: bool) -> Iterator[None]:
        with self._writing, ExitStack() as held:
            if not self._depth:
                held.enter_context(self._changes.held(exclusive=exclusive))
                self._is_exclusive = exclusive
            elif exclusive and not self._is_exclusive:
                raise RuntimeError("held() inside saving()")
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    @contextmanager
    def swapping(self) -> Iterator[None]:
        """While a version replaces the one before it. The caller holds the library."""
        self._swaps += 1
        try:
            yield
        finally:
            self._swaps += 1

    @property
    def swaps(self) -> int:
        """Read it before a search, and give it to `has_swapped` after."""
        return self._swaps

    def has_swapped(self, swaps: int) -> bool:
        """Whether results found since then may belong to a version that has been replaced."""
        return self._has_others or swaps % 2 == 1 or swaps != self._swaps

    def clear(self, leftover: Leftover) -> None:
        """Deletes its vectors."""
        with self._later_where_away():
            self._clear(leftover)

    def _clear(self, leftover: Leftover) -> None:
        if leftover.collection in {index.collection for index in self.catalogue.indexes.records()}:
            self.vectors.delete(leftover.collection, leftover.ids)
        self.catalogue.leftovers.forget_vectors(leftover)

    # Documents and indexes

    def remove(self, documents: Sequence[DocumentRecord]) -> None:
        with self.held():
            self.catalogue.documents.mark_removing([document.id for document in documents])
            with self._later_where_away():
                self._finish_removing()
        self.on_removal()

    def _finish_removing(self) -> None:
        collections = {index.id: index.collection for index in self.catalogue.indexes.records()}
        documents = self.catalogue.documents.removing()
        # Together: each change of a collection takes Chroma as long as hundreds of vectors in one.
        vectors: dict[str, list[str]] = defaultdict(list)
        for each in documents:
            collection = collections[each.index_id]
            vectors[collection] += Leftover(collection, each.id, each.revision, each.chunks).ids
        for collection, ids in vectors.items():
            self.vectors.delete(collection, ids)
        self._discard_originals(documents)
        self.catalogue.documents.delete([each.id for each in documents])

    def _discard_originals(self, documents: Sequence[DocumentRecord]) -> None:
        self.originals.discard(*((each.id, revision) for each in documents for revision in each.revisions))

    def create_index(self, name: str, embedding_model: str, owner_id: str | None) -> str:
        """Returns the new index's id."""
        id_ = uuid.uuid4().hex
        with self.held():
            analysis = Analyzer(Glossary()).id
            self.catalogue.indexes.create(id_, name, embedding_model, new_collection(), analysis, owner_id)
        return id_

    def set_model(self, index: IndexRecord, embedding_model: str) -> None:
        """Makes every ready document pending again: vectors of different models can't be compared."""
        with self.held():
            present = self.catalogue.indexes.record(index.id) or index  # another process may have done this already
            self.catalogue.indexes.set_model(index.id, embedding_model, new_collection())
            with self._later_where_away():
                self._finish_dropping(present.collection)

    def mend_vectors(self, index: IndexRecord) -> None:
        """Called before all documents are embedded again. If the collection can't be read, a new one replaces it.
        Otherwise, vectors without a document are deleted; there are some only if another program wrote them.
        """
        with self.held():
            if not self.vectors.is_readable(index.collection):
                self.set_model(index, index.embedding_model)
                return
            known = {id_ for id_, _ in self.catalogue.sections.chunk_ids(index.id)}
            stray = [id_ for id_ in self.vectors.ids(index.collection) if id_ not in known]
            self.vectors.delete(index.collection, stray)

    def delete_index(self, index: IndexRecord) -> bool:
        """False if another process has just deleted it."""
        with self.held():
            if self.catalogue.indexes.record(index.id) is None:
                return False
            documents = self.catalogue.documents.records(index.id)
            self.catalogue.indexes.delete(index.id)
            with self._later_where_away():
                self._finish_dropping(index.collection)
            self._discard_originals(documents)
            self.catalogue.give_space_back()
        self.on_removal()
        return True

    def _finish_dropping(self, collection: str) -> None:
        self.vectors.drop(collection)
        self.catalogue.leftovers.forget_collection(collection)

    # Full text

    def analyzer(self, index: IndexRecord) -> Analyzer:
        """The analyzer for the index's texts, and so for its questions."""
        glossary = index.glossary or ""
        known = self._analyzers.get(index.id)
        if known is None or known[0] != glossary:
            known = self._analyzers[index.id] = (glossary, Analyzer(Glossary.of_lines(glossary)))
        return known[1]

    def set_glossary(self, index: IndexRecord, glossary: str) -> None:
        """`glossary`: terms that stay one word, one per line."""
        with self.held():
            self.catalogue.full_text.set_glossary(index.id, glossary)
            changed = self.catalogue.indexes.record(index.id)
            if changed:
                self._update_full_text(changed)

    def _update_full_text(self, index: IndexRecord) -> None:
        """Builds it again if another analyzer has made it, or none yet."""
        analyzer = self.analyzer(index)
        if index.analysis != analyzer.id:
            log.info("The full text of %s is built again", index.name)
            self.catalogue.full_text.rebuild(index.id, analyzer)


class _OfFolder:
    """The ChangeLock of the only process with a data folder: it keeps backups and changes apart."""

    def __init__(self, folder: Path) -> None:
        self._lock = changes_of(folder)

    @contextmanager
    def held(self, *, exclusive: bool) -> Iterator[None]:
        with self._lock:
            yield

    def close(self) -> None:
        """Does nothing: the lock is only held inside `held`."""


def _nothing() -> None:
    """The default for `on_removal`."""


def new_collection() -> str:
    return f"index-{uuid.uuid4().hex}"
