"""Turns files, stored originals and archives into pending versions. A source that needs none gets its result at once:
unchanged, refused, removed. Sites are in sites.py.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from index_store.base import errors
from index_store.base.errors import PlainError
from index_store.base.settings.settings import MEGABYTE
from index_store.catalogue.pending_versions import PendingVersion
from index_store.catalogue.records import DocumentRecord, DocumentStatus, IndexRecord
from index_store.ingestion.context import JobContext
from index_store.ingestion.failures import as_plain_error
from index_store.ingestion.progress import Item, Stage
from index_store.ingestion.results import failed, removed, unchanged
from index_store.ingestion.sources import (
    FileSource,
    Source,
    StoredSource,
    file_name,
    stored_source,
    with_the_name_of_another,
)
from index_store.ingestion.stages.completion import Completion, DocumentTask
from index_store.library.versions import IncomingFile
from index_store.parsing.loaders.formats import format_of, is_archive

LONGEST_SOURCE = 2500
"""bytes: Postgres can't have longer ones in a unique index"""


class SourceAdmission:
    """Each method returns the version to parse, or None if there is nothing to parse."""

    def __init__(self, context: JobContext, completion: Completion) -> None:
        self._services = context.services
        self._is_redelivered = context.is_redelivered
        self._versions = context.services.versions
        self._originals = context.originals
        self._items = context.items
        self._completion = completion

    def admit_source(self, index: IndexRecord, source: FileSource, item: Item) -> PendingVersion | None:
        name = file_name(source.source)
        try:
            item.size = _checked_size(source.path, name, self._services.settings.max_file_mb)
        except (errors.DocumentMissing, errors.NotAFile) as error:
            # Only a document that was there before is listed as failed.
            document = self._services.library.catalogue.documents.of_source(index.id, item.source)
            if document:
                self._versions.give_up(document.id, error)
            self._completion.complete(item, failed(item.source, document.id if document else None, error))
            return None
        except errors.DocumentError as error:
            self.refuse(index, IncomingFile(item.source, name, "", source.path, False), item, error)
            return None
        return self.admit(index, IncomingFile(item.source, name, "", source.path, source.is_upload), item)

    def admit_kept(self, source: StoredSource, item: Item) -> PendingVersion | None:
        """Reads a document again from its original."""
        name = file_name(source.source)
        try:
            version = self._originals.call(
                lambda: self._versions.begin_same(source.document_id, self._services.splitting)
            )
        except (OSError, SQLAlchemyError, errors.OriginalsError) as error:
            told = as_plain_error(error, f"{source.source} can't be read again", name)
            self._completion.complete(item, failed(source.source, source.document_id, told))
            return None
        if version is None:
            missing = errors.OriginalMissing(name=name)
            result = failed(source.source, source.document_id, missing)
            known = self._services.library.catalogue.documents.record(source.document_id)
            if known and known.error and not known.revisions:  # no file of it was ever accepted: the reason stays true
                result = result.model_copy(update={"error": known.error})
            else:
                self._versions.give_up(source.document_id, missing)
            self._completion.complete(item, result)
            return None
        item.size = version.size
        return version

    def admit(self, index: IndexRecord, file: IncomingFile, item: Item) -> PendingVersion | None:
        """A file; its name tells its kind. Raises Superseded for a member of an archive that was replaced, and for a
        page of a site that was removed.
        """
        length = len(file.source.encode())
        if length > LONGEST_SOURCE:
            error = errors.PathTooLong(name=file.name, length=length, most=LONGEST_SOURCE)
            self._completion.complete(item, failed(file.source, None, error))
            return None
        try:
            kind = "zip" if is_archive(file.name) else format_of(file.name).kind
        except errors.UnknownKind as error:
            self.refuse(index, file, item, error)
            return None
        try:
            begun = self._originals.call(
                lambda: self._versions.begin(index, replace(file, kind=kind), self._services.splitting)
            )
        except (OSError, SQLAlchemyError, errors.OriginalsError) as error:
            if self._is_redelivered(error):
                raise
            told = as_plain_error(error, f"{file.source} can't be stored", file.name)
            self._completion.complete(item, failed(file.source, None, told))
            return None
        except (errors.IndexHasTooManyFiles, errors.IndexTooLarge) as error:
            # Only a document that was there before is listed as failed: a site may bring thousands.
            document = self._services.library.catalogue.documents.of_source(index.id, file.source)
            if document:
                self._versions.give_up(document.id, error)
            self._completion.complete(item, failed(file.source, document.id if document else None, error))
            return None
        if isinstance(begun, PendingVersion):
            return begun
        self._completion.complete(item, unchanged(begun))
        return None

    def refuse(self, index: IndexRecord, file: IncomingFile, item: Item, error: PlainError) -> None:
        """Raises Superseded, as `admit` does."""
        id_ = self._versions.refuse(index, file, item.size, error)
        self._completion.complete(item, failed(file.source, id_, error))

    def leave_out(self, index: IndexRecord, source: str) -> None:
        """Leaves out a source that was cancelled before its turn. A document that waits for it can be tried again."""
        document = self._services.library.catalogue.documents.of_source(index.id, source)
        if document and document.status is DocumentStatus.PENDING:
            self._versions.give_up(document.id, errors.Cancelled(name=file_name(source)))

    def refuse_same_names(self, sources: Iterable[Source]) -> None:
        """Their documents are not touched: the files that are added have them."""
        for source in with_the_name_of_another(sources):
            error = errors.SameName(name=file_name(source.source))
            self._completion.complete(self._items.add(source.source), failed(source.source, None, error))

    def confirm(self, document: DocumentRecord, item: Item) -> None:
        """Records that the ready version is the newest."""
        self._versions.confirm(document, None)
        self._completion.complete(item, unchanged(document))

    def tell(self, item: Item, error: PlainError) -> None:
        """Reports an error of no document."""
        self._completion.complete(item, failed(item.source, None, error))

    def tell_removed(self, documents: Sequence[DocumentRecord]) -> None:
        for document in documents:
            self._completion.complete(self._items.add(document.source), removed(document))


