"""New versions of documents in the library: started, then finished, failed, refused or withdrawn.

A document's file is an `IncomingFile`. Once stored and recorded, it is a `PendingVersion`
(catalogue/pending_versions.py). With its sections and the vectors of their chunks, it is an `EmbeddedVersion`, which
can be made the ready one.
"""

import hashlib
import math
import uuid
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from index_store.base import errors
from index_store.base.database.database import backend_of
from index_store.base.settings.settings import MEGABYTE
from index_store.catalogue.leftovers import Leftover
from index_store.catalogue.pending_versions import PendingVersion
from index_store.catalogue.records import DocumentRecord, DocumentStatus, IndexRecord
from index_store.full_text.analysis import Analyzer
from index_store.full_text.bm25 import ChunkTerms
from index_store.library.library import Library
from index_store.library.originals.backend import StagedFile
from index_store.library.originals.folder import digest_of
from index_store.parsing.chunking.blocks import text_at
from index_store.parsing.loaders.formats import is_archive
from index_store.parsing.worker.protocol import ParsedDocument


@dataclass(frozen=True)
class IncomingFile:
    """A file that will become a document, or the next version of one."""

    source: str
    name: str
    kind: str
    path: Path
    moves: bool
    """whether the library takes the file over and deletes it"""
    parent: str | None = None
    charset: str | None = None
    page: dict[str, Any] | None = None
    """for a crawled page: data that the next crawl needs"""
    archive: PendingVersion | None = None
    """the archive that has it as a member"""


class IndexLimits(NamedTuple):
    """How much an index may contain."""

    files: float = math.inf
    megabytes: float = math.inf
    """of originals"""


@dataclass(frozen=True)
class EmbeddedVersion:
    """All data that makes a version ready."""

    version: PendingVersion
    parsed: ParsedDocument
    vectors: NDArray[np.float32]
    """(chunks, dimensions)"""

    @property
    def leftover(self) -> Leftover:
        """Its vectors, which are left over if the version is never made ready."""
        version = self.version
        return Leftover(version.collection, version.document_id, version.revision, len(self.vectors))


