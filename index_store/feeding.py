"""From sources to documents that are kept and pending: files, archives and their members, sites and their pages."""

import logging
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Row
from sqlalchemy.exc import SQLAlchemyError

from index_store import errors
from index_store.catalogue import Draft
from index_store.crawl import Crawl, CrawledPage, KnownPage, PageOutcome
from index_store.embeddings import Embeddings
from index_store.errors import PlainError
from index_store.library import Arrival, Library
from index_store.loaders import is_archive, kind_of
from index_store.loaders.parser import Parser
from index_store.progress import Course, Item, Stage
from index_store.records import Added, AddStatus
from index_store.settings import MEGABYTE, Settings
from index_store.sources import FileSource, KeptSource, SiteSource, Source, file_name, storable
from index_store.split import VERSION

log = logging.getLogger(__name__)

NOTHING_KNOWN = KnownPage(etag=None, last_modified=None, digest="", links=())
"""of a page that has no version that is ready: it is fetched anew, and may be gone"""


@dataclass(frozen=True)
class Workshop:
    """What the jobs of a store share."""

    settings: Settings
    library: Library
    parser: Parser
    embeddings: Embeddings

    @property
    def splitting(self) -> tuple[int, int, int]:
        """What, besides the file, decides which chunks a document has."""
        return VERSION, self.settings.chunk_size, self.settings.chunk_overlap


class Stop:
    """Whether a job is to end before it is done, and what becomes of the rest."""

    def __init__(self) -> None:
        self._cancelled = threading.Event()
        self._suspended = threading.Event()

    def cancel(self) -> None:
        """As if the rest had not been given."""
        self._cancelled.set()

    def suspend(self) -> None:
        """The rest stays pending, unless it was cancelled before."""
        if not self._cancelled.is_set():
            self._suspended.set()

    @property
    def is_set(self) -> bool:
        return self._cancelled.is_set() or self._suspended.is_set()

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    @property
    def is_suspended(self) -> bool:
        return self._suspended.is_set()


