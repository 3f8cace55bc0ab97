"""Catalogue, vectors and originals held together: every change that touches more than one of them.

The catalogue is the truth. Each change writes down in it what is about to be written elsewhere, or what elsewhere is to
go, so that the process may be killed at any moment: the next start finishes or undoes what was under way (`repair`).
"""

import hashlib
import itertools
import logging
import threading
import uuid
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from numpy.typing import NDArray
from sqlalchemy import Row

from index_store import errors
from index_store.analysis import Analyzer
from index_store.catalogue import Catalogue, Draft, Leftover
from index_store.glossary import Glossary
from index_store.keywords import Entry
from index_store.loaders.sections import Split
from index_store.originals import Originals, Staged, digest
from index_store.records import DocumentStatus
from index_store.vectors import Vectors

CATALOGUE = "catalogue.sqlite3"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Arrival:
    """A file that is to become a document, or the next version of one."""

    source: str
    name: str
    kind: str
    path: Path
    moves: bool
    """whether the file is the library's from now on"""
    parent: str | None = None
    charset: str | None = None
    known: dict | None = None
    archive: Draft | None = None
    """that it is a member of"""


class Library:
    """One change at a time; none waits for a parser or a model."""

    def __init__(self, folder: Path) -> None:
        self.catalogue = Catalogue(folder / CATALOGUE)
        self.vectors = Vectors(folder / "chroma")
        self.originals = Originals(folder / "originals")
        self._writing = threading.RLock()
        self._analyzers: dict[str, tuple[str, Analyzer]] = {}
        """by index, with the glossary that each is made of"""
        self.repair()
        # Never one twice, as long as a job may still have the draft of it in hand.
        self._revisions = itertools.count(max((number for _, number in self.catalogue.versions()), default=0) + 1)

    def close(self) -> None:
        with self._writing:
            self.vectors.close()
            self.catalogue.close()

    def repair(self) -> None:
        """Finishes or undoes what a process that died was about to do. Pending documents stay pending."""
        for leftover in self.catalogue.leftovers():
            self._clear(leftover)
        self._finish_removing(self.catalogue.removing())
        used = {index.collection for index in self.catalogue.index_rows()}
        for collection in {*self.catalogue.dropped(), *self.vectors.collections()} - used:
            self._finish_dropping(collection)
        for index in self.catalogue.index_rows():
            self._keep_full_text(index)
        self.originals.sweep(self.catalogue.versions())

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Nothing changes meanwhile."""
        with self._writing:
            yield

    # Documents in

    def begin(self, index: Row, arrival: Arrival, splitting: object) -> Draft | Row:
        """Keeps the file and notes the document as pending; its present row when the file is unchanged.

        `splitting`: what, besides the file, decides which chunks it gives. Raises OSError, and Superseded for a member
        of an archive of which there is a newer one.
        """
        known = self.catalogue.row(index.id, arrival.source)
        is_ready = known is not None and known.status == DocumentStatus.READY
        is_whole = is_ready and self.originals.path(known.id, known.revision).exists()
        if is_whole and known.fingerprint == fingerprint(digest(arrival.path), splitting):
            self.settle(known, arrival.known)
            return known
        staged = self.originals.stage(arrival.path, move=arrival.moves)
        try:
            with self._writing:
                if arrival.archive and not self.is_wanted(arrival.archive):
                    raise errors.Superseded(name=arrival.name)
                known = self.catalogue.row(index.id, arrival.source)
                draft = self._draft(index, known, arrival, staged, fingerprint(staged.digest, splitting))
                with self._kept(staged, draft):
                    self.catalogue.begin(draft)
        finally:
            staged.path.unlink(missing_ok=True)
        if known and known.incoming:
            self.originals.discard(known.id, known.incoming)
        return draft

    @contextmanager
    def _kept(self, staged: Staged, draft: Draft) -> Iterator[None]:
        """Unless it can't be noted."""
        self.originals.keep(staged.path, draft.document_id, draft.revision)
        try:
            yield
        except BaseException:
            self.originals.discard(draft.document_id, draft.revision)
            raise

    def begin_again(self, document_id: str, splitting: object) -> Draft | None:
        """The same from the original that is kept; None when none is. Raises OSError."""
        with self._writing:
            known = self.catalogue.row_by_id(document_id)
            index = self.catalogue.index_by_id(known.index_id) if known else None
            kept = known and (known.incoming or known.revision)
            if not known or not index or not kept or not self.originals.path(known.id, kept).exists():
                return None
            path = self.originals.path(known.id, kept)
            name = known.name or known.title
            arrival = Arrival(known.source, name, known.kind, path, False, known.parent, known.charset)
            staged = Staged(path, path.stat().st_size, digest(path))
            draft = self._draft(index, known, arrival, staged, fingerprint(staged.digest, splitting))
            self.originals.keep_again(known.id, kept, draft.revision)
            self.catalogue.begin(draft)
        if known.incoming:
            self.originals.discard(known.id, known.incoming)
        return draft

    def finish(self, draft: Draft, split: Split, vectors: NDArray) -> None:
        """Makes the draft its document's ready version. `vectors`: a row for each chunk. Raises Superseded."""
        new = Leftover(draft.collection, draft.document_id, draft.revision, len(vectors))
        with self._writing:
            index = self.catalogue.index_by_id(draft.index_id)
            # Whoever made the index of another model meanwhile has dropped this collection.
            if index is None or index.collection != draft.collection:
                raise errors.Superseded(name=draft.name)
            if index.dimension not in (0, vectors.shape[1]):
                raise errors.model_mismatch(index, index.embedding_model, (index.dimension, vectors.shape[1]))
            self.catalogue.note_leftover(new)
            before = self.catalogue.row_by_id(draft.document_id)
            entries = list(_entries(self.analyzer(index), new.ids, split))
            try:
                self.vectors.put(draft.collection, draft.document_id, new.ids, vectors)
                old = self.catalogue.put_ready(draft, split, vectors.shape[1], entries)
            except BaseException:
                self._clear(new)
                raise
            if old:
                self._clear(old)
            if before and before.revision:
                self.originals.discard(before.id, before.revision)

    def fail(self, draft: Draft, error: errors.PlainError) -> None:
        """Its original stays, to be tried again."""
        with self._writing:
            self.catalogue.put_failed(draft, error.as_failure())

    def give_up(self, document_id: str, error: errors.PlainError) -> None:
        """Notes that no version of it is to be had; one that is ready stays so."""
        with self._writing:
            self.catalogue.put_error(document_id, error.as_failure())

    def is_wanted(self, draft: Draft) -> bool:
        """Whether its document still waits for it: it may have been replaced or removed meanwhile."""
        row = self.catalogue.row_by_id(draft.document_id)
        return row is not None and row.incoming == draft.revision and row.status != DocumentStatus.REMOVING

    def refuse(self, index: Row, arrival: Arrival, size: int, error: errors.PlainError) -> str:
        """Notes a document of which nothing is kept; gives its id."""
        with self._writing:
            known = self.catalogue.row(index.id, arrival.source)
            draft = self._draft(index, known, arrival, Staged(arrival.path, size, ""), "")
            self.catalogue.put_refused(draft, error.as_failure())
            return draft.document_id

    def withdraw(self, draft: Draft) -> None:
        """As if it had not been begun, when it was new; else its document is as it was, and can be tried again."""
        with self._writing:
            row = self.catalogue.row_by_id(draft.document_id)
            if row is None or row.incoming != draft.revision:
                return
            if row.status == DocumentStatus.READY:
                self.catalogue.settle(draft.document_id, None)
                self.originals.discard(draft.document_id, draft.revision)
            elif draft.is_new:
                self.catalogue.delete_documents([draft.document_id])
                self.originals.discard(draft.document_id, draft.revision)
            else:
                self.fail(draft, errors.Cancelled(name=draft.name))

    def dissolve(self, archive: Draft, members: Set[str]) -> list[Row]:
        """These, by their sources, are documents now, and it is none; gives the former members that are gone.

        Raises Superseded.
        """
        with self._writing:
            if not self.is_wanted(archive):
                raise errors.Superseded(name=archive.name)
            former = [row for row in self.catalogue.rows(archive.index_id) if row.parent == archive.source]
            gone = [row for row in former if row.source not in members]
            self.remove(gone)
            self.catalogue.delete_documents([archive.document_id])
            self.originals.discard(archive.document_id, archive.revision)
            return gone

    def settle(self, known: Row, page: dict | None) -> None:
        """The version that is ready is the newest. `page`: what the crawler is told the next time."""
        with self._writing:
            if known.error or known.incoming or page is not None:
                self.catalogue.settle(known.id, page)
            if known.incoming:
                self.originals.discard(known.id, known.incoming)

    # Documents and indexes out

    def remove(self, rows: Sequence[Row]) -> None:
        with self._writing:
            self.catalogue.mark_removing([row.id for row in rows])
            self._finish_removing(self.catalogue.removing())

    def _finish_removing(self, rows: Sequence[Row]) -> None:
        for row in rows:
            if row.chunks:
                self.vectors.delete(row.collection, Leftover(row.collection, row.id, row.revision, row.chunks).ids)
            for revision in filter(None, (row.revision, row.incoming)):
                self.originals.discard(row.id, revision)
        self.catalogue.delete_documents([row.id for row in rows])

    def set_model(self, index: Row, embedding_model: str) -> None:
        """Every document that was ready is then pending: another model's vectors can't be compared with these."""
        with self._writing:
            self.catalogue.set_model(index.id, embedding_model, new_collection())
            self._finish_dropping(index.collection)

    def remove_stray_vectors(self, index: Row) -> None:
        """Those that belong to no document; there are none unless someone else wrote to the data folder."""
        with self._writing:
            known = {id_ for id_, _ in self.catalogue.chunk_ids(index.id)}
            stray = [id_ for id_ in self.vectors.ids(index.collection) if id_ not in known]
            self.vectors.delete(index.collection, stray)

    def delete_index(self, index: Row) -> None:
        with self._writing:
            rows = self.catalogue.rows(index.id)
            self.catalogue.delete_index(index.id)
            self._finish_dropping(index.collection)
            for row in rows:
                for revision in filter(None, (row.revision, row.incoming)):
                    self.originals.discard(row.id, revision)
            self.catalogue.give_space_back()

    # Full text

    def analyzer(self, index: Row) -> Analyzer:
        """Which makes the terms of the index, and so of the questions that are asked of it."""
        glossary = index.glossary or ""
        known = self._analyzers.get(index.id)
        if known is None or known[0] != glossary:
            known = self._analyzers[index.id] = (glossary, Analyzer(Glossary.of_lines(glossary)))
        return known[1]

    def set_glossary(self, index: Row, glossary: str) -> None:
        """`glossary`: terms that stay whole, one a line."""
        with self._writing:
            self.catalogue.set_glossary(index.id, glossary)
            changed = self.catalogue.index_by_id(index.id)
            if changed:
                self._keep_full_text(changed)

    def _keep_full_text(self, index: Row) -> None:
        """Makes it anew where another analyzer has made it, or none yet."""
        analyzer = self.analyzer(index)
        if index.analysis != analyzer.id:
            log.info("The full text of %s is made anew", index.name)
            self.catalogue.analyse_again(index.id, analyzer)

    def create_index(self, name: str, embedding_model: str) -> None:
        with self._writing:
            self.catalogue.create_index(
                uuid.uuid4().hex, name, embedding_model, new_collection(), Analyzer(Glossary()).id
            )

    def _finish_dropping(self, collection: str) -> None:
        self.vectors.drop(collection)
        self.catalogue.forget_dropped(collection)

    def _draft(self, index: Row, known: Row | None, arrival: Arrival, staged: Staged, mark: str) -> Draft:
        return Draft(
            index_id=index.id,
            collection=index.collection,
            document_id=known.id if known else uuid.uuid4().hex,
            revision=next(self._revisions),
            source=arrival.source,
            parent=arrival.parent,
            name=arrival.name,
            kind=arrival.kind,
            charset=arrival.charset,
            size=staged.size,
            fingerprint=mark,
            known=arrival.known,
            is_new=known is None,
        )

    def _clear(self, leftover: Leftover) -> None:
        if leftover.collection in {row.collection for row in self.catalogue.index_rows()}:
            self.vectors.delete(leftover.collection, leftover.ids)
        self.catalogue.forget_leftover(leftover)


def new_collection() -> str:
    return f"index-{uuid.uuid4().hex}"


def _entries(analyzer: Analyzer, ids: Sequence[str], split: Split) -> Iterator[Entry]:
    chunks = ((section, chunk) for section in split for chunk in section.chunks)
    for id_, (section, chunk) in zip(ids, chunks, strict=True):
        yield Entry.of(analyzer, id_, split.title, chunk.headings, section.text[chunk.start : chunk.end])


def fingerprint(content_digest: str, splitting: object) -> str:
    return hashlib.sha256(f"{content_digest} {splitting}".encode()).hexdigest()