class Versions:
    """Only one per process: without a database that numbers versions, two would use the same numbers."""

    def __init__(self, library: Library, limits_of: Callable[[str], IndexLimits] = lambda _: IndexLimits()) -> None:
        """`limits_of`: returns the limits of an index, given its id."""
        self._limits_of = limits_of
        self._library = library
        self._catalogue = library.catalogue
        self._originals = library.originals
        # No number is used twice while a job may still have that version.
        last = max((number for _, number in self._catalogue.documents.revisions()), default=0)
        self._revisions = backend_of(self._catalogue.database).numbers(self._catalogue.database, last)

    def begin(self, index: IndexRecord, file: IncomingFile, splitting: object) -> PendingVersion | DocumentRecord:
        """Stores the file and records the document as pending. Returns the document if the file is unchanged.

        `splitting`: the values, besides the file, that decide its chunks. Raises OSError, OriginalsError;
        IndexHasTooManyFiles, IndexTooLarge beyond the index's limits; and Superseded for a member of an archive of
        which there is a newer version, and for a page of a site that was removed.
        """
        document = self._catalogue.documents.of_source(index.id, file.source)
        if (
            document
            and self._is_whole(document)
            and document.fingerprint == fingerprint_of(digest_of(file.path), splitting)
        ):
            self.confirm(document, file.page)
            return document
        staged = self._originals.stage(file.path, move=file.moves)
        try:
            with self._library.held():
                self._check_origin(index, file)
                document = self._catalogue.documents.of_source(index.id, file.source)
                self._check_limits(index, document, file, staged.size)
                version = self._new(index, document, file, staged.size, fingerprint_of(staged.digest, splitting))
                with self._kept(staged, version):
                    self._catalogue.pending_versions.begin(version)
        finally:
            self._originals.drop(staged)
        if document and document.incoming:
            self._originals.discard((document.id, document.incoming))
        return version

    def _check_origin(self, index: IndexRecord, file: IncomingFile) -> None:
        """Called while the library is held. Raises Superseded if the archive or the site that the file comes from was
        replaced or removed in the meantime.
        """
        if file.archive:
            is_there = self.is_wanted(file.archive)
        else:
            is_there = file.parent is None or self._catalogue.sites.has(index.id, file.parent)
        if not is_there:
            raise errors.Superseded(name=file.name)

    def _check_limits(self, index: IndexRecord, document: DocumentRecord | None, file: IncomingFile, size: int) -> None:
        """Counts what other jobs have added, but not the file's archive, which is removed after its members came; nor,
        for an archive, its former members, which are replaced or removed. Its new members are counted as they come.
        """
        limits = self._limits_of(index.id)
        if limits == IndexLimits():
            return
        replaced = [document.id] if document else []
        count, others = self._catalogue.documents.index_size(
            index.id,
            but=[*replaced, *([file.archive.document_id] if file.archive else [])],
            but_members_of=file.source if is_archive(file.name) else None,
        )
        if document is None and count >= limits.files:
            raise errors.IndexHasTooManyFiles(name=file.name, index=index.name, limit=limits.files)
        if others + size > limits.megabytes * MEGABYTE:
            raise errors.IndexTooLarge(name=file.name, index=index.name, limit=limits.megabytes)

    def _is_whole(self, document: DocumentRecord) -> bool:
        """Whether a version of it is ready, with its original."""
        return document.is_ready and self._originals.size(document.id, document.revision) is not None

    @contextmanager
    def _kept(self, staged: StagedFile, version: PendingVersion) -> Iterator[None]:
        """Keeps the file; discards it again if it can't be recorded."""
        self._originals.keep(staged, version.document_id, version.revision)
        try:
            yield
        except BaseException:
            self._originals.discard((version.document_id, version.revision))
            raise

    def begin_same(self, document_id: str, splitting: object) -> PendingVersion | None:
        """A new version from the stored original, of which all texts are embedded again; None if there is no original.
        Raises OSError, OriginalsError.
        """
        with self._library.held():
            document = self._catalogue.documents.record(document_id)
            index = self._catalogue.indexes.record(document.index_id) if document else None
            kept = document and (document.incoming or document.revision)
            size = self._originals.size(document.id, kept) if document and index and kept else None
            if not document or not index or not kept or size is None:
                return None
            name = document.name or document.title
            file = IncomingFile(document.source, name, document.kind, Path(), False, document.parent, document.charset)
            fingerprint = fingerprint_of(self._originals.digest(document.id, kept), splitting)
            never_came = document.error.model_dump() if document.error and not document.incoming else None
            # What is incoming may also be the ready version itself, of which a re-index had not come to its end.
            is_newer = bool(document.revision and document.incoming) and fingerprint != document.fingerprint
            new = self._new(index, document, file, size, fingerprint)
            version = replace(new, embeds_all=True, error=never_came, retries=is_newer)
            self._originals.keep_same(document.id, kept, version.revision)
            self._catalogue.pending_versions.begin(version)
        if document.incoming:
            self._originals.discard((document.id, document.incoming))
        return version

    def put_vectors(self, versions: Sequence[EmbeddedVersion]) -> None:
        """Writes the vectors of several versions of one index at once: this takes Chroma hardly longer than for one.

        Call `finish` for each next, in the same `Library.saving`. Raises OSError and SQLAlchemyError.
        """
        with self._library.saving():
            fitting = [each for each in versions if self._fits(each)]
            noted = self._catalogue.pending_versions.note_vectors([(each.version, each.leftover) for each in fitting])
            wanted = [each for each in fitting if each.version in noted]  # `finish` raises the reason for the others
            if not wanted:
                return
            ids = [id_ for each in wanted for id_ in each.leftover.ids]
            owners = [each.version.document_id for each in wanted for _ in each.vectors]
            try:
                self._library.vectors.put(
                    wanted[0].version.collection, ids, owners, np.concatenate([each.vectors for each in wanted])
                )
            except BaseException:
                for each in wanted:
                    self._library.clear(each.leftover)
                raise

    def finish(self, embedded: EmbeddedVersion) -> None:
        """Makes it the ready version of its document, in place of the one before. Raises Superseded, LeaseLost,
        EmbeddingModelMismatch.
        """
        version, new = embedded.version, embedded.leftover
        with self._library.saving():
            before = self._catalogue.documents.record(version.document_id)
            try:
                index = self._index_of(embedded)
                terms = list(_terms(self._library.analyzer(index), embedded))
                dimension = embedded.vectors.shape[1]
                with self._library.swapping():
                    old = self._catalogue.pending_versions.finish(version, embedded.parsed, dimension, terms)
            except errors.LeaseLost:
                # The vectors of this version now belong to the worker that has its lease.
                present = self._catalogue.documents.record(version.document_id)
                if present is None or version.revision not in present.revisions:
                    self._library.clear(new)
                raise
            except BaseException:
                self._library.clear(new)
                raise
            if old:
                self._library.clear(old)
            if before and before.revision:
                self._originals.discard((before.id, before.revision))

    def _index_of(self, embedded: EmbeddedVersion) -> IndexRecord:
        """Its index as it is now. Raises Superseded or EmbeddingModelMismatch if the version does not fit into it."""
        version, dimension = embedded.version, embedded.vectors.shape[1]
        index = self._catalogue.indexes.record(version.index_id)
        # If the index was given another model in the meantime, this collection was dropped.
        if index is None or index.collection != version.collection:
            raise errors.Superseded(name=version.name)
        if index.dimension not in (0, dimension):
            raise index.model_mismatch(index.embedding_model, (index.dimension, dimension))
        return index

    def _fits(self, embedded: EmbeddedVersion) -> bool:
        try:
            self._index_of(embedded)
        except (errors.Superseded, errors.EmbeddingModelMismatch):
            return False  # `finish` raises the reason
        return True

    def fail(self, version: PendingVersion, error: errors.PlainError) -> None:
        """Its original stays, so that it can be tried again."""
        with self._library.saving():
            self._catalogue.pending_versions.fail(version, error.as_failure())

    def give_up(self, document_id: str, error: errors.PlainError) -> None:
        """Records that there will be no new version of it. A ready version stays ready."""
        with self._library.held():
            self._catalogue.documents.put_error(document_id, error.as_failure())

    def is_wanted(self, version: PendingVersion) -> bool:
        """Whether its document still waits for it: it may have been replaced or removed in the meantime."""
        document = self._catalogue.documents.record(version.document_id)
        return (
            document is not None
            and document.incoming == version.revision
            and document.status is not DocumentStatus.REMOVING
        )

    def refuse(self, index: IndexRecord, file: IncomingFile, size: int, error: errors.PlainError) -> str:
        """Records a document without a file; returns its id. Raises Superseded, as `begin` does."""
        with self._library.held():
            self._check_origin(index, file)
            document = self._catalogue.documents.of_source(index.id, file.source)
            version = self._new(index, document, file, size, "")
            self._catalogue.pending_versions.refuse(version, error.as_failure())
            return version.document_id

    def withdraw(self, version: PendingVersion) -> None:
        """Removes the document if this was its first version; otherwise it is as before and can be tried again."""
        with self._library.saving():
            document = self._catalogue.documents.record(version.document_id)
            if document is None or document.incoming != version.revision:
                return
            if document.is_ready and not version.retries:  # a newer version may have no other original than this one
                self._catalogue.documents.clear_incoming(version.document_id, None, error=version.error)
                self._originals.discard((version.document_id, version.revision))
            elif version.is_new:
                self._catalogue.documents.delete([version.document_id])
                self._originals.discard((version.document_id, version.revision))
            else:
                self.fail(version, errors.Cancelled(name=version.name))

    def replace_by_members(self, archive: PendingVersion, members: Set[str]) -> list[DocumentRecord]:
        """Records that the members, given by their sources, are documents, and the archive is none any more. Returns
        former members that are gone.

        Raises Superseded.
        """
        with self._library.held():
            if not self.is_wanted(archive):
                raise errors.Superseded(name=archive.name)
            documents = self._catalogue.documents.records(archive.index_id)
            gone = [each for each in documents if each.parent == archive.source and each.source not in members]
            self._library.remove(gone)
            self._catalogue.documents.delete([archive.document_id])
            self._originals.discard((archive.document_id, archive.revision))
            return gone

    def confirm(self, document: DocumentRecord, page: dict[str, Any] | None) -> None:
        """Records that the ready version is the newest, unless a newer one was begun since `document` was read. `page`:
        data for the next crawl.
        """
        with self._library.held():
            present = self._catalogue.documents.record(document.id)
            if present is None or present.incoming != document.incoming:
                return
            if present.error or present.incoming or page is not None:
                self._catalogue.documents.clear_incoming(document.id, page)
            if present.incoming:
                self._originals.discard((document.id, present.incoming))

    def _new(
        self,
        index: IndexRecord,
        document: DocumentRecord | None,
        file: IncomingFile,
        size: int,
        fingerprint: str,
    ) -> PendingVersion:
        return PendingVersion(
            index_id=index.id,
            collection=index.collection,
            document_id=document.id if document else uuid.uuid4().hex,
            revision=next(self._revisions),
            source=file.source,
            parent=file.parent,
            name=file.name,
            kind=file.kind,
            charset=file.charset,
            size=size,
            fingerprint=fingerprint,
            page=file.page,
            is_new=document is None,
        )


def _terms(analyzer: Analyzer, embedded: EmbeddedVersion) -> Iterator[ChunkTerms]:
    parsed, title = embedded.parsed, f"{embedded.version.archive_folder} {embedded.parsed.title}"
    chunks = ((section, chunk) for section in parsed for chunk in section.chunks)
    for id_, (section, chunk) in zip(embedded.leftover.ids, chunks, strict=True):
        yield ChunkTerms.of(analyzer, id_, title, chunk.headings, text_at(section.text, chunk.start, chunk.end))


def fingerprint_of(content_digest: str, splitting: object) -> str:
    return hashlib.sha256(f"{content_digest} {splitting}".encode()).hexdigest()