class Feeder:
    """Turns the sources of a job into drafts; what needs none (unchanged, refused, gone) is settled at once."""

    def __init__(self, workshop: Workshop, course: Course, stop: Stop, settle: Callable[[Item, Added], None]) -> None:
        self._shop = workshop
        self._course = course
        self._stop = stop
        self._settle = settle
        self._crawl: Crawl | None = None

    @property
    def waiting(self) -> int:
        """Pages of a site that are known of and not fetched yet; of a crawl that goes on, one at least."""
        crawl = self._crawl
        return max(crawl.waiting, 1) if crawl else 0

    def interrupt(self) -> None:
        """After `stop` was set: ends the crawl that is under way."""
        crawl = self._crawl
        if crawl:
            crawl.stop()

    def drafts(self, index: Row, sources: Sequence[Source]) -> Iterator[tuple[Draft, Item]]:
        """All is noted first, so that nothing is lost should the process die; what takes long to be had comes last."""
        items = [self._course.add(storable(source.source)) for source in sources]
        archives = []
        for source, item in zip(sources, items, strict=True):
            # What is only suspended is kept and noted all the same: an upload is nowhere else.
            if self._stop.is_cancelled:
                break
            if isinstance(source, SiteSource):
                self._note_site(index, source)
                continue
            draft = self._begin_file(index, source, item) if isinstance(source, FileSource) else None
            if isinstance(source, KeptSource):
                draft = self._begin_kept(index, source, item)
            if draft and is_archive(draft.name):
                archives.append((draft, item))
            elif draft:
                yield draft, item
        for draft, item in archives:
            yield from self._unpacked(index, draft, item)
        for source, item in zip(sources, items, strict=True):
            if isinstance(source, SiteSource):
                yield from self._crawled(index, source, item)

    def _begin_file(self, index: Row, source: FileSource, item: Item) -> Draft | None:
        name = file_name(source.source)
        try:
            item.size = _checked_size(source.path, name, self._shop.settings.max_file_mb)
        except (errors.DocumentMissing, errors.NotAFile) as error:
            # Nothing to be listed, unless it was there before.
            known = self._shop.library.catalogue.row(index.id, item.source)
            if known:
                self._shop.library.give_up(known.id, error)
            self._settle(item, failed(item.source, known.id if known else None, error))
            return None
        except errors.DocumentError as error:
            return self._refuse(index, Arrival(item.source, name, "", source.path, False), item, error)
        return self._begin(index, Arrival(item.source, name, "", source.path, source.is_upload), item)

    def _begin(self, index: Row, arrival: Arrival, item: Item) -> Draft | None:
        """None when there is nothing to read."""
        try:
            kind = "zip" if is_archive(arrival.name) else kind_of(arrival.name)
        except errors.UnknownKind as error:
            return self._refuse(index, arrival, item, error)
        try:
            begun = self._shop.library.begin(index, replace(arrival, kind=kind), self._shop.splitting)
        except (OSError, SQLAlchemyError) as error:
            log.warning("%s can't be kept: %s", arrival.source, error)
            self._settle(item, failed(arrival.source, None, errors.StoreFailed(name=arrival.name)))
            return None
        if isinstance(begun, Draft):
            return begun
        self._settle(item, unchanged(begun))
        return None

    def _begin_kept(self, index: Row, source: KeptSource, item: Item) -> Draft | None:
        try:
            draft = self._shop.library.begin_again(source.document_id, self._shop.splitting)
        except (OSError, SQLAlchemyError) as error:
            log.warning("%s can't be begun again: %s", source.source, error)
            sentence = errors.StoreFailed(name=file_name(source.source))
            self._settle(item, failed(source.source, source.document_id, sentence))
            return None
        if draft is None:
            missing = errors.OriginalMissing(name=file_name(source.source))
            self._shop.library.give_up(source.document_id, missing)
            self._settle(item, failed(source.source, source.document_id, missing))
            return None
        item.size = draft.size
        return draft

    def _refuse(self, index: Row, arrival: Arrival, item: Item, error: PlainError) -> None:
        id_ = self._shop.library.refuse(index, arrival, item.size, error)
        self._settle(item, failed(arrival.source, id_, error))

    @contextmanager
    def _work_folder(self) -> Iterator[Path]:
        folder = self._shop.library.originals.work_folder()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _unpacked(self, index: Row, archive: Draft, item: Item) -> Iterator[tuple[Draft, Item]]:
        """The documents of an archive, which itself is none once they are kept."""
        library = self._shop.library
        item.stage = Stage.READING
        with self._work_folder() as folder:
            try:
                path = library.originals.path(archive.document_id, archive.revision)
                unpacked = self._shop.parser.unpack(path, archive.name, folder, lambda: self._stop.is_set)
                for name, error in unpacked.refused:
                    arrival = _member(archive, name, folder)
                    self._refuse(index, arrival, self._course.add(arrival.source), error)
                for member in unpacked.members:
                    if self._stop.is_set:
                        break
                    arrival = _member(archive, member.name, member.path)
                    each = self._course.add(arrival.source, member.path.stat().st_size)
                    draft = self._begin(index, arrival, each)
                    if draft:
                        yield draft, each
                if self._stop.is_set:
                    self._leave_archive(archive)
                    return
                names = [name for name, _ in unpacked.refused] + [member.name for member in unpacked.members]
                gone = library.dissolve(archive, {_member(archive, name, folder).source for name in names})
                self._course.items.remove(item)
                self._tell_removed(gone)
            except errors.DocumentError as error:
                self._fail_archive(archive, item, error)

    def _crawled(self, index: Row, site: SiteSource, item: Item) -> Iterator[tuple[Draft, Item]]:
        """The documents of a site, as its pages come."""
        catalogue = self._shop.library.catalogue
        parent = site.parent or site.options.url
        # A single page that is tried again says nothing of the others.
        pages = {} if site.parent else catalogue.known_pages(index.id, parent)
        known = {url: KnownPage(**page) if page else NOTHING_KNOWN for url, page in pages.items()}
        item.stage = Stage.READING
        answers = False
        with self._work_folder() as folder:
            self._crawl = Crawl(site.options, self._shop.settings, known, folder)
            if self._stop.is_set:
                self._crawl.stop()
            for page in self._crawl:
                if not site.parent and not catalogue.has_site(index.id, parent):
                    break  # it was removed
                answers |= page.outcome is not PageOutcome.FAILED
                if item in self._course.items:
                    self._course.items.remove(item)
                each = self._course.add(page.url, page.path.stat().st_size if page.path else 0)
                draft = self._take_page(index, page, parent, each)
                if draft:
                    yield draft, each
            self._crawl = None
        if item in self._course.items:
            self._course.items.remove(item)
        if not site.parent and not self._stop.is_suspended:
            catalogue.end_crawl(index.id, parent, is_complete=answers and not self._stop.is_set)

    def _note_site(self, index: Row, site: SiteSource) -> None:
        if not site.parent:
            options = site.options.model_dump(mode="json")
            self._shop.library.catalogue.put_site(index.id, site.options.url, options)

    def _take_page(self, index: Row, page: CrawledPage, parent: str, item: Item) -> Draft | None:
        row = self._shop.library.catalogue.row(index.id, page.url)
        arrival = Arrival(page.url, page.name or page.url, "", page.path or Path(), True, parent, page.charset)
        match page.outcome:
            case PageOutcome.FETCHED:
                known = KnownPage(
                    etag=page.etag, last_modified=page.last_modified, digest=page.digest, links=page.links
                )
                return self._begin(index, replace(arrival, known=known.model_dump(mode="json")), item)
            case PageOutcome.UNCHANGED if row:
                self._shop.library.settle(row, None)
                self._settle(item, unchanged(row))
            case PageOutcome.GONE if row:
                self._course.items.remove(item)
                self._shop.library.remove([row])
                self._tell_removed([row])
            case PageOutcome.FAILED if page.error:
                self._refuse(index, arrival, item, page.error)
            case _:
                self._course.items.remove(item)
        return None

    def _tell_removed(self, rows: Sequence[Row]) -> None:
        for row in rows:
            gone = Added(
                source=row.source, status=AddStatus.REMOVED, document_id=row.id, chunks=0, sections=0, error=None
            )
            self._settle(self._course.add(row.source), gone)

    def _fail_archive(self, archive: Draft, item: Item, error: PlainError) -> None:
        if self._stop.is_set:
            self._leave_archive(archive)
            return
        self._shop.library.fail(archive, error)
        self._settle(item, failed(archive.source, archive.document_id, error))

    def _leave_archive(self, archive: Draft) -> None:
        if not self._stop.is_suspended:
            self._shop.library.withdraw(archive)


