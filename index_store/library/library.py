"""Catalogue, vectors and originals held together: every change that touches more than one of them.

Versions of documents come in by versions.py, under the same lock; documents and their indexes go out here.

The catalogue is the truth. Each change writes down in it what is about to be written elsewhere, or what elsewhere is to
go, so that the process may be killed at any moment: the next start finishes or undoes what was under way (`repair`).
"""

import logging
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from index_store.base.folders import changes_of
from index_store.catalogue.catalogue import Catalogue
from index_store.catalogue.leftovers import Leftover
from index_store.catalogue.records import DocumentRecord, IndexRecord
from index_store.full_text.analysis import Analyzer
from index_store.full_text.glossary import Glossary
from index_store.library.originals import Originals
from index_store.vectors.chroma import VectorStore

CATALOGUE = "catalogue.sqlite3"
CHROMA = "chroma"
ORIGINALS = "originals"

log = logging.getLogger(__name__)


class Library:
    """One change at a time; none waits for a parser or a model."""

    def __init__(self, folder: Path) -> None:
        self._writing = threading.RLock()
        self._changes = changes_of(folder)
        self.on_removal: Callable[[], object] = _nothing
        """called after documents were removed"""
        self._swaps = 0
        """begun and ended: odd in the midst of one"""
        self._analyzers: dict[str, tuple[str, Analyzer]] = {}
        """by index, with the glossary that each is made of"""
        with self.held():
            self.catalogue = Catalogue(folder / CATALOGUE)
            self.vectors = VectorStore(folder / CHROMA)
            self.originals = Originals(folder / ORIGINALS)
            self.repair()

    def close(self) -> None:
        with self.held():
            self.vectors.close()
            self.catalogue.close()

    def repair(self) -> None:
        """Finishes or undoes what a process that died was about to do. Pending documents stay pending."""
        for index in self.catalogue.indexes.records():
            if index.collection in self.vectors.broken:
                log.warning(
                    "The vectors of %s can't be read since a process was killed: to be embedded again", index.name
                )
                self.catalogue.indexes.set_model(index.id, index.embedding_model, new_collection())
        for leftover in self.catalogue.leftovers.vectors():
            self.clear(leftover)
        self._finish_removing()
        used = {index.collection for index in self.catalogue.indexes.records()}
        for collection in {*self.catalogue.leftovers.collections(), *self.vectors.collections()} - used:
            self._finish_dropping(collection)
        for index in self.catalogue.indexes.records():
            self._update_full_text(index)
        self.originals.sweep(self.catalogue.documents.revisions())

    @contextmanager
    def held(self) -> Iterator[None]:
        """No other thread changes anything meanwhile, and no other process copies it."""
        with self._writing, self._changes:
            yield

    @contextmanager
    def swapping(self) -> Iterator[None]:
        """A version takes the place of the one before it; by whoever has the library held."""
        self._swaps += 1
        try:
            yield
        finally:
            self._swaps += 1

    @property
    def swaps(self) -> int:
        """To be given to `has_swapped`, from before something is looked for."""
        return self._swaps

    def has_swapped(self, swaps: int) -> bool:
        """Whether what was found since may belong to a version that has been replaced."""
        return swaps % 2 == 1 or swaps != self._swaps

    def clear(self, leftover: Leftover) -> None:
        """Deletes its vectors."""
        if leftover.collection in {index.collection for index in self.catalogue.indexes.records()}:
            self.vectors.delete(leftover.collection, leftover.ids)
        self.catalogue.leftovers.forget_vectors(leftover)

    # Documents and indexes

    def remove(self, documents: Sequence[DocumentRecord]) -> None:
        with self.held():
            self.catalogue.documents.mark_removing([document.id for document in documents])
            self._finish_removing()
        self.on_removal()

    def _finish_removing(self) -> None:
        collections = {index.id: index.collection for index in self.catalogue.indexes.records()}
        documents = self.catalogue.documents.removing()
        for each in documents:
            if each.chunks:
                vectors = Leftover(collections[each.index_id], each.id, each.revision, each.chunks)
                self.vectors.delete(vectors.collection, vectors.ids)
            self._discard_originals(each)
        self.catalogue.documents.delete([each.id for each in documents])

    def _discard_originals(self, document: DocumentRecord) -> None:
        for revision in document.revisions:
            self.originals.discard(document.id, revision)

    def create_index(self, name: str, embedding_model: str, owner_id: str | None) -> str:
        """Its id."""
        id_ = uuid.uuid4().hex
        with self.held():
            analysis = Analyzer(Glossary()).id
            self.catalogue.indexes.create(id_, name, embedding_model, new_collection(), analysis, owner_id)
        return id_

    def set_model(self, index: IndexRecord, embedding_model: str) -> None:
        """Every document that was ready is then pending: another model's vectors can't be compared with these."""
        with self.held():
            present = self.catalogue.indexes.record(index.id) or index  # someone else may have done so meanwhile
            self.catalogue.indexes.set_model(index.id, embedding_model, new_collection())
            self._finish_dropping(present.collection)

    def remove_stray_vectors(self, index: IndexRecord) -> None:
        """Those that belong to no document; there are none unless someone else wrote to the data folder."""
        with self.held():
            known = {id_ for id_, _ in self.catalogue.sections.chunk_ids(index.id)}
            stray = [id_ for id_ in self.vectors.ids(index.collection) if id_ not in known]
            self.vectors.delete(index.collection, stray)

    def delete_index(self, index: IndexRecord) -> None:
        with self.held():
            documents = self.catalogue.documents.records(index.id)
            self.catalogue.indexes.delete(index.id)
            self._finish_dropping(index.collection)
            for document in documents:
                self._discard_originals(document)
            self.catalogue.give_space_back()
        self.on_removal()

    def _finish_dropping(self, collection: str) -> None:
        self.vectors.drop(collection)
        self.catalogue.leftovers.forget_collection(collection)

    # Full text

    def analyzer(self, index: IndexRecord) -> Analyzer:
        """Which makes the terms of the index, and so of the questions that are asked of it."""
        glossary = index.glossary or ""
        known = self._analyzers.get(index.id)
        if known is None or known[0] != glossary:
            known = self._analyzers[index.id] = (glossary, Analyzer(Glossary.of_lines(glossary)))
        return known[1]

    def set_glossary(self, index: IndexRecord, glossary: str) -> None:
        """`glossary`: terms that stay whole, one a line."""
        with self.held():
            self.catalogue.full_text.set_glossary(index.id, glossary)
            changed = self.catalogue.indexes.record(index.id)
            if changed:
                self._update_full_text(changed)

    def _update_full_text(self, index: IndexRecord) -> None:
        """Rebuilds it where another analyzer has made it, or none yet."""
        analyzer = self.analyzer(index)
        if index.analysis != analyzer.id:
            log.info("The full text of %s is rebuilt", index.name)
            self.catalogue.full_text.rebuild(index.id, analyzer)


def _nothing() -> None:
    """Nobody wants to know."""


def new_collection() -> str:
    return f"index-{uuid.uuid4().hex}"
