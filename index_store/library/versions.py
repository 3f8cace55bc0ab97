"""How versions of documents come into the library: begun, then finished, failed, refused or withdrawn."""

import hashlib
import itertools
import uuid
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row

from index_store.base import errors
from index_store.base.records import DocumentStatus
from index_store.catalogue import Draft, Leftover
from index_store.full_text.analysis import Analyzer
from index_store.full_text.bm25 import Entry
from index_store.library.library import Library
from index_store.library.originals import Staged, digest
from index_store.parsing.worker.sections import Split


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


@dataclass(frozen=True)
class Version:
    """What a draft has become."""

    draft: Draft
    split: Split
    vectors: NDArray
    """a row for each chunk"""

    @property
    def leftover(self) -> Leftover:
        """Its vectors, until they are the document's."""
        return Leftover(self.draft.collection, self.draft.document_id, self.draft.revision, len(self.vectors))


class Intake:
    """One for a library: two would number versions alike."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._catalogue = library.catalogue
        self._originals = library.originals
        # Never one twice, as long as a job may still have the draft of it in hand.
        last = max((number for _, number in self._catalogue.documents.versions()), default=0)
        self._revisions = itertools.count(last + 1)

    def begin(self, index: Row, arrival: Arrival, splitting: object) -> Draft | Row:
        """Keeps the file and notes the document as pending; its present row when the file is unchanged.

        `splitting`: what, besides the file, decides which chunks it gives. Raises OSError, and Superseded for a member
        of an archive of which there is a newer one.
        """
        known = self._catalogue.documents.of_source(index.id, arrival.source)
        is_ready = known is not None and known.status == DocumentStatus.READY
        is_whole = is_ready and self._originals.path(known.id, known.revision).exists()
        if is_whole and known.fingerprint == fingerprint(digest(arrival.path), splitting):
            self.settle(known, arrival.known)
            return known
        staged = self._originals.stage(arrival.path, move=arrival.moves)
        try:
            with self._library.held():
                if arrival.archive and not self.is_wanted(arrival.archive):
                    raise errors.Superseded(name=arrival.name)
                known = self._catalogue.documents.of_source(index.id, arrival.source)
                draft = self._draft(index, known, arrival, staged, fingerprint(staged.digest, splitting))
                with self._kept(staged, draft):
                    self._catalogue.drafts.begin(draft)
        finally:
            staged.path.unlink(missing_ok=True)
        if known and known.incoming:
            self._originals.discard(known.id, known.incoming)
        return draft

    @contextmanager
    def _kept(self, staged: Staged, draft: Draft) -> Iterator[None]:
        """Unless it can't be noted."""
        self._originals.keep(staged.path, draft.document_id, draft.revision)
        try:
            yield
        except BaseException:
            self._originals.discard(draft.document_id, draft.revision)
            raise

    def begin_again(self, document_id: str, splitting: object) -> Draft | None:
        """The same from the original that is kept; None when none is. Raises OSError."""
        with self._library.held():
            known = self._catalogue.documents.row(document_id)
            index = self._catalogue.indexes.row(known.index_id) if known else None
            kept = known and (known.incoming or known.revision)
            if not known or not index or not kept or not self._originals.path(known.id, kept).exists():
                return None
            path = self._originals.path(known.id, kept)
            name = known.name or known.title
            arrival = Arrival(known.source, name, known.kind, path, False, known.parent, known.charset)
            staged = Staged(path, path.stat().st_size, digest(path))
            draft = self._draft(index, known, arrival, staged, fingerprint(staged.digest, splitting))
            self._originals.keep_again(known.id, kept, draft.revision)
            self._catalogue.drafts.begin(draft)
        if known.incoming:
            self._originals.discard(known.id, known.incoming)
        return draft

    def put_vectors(self, versions: Sequence[Version]) -> None:
        """Writes those of several versions of one index at once: Chroma takes hardly longer than for one.

        `finish` is to follow for each, with nothing between; see `Library.held`. Raises OSError and SQLAlchemyError.
        """
        with self._library.held():
            wanted = [version for version in versions if not self._obstacle(version)]
            if not wanted:
                return
            self._catalogue.leftovers.note_vectors([version.leftover for version in wanted])
            ids = [id_ for version in wanted for id_ in version.leftover.ids]
            of = [version.draft.document_id for version in wanted for _ in version.vectors]
            try:
                self._library.vectors.put(
                    wanted[0].draft.collection, ids, of, np.concatenate([each.vectors for each in wanted])
                )
            except BaseException:
                for version in wanted:
                    self._library.clear(version.leftover)
                raise

    def finish(self, version: Version) -> None:
        """Makes it its document's ready one, in place of the one before. Raises Superseded, EmbeddingModelMismatch."""
        draft, new = version.draft, version.leftover
        with self._library.held():
            if obstacle := self._obstacle(version):
                self._library.clear(new)
                raise obstacle
            before = self._catalogue.documents.row(draft.document_id)
            try:
                analyzer = self._library.analyzer(self._catalogue.indexes.row(draft.index_id))
                entries = list(_entries(analyzer, new.ids, version.split))
                old = self._catalogue.drafts.finish(draft, version.split, version.vectors.shape[1], entries)
            except BaseException:
                self._library.clear(new)
                raise
            if old:
                self._library.clear(old)
            if before and before.revision:
                self._originals.discard(before.id, before.revision)

    def _obstacle(self, version: Version) -> errors.PlainError | None:
        """Why it can't be put into the index as it is now."""
        draft, dimension = version.draft, version.vectors.shape[1]
        index = self._catalogue.indexes.row(draft.index_id)
        # Whoever made the index of another model meanwhile has dropped this collection.
        if index is None or index.collection != draft.collection:
            return errors.Superseded(name=draft.name)
        if index.dimension not in (0, dimension):
            return errors.model_mismatch(index, index.embedding_model, (index.dimension, dimension))
        return None

    def fail(self, draft: Draft, error: errors.PlainError) -> None:
        """Its original stays, to be tried again."""
        with self._library.held():
            self._catalogue.drafts.fail(draft, error.as_failure())

    def give_up(self, document_id: str, error: errors.PlainError) -> None:
        """Notes that no version of it is to be had; one that is ready stays so."""
        with self._library.held():
            self._catalogue.documents.put_error(document_id, error.as_failure())

    def is_wanted(self, draft: Draft) -> bool:
        """Whether its document still waits for it: it may have been replaced or removed meanwhile."""
        row = self._catalogue.documents.row(draft.document_id)
        return row is not None and row.incoming == draft.revision and row.status != DocumentStatus.REMOVING

    def refuse(self, index: Row, arrival: Arrival, size: int, error: errors.PlainError) -> str:
        """Notes a document of which nothing is kept; gives its id."""
        with self._library.held():
            known = self._catalogue.documents.of_source(index.id, arrival.source)
            draft = self._draft(index, known, arrival, Staged(arrival.path, size, ""), "")
            self._catalogue.drafts.refuse(draft, error.as_failure())
            return draft.document_id

    def withdraw(self, draft: Draft) -> None:
        """As if it had not been begun, when it was new; else its document is as it was, and can be tried again."""
        with self._library.held():
            row = self._catalogue.documents.row(draft.document_id)
            if row is None or row.incoming != draft.revision:
                return
            if row.status == DocumentStatus.READY:
                self._catalogue.documents.settle(draft.document_id, None)
                self._originals.discard(draft.document_id, draft.revision)
            elif draft.is_new:
                self._catalogue.documents.delete([draft.document_id])
                self._originals.discard(draft.document_id, draft.revision)
            else:
                self.fail(draft, errors.Cancelled(name=draft.name))

    def dissolve(self, archive: Draft, members: Set[str]) -> list[Row]:
        """These, by their sources, are documents now, and it is none; gives the former members that are gone.

        Raises Superseded.
        """
        with self._library.held():
            if not self.is_wanted(archive):
                raise errors.Superseded(name=archive.name)
            former = [row for row in self._catalogue.documents.rows(archive.index_id) if row.parent == archive.source]
            gone = [row for row in former if row.source not in members]
            self._library.remove(gone)
            self._catalogue.documents.delete([archive.document_id])
            self._originals.discard(archive.document_id, archive.revision)
            return gone

    def settle(self, known: Row, page: dict | None) -> None:
        """The version that is ready is the newest. `page`: what the crawler is told the next time."""
        with self._library.held():
            if known.error or known.incoming or page is not None:
                self._catalogue.documents.settle(known.id, page)
            if known.incoming:
                self._originals.discard(known.id, known.incoming)

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


def _entries(analyzer: Analyzer, ids: Sequence[str], split: Split) -> Iterator[Entry]:
    chunks = ((section, chunk) for section in split for chunk in section.chunks)
    for id_, (section, chunk) in zip(ids, chunks, strict=True):
        yield Entry.of(analyzer, id_, split.title, chunk.headings, section.text[chunk.start : chunk.end])


def fingerprint(content_digest: str, splitting: object) -> str:
    return hashlib.sha256(f"{content_digest} {splitting}".encode()).hexdigest()