def _member(archive: Draft, name: str, path: Path) -> Arrival:
    source = storable(f"{archive.source}/{name}")
    return Arrival(source, file_name(name), "", path, True, parent=archive.source, archive=archive)


def _checked_size(path: Path, name: str, max_mb: float) -> int:
    """Raises DocumentError."""
    try:
        if not path.is_file():
            raise errors.NotAFile(name=name) if path.exists() else errors.DocumentMissing(name=name)
        size = path.stat().st_size
        with path.open("rb"):
            pass  # whether it may be read
    except PermissionError as error:
        raise errors.DocumentForbidden(name=name) from error
    except (OSError, ValueError) as error:
        # A name too long, one with NUL, a disk that fails.
        raise errors.Unreadable(name=name) from error
    if size > max_mb * MEGABYTE:
        raise errors.TooLarge(name=name, limit=f"{max_mb:g}")
    if not size:
        raise errors.EmptyDocument(name=name)
    return size


def failed(source: str, document_id: str | None, error: PlainError) -> Added:
    return Added(
        source=source, status=AddStatus.FAILED, document_id=document_id, chunks=0, sections=0, error=error.as_failure()
    )


def unchanged(document: Row) -> Added:
    return Added(
        source=document.source, status=AddStatus.UNCHANGED, document_id=document.id,
        chunks=document.chunks, sections=document.sections, error=None,
    )  # fmt: skip