class ArchiveAdmission:
    """Turns the members of an archive into documents."""

    def __init__(self, context: JobContext, admission: SourceAdmission, completion: Completion) -> None:
        self._services = context.services
        self._versions = context.services.versions
        self._original = context.original
        self._items = context.items
        self._stop = context.stop
        self._admission = admission
        self._completion = completion

    def tasks(self, index: IndexRecord, archive: DocumentTask) -> Iterator[DocumentTask]:
        """Yields the documents of an archive. The archive itself is no document once they are stored."""
        version = archive.version
        archive.item.stage = Stage.READING
        with self._services.library.originals.work_folder() as folder:
            try:
                with self._original(version) as path:
                    unpacked = self._services.parser.unpack(path, version.name, folder, lambda: self._stop.is_set)
                for name, error in unpacked.refused:
                    file = _member(version, name, folder)
                    self._admission.refuse(index, file, self._items.add(file.source), error)
                for member in unpacked.members:
                    if self._stop.is_set:
                        break
                    file = _member(version, member.name, member.path)
                    item = self._items.add(file.source, member.path.stat().st_size)
                    admitted = self._admission.admit(index, file, item)
                    if admitted:
                        yield DocumentTask(admitted, item)
                if self._stop.is_set:
                    self._completion.leave(archive)
                    return
                names = [name for name, _ in unpacked.refused] + [member.name for member in unpacked.members]
                members = {_member(version, name, folder).source for name in names}
                gone = self._versions.replace_by_members(version, members)
                self._items.remove(archive.item)
                self._admission.tell_removed(gone)
            except (errors.DocumentError, errors.OriginalsError, errors.OriginalMissing, errors.StoreFailed) as error:
                self._completion.fail(archive, error)


def _member(archive: PendingVersion, name: str, path: Path) -> IncomingFile:
    source = stored_source(f"{archive.source}/{name}")
    return IncomingFile(source, file_name(name), "", path, True, parent=archive.source, archive=archive)


def _checked_size(path: Path, name: str, max_mb: float) -> int:
    """Raises DocumentError."""
    try:
        if not path.is_file():
            raise errors.NotAFile(name=name) if path.exists() else errors.DocumentMissing(name=name)
        size = path.stat().st_size
        with path.open("rb"):
            pass  # checks whether the file may be read
    except PermissionError as error:
        raise errors.DocumentForbidden(name=name) from error
    except (OSError, ValueError) as error:
        # The name is too long or has a NUL, or a disk fails.
        raise errors.Unreadable(name=name) from error
    if size > max_mb * MEGABYTE:
        raise errors.TooLarge(name=name, limit=f"{max_mb:g}")
    if not size:
        raise errors.EmptyDocument(name=name)
    return size
