"""Adding documents as a job: in threads of its own, so that no page waits for it and none can lose it.

    feeding                     reading                         embedding
    each source becomes    ->   a parser's process turns   ->   texts of several documents together;
    pending documents           each into sections              then each is made ready

Every document is kept and noted as pending before the first is read. What waits between reading and embedding is
bounded, so a long job takes no more memory than a short one.
"""

import logging
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from queue import Empty, Queue

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row
from sqlalchemy.exc import SQLAlchemyError

from index_store import errors
from index_store.catalogue import Draft
from index_store.crawl import Crawl, CrawledPage, KnownPage, PageOutcome
from index_store.embeddings import Embeddings
from index_store.errors import PlainError
from index_store.library import Arrival, Library
from index_store.loaders import is_archive, kind_of
from index_store.loaders.loaded import RawFile
from index_store.loaders.parser import Parser
from index_store.loaders.sections import Split
from index_store.progress import Course, Item, Progress, Stage
from index_store.records import Added, AddStatus, Document
from index_store.settings import MEGABYTE, Settings
from index_store.sources import FileSource, KeptSource, SiteSource, Source, file_name, storable
from index_store.split import VERSION

log = logging.getLogger(__name__)

TOGETHER = 64
"""texts that are embedded in one call"""

READ_AHEAD = 4
"""documents that are read and wait to be embedded"""


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


@dataclass
class _Work:
    """A document on its way through the job."""

    draft: Draft
    item: Item
    split: Split | None = None
    rows: list[NDArray[np.float32]] = field(default_factory=list)
    """the vectors of its chunks, as they come"""
    is_settled: bool = False

    def texts(self) -> Iterator[str]:
        for section in self.split or ():
            for chunk in section.chunks:
                yield chunk.embedded


class Ingestion:
    """Adds `sources` to the index; one that fails stops no other.

    `open_index` gives the index, or raises the PlainError for which nothing can be added: `failure` then.
    """

    def __init__(
        self, workshop: Workshop, index: str, open_index: Callable[[], Row], sources: Sequence[Source]
    ) -> None:
        self.index = index
        self.sources = tuple(sources)
        self.failure: PlainError | None = None
        """why nothing at all could be added"""
        self._shop = workshop
        self._open_index = open_index
        self._course = Course()
        self._results: Queue[Added | None] = Queue()
        self._read: Queue[_Work | None] = Queue(READ_AHEAD)
        self._cancelled = threading.Event()
        self._suspended = threading.Event()
        self._crawl: Crawl | None = None
        self._thread = threading.Thread(target=self._work, name=f"ingestion into {index}", daemon=True)
        self._thread.start()

    # What others see

    @property
    def items(self) -> tuple[Item, ...]:
        """What is known of each document, in the order in which they came."""
        return tuple(self._course.items)

    @property
    def results(self) -> tuple[Added, ...]:
        """Of the documents that are done."""
        return tuple(item.result for item in self.items if item.result)

    @property
    def progress(self) -> Progress:
        crawl = self._crawl
        return self._course.progress(crawl.waiting if crawl else 0)

    @property
    def is_finished(self) -> bool:
        return not self._thread.is_alive()

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Leaves out what is not done: as if it had not been given, or as it was before."""
        self._cancelled.set()
        self._stop_crawl()

    def suspend(self) -> None:
        """Leaves what is not done pending, for the next start."""
        self._suspended.set()
        self._stop_crawl()

    def wait(self) -> tuple[Added, ...]:
        self._thread.join()
        return self.results

    def as_completed(self) -> Iterator[Added]:
        """Each result when it is there. For one reader."""
        while added := self._results.get():
            yield added

    # Feeding

    def _work(self) -> None:
        try:
            index = self._open_index()
            with self._embedding(index), ThreadPoolExecutor(self._shop.settings.parser_workers) as readers:
                for draft, item in self._drafts(index):
                    readers.submit(self._read_one, _Work(draft, item))
        except PlainError as error:
            self.failure = error
        except Exception as error:  # the edge of the job: a fault of ours must end it in words, not leave it hanging
            log.exception("Adding to %s failed", self.index)
            self.failure = errors.IndexStoreError(what=type(error).__name__)
        finally:
            for source in self.sources:
                if isinstance(source, FileSource) and source.is_upload:
                    source.path.unlink(missing_ok=True)
            self._results.put(None)

    def _drafts(self, index: Row) -> Iterator[tuple[Draft, Item]]:
        """All files first, so that none is lost should the process die; then what takes longer to be had."""
        items = [self._course.add(storable(source.source)) for source in self.sources]
        archives = []
        for source, item in zip(self.sources, items, strict=True):
            if self._is_stopping:
                return
            if isinstance(source, SiteSource):
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
        for source, item in zip(self.sources, items, strict=True):
            if isinstance(source, SiteSource):
                yield from self._crawled(index, source, item)

    def _begin_file(self, index: Row, source: FileSource, item: Item) -> Draft | None:
        name = file_name(source.source)
        try:
            item.size = _checked_size(source.path, name, self._shop.settings.max_file_mb)
        except (errors.DocumentMissing, errors.NotAFile) as error:
            # Nothing that could be listed or tried again.
            self._settle(item, _failed(item.source, None, error))
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
            self._settle(item, _failed(arrival.source, None, errors.StoreFailed(name=arrival.name)))
            return None
        if isinstance(begun, Draft):
            return begun
        self._settle(item, _unchanged(begun))
        return None

    def _begin_kept(self, index: Row, source: KeptSource, item: Item) -> Draft | None:
        try:
            draft = self._shop.library.begin_again(source.document_id, self._shop.splitting)
        except (OSError, SQLAlchemyError) as error:
            log.warning("%s can't be read again: %s", source.source, error)
            draft = None
        if draft is None:
            error = errors.OriginalMissing(name=file_name(source.source))
            self._settle(item, _failed(source.source, source.document_id, error))
            return None
        item.size = draft.size
        return draft

    def _refuse(self, index: Row, arrival: Arrival, item: Item, error: PlainError) -> None:
        id_ = self._shop.library.refuse(index, arrival, item.size, error)
        self._settle(item, _failed(arrival.source, id_, error))

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
                unpacked = self._shop.parser.unpack(path, archive.name, folder, lambda: self._is_stopping)
            except errors.DocumentError as error:
                self._fail(_Work(archive, item), error)
                return
            self._course.items.remove(item)
            seen = set()
            for name, error in unpacked.refused:
                arrival = Arrival(
                    storable(f"{archive.source}/{name}"), file_name(name), "", folder, False, archive.source
                )
                seen.add(arrival.source)
                self._refuse(index, arrival, self._course.add(arrival.source), error)
            for name, path in unpacked.members:
                source = storable(f"{archive.source}/{name}")
                seen.add(source)
                member = self._course.add(source, path.stat().st_size)
                draft = self._begin(index, Arrival(source, file_name(name), "", path, True, archive.source), member)
                if draft:
                    yield draft, member
        gone = [row for row in library.catalogue.rows(index.id) if row.parent == archive.source]
        self._remove(index, [row for row in gone if row.source not in seen])
        library.dissolve(archive)

    def _crawled(self, index: Row, site: SiteSource, item: Item) -> Iterator[tuple[Draft, Item]]:
        """The documents of a site, as its pages come."""
        catalogue = self._shop.library.catalogue
        parent = site.parent or site.options.url
        if self._is_stopping:
            return
        if not site.parent:
            catalogue.put_site(index.id, parent, site.options.model_dump(mode="json"))
        # A single page that is tried again says nothing of the others.
        pages = {} if site.parent else catalogue.known_pages(index.id, parent)
        known = {url: KnownPage(**page) for url, page in pages.items()}
        item.stage = Stage.READING
        with self._work_folder() as folder:
            self._crawl = Crawl(site.options, self._shop.settings, known, folder)
            if self._is_stopping:
                self._crawl.stop()
            for page in self._crawl:
                if item in self._course.items:
                    self._course.items.remove(item)
                each = self._course.add(page.url, page.path.stat().st_size if page.path else 0)
                draft = self._take_page(index, page, parent, each)
                if draft:
                    yield draft, each
            self._crawl = None
        if item in self._course.items:
            self._course.items.remove(item)
        if not site.parent and not self._suspended.is_set():
            catalogue.end_crawl(index.id, parent, is_complete=not self.is_cancelled)

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
                self._settle(item, _unchanged(row))
            case PageOutcome.GONE if row:
                self._course.items.remove(item)
                self._remove(index, [row])
            case PageOutcome.FAILED if page.error:
                self._refuse(index, arrival, item, page.error)
            case _:
                self._course.items.remove(item)
        return None

    def _remove(self, index: Row, rows: Sequence[Row]) -> None:
        self._shop.library.remove(rows, index.collection)
        for row in rows:
            gone = Added(
                source=row.source, status=AddStatus.REMOVED, document_id=row.id, chunks=0, sections=0, error=None
            )
            self._settle(self._course.add(row.source), gone)

    # Reading, several at once

    def _read_one(self, work: _Work) -> None:
        if self._is_stopping:
            self._leave(work)
            return
        work.item.stage = Stage.READING
        draft = work.draft
        path = self._shop.library.originals.path(draft.document_id, draft.revision)
        try:
            work.split = self._shop.parser.load(
                RawFile(path, draft.name, draft.charset), draft.kind, lambda: self._is_stopping
            )
        except errors.DocumentError as error:
            self._fail(work, error)
            return
        except Exception as error:  # the edge of the thread, whose result nobody asks for
            log.exception("%s can't be read", draft.source)
            self._fail(work, errors.IndexStoreError(what=type(error).__name__))
            return
        work.item.chunks = work.split.chunk_count
        work.item.stage = Stage.EMBEDDING
        self._read.put(work)

    # Embedding, texts of several documents together

    @contextmanager
    def _embedding(self, index: Row) -> Iterator[None]:
        thread = threading.Thread(target=self._embed, args=(index,), name=f"embedding for {self.index}")
        thread.start()
        try:
            yield
        finally:
            self._read.put(None)
            thread.join()

    def _embed(self, index: Row) -> None:
        for group in self._groups():
            try:
                self._embed_group(index, group)
            except PlainError as error:
                for work in group:
                    self._fail(work, error)
            except Exception as error:  # the edge of the thread: the job would wait for it for ever
                log.exception("Documents can't be embedded")
                for work in group:
                    self._fail(work, errors.IndexStoreError(what=type(error).__name__))
            for work in group:
                if work.split:
                    work.split.close()

    def _groups(self) -> Iterator[list[_Work]]:
        """What has been read by now, up to enough for one call."""
        while (work := self._read.get()) is not None:
            group = [work]
            while sum(each.item.chunks or 0 for each in group) < TOGETHER:
                try:
                    work = self._read.get_nowait()
                except Empty:
                    break
                if work is None:
                    yield group
                    return
                group.append(work)
            yield group

    def _embed_group(self, index: Row, group: list[_Work]) -> None:
        texts = ((work, text) for work in group for text in work.texts())
        for some in _batches(texts, TOGETHER):
            if self._is_stopping:
                break
            vectors = self._shop.embeddings.passages([text for _, text in some])
            self._check_dimension(index, vectors.shape[1])
            for (work, _), row in zip(some, vectors, strict=True):
                work.rows.append(row)
                work.item.embedded = len(work.rows)
                if work.split and len(work.rows) == work.split.chunk_count:
                    self._finish(work, work.split)
        for work in group:
            if self._is_stopping:
                self._leave(work)

    def _check_dimension(self, index: Row, dimension: int) -> None:
        present = self._shop.library.catalogue.index_by_id(index.id)
        if present and present.dimension and present.dimension != dimension:
            raise errors.model_mismatch(present, f"{self._shop.embeddings.id} ({dimension})")

    def _finish(self, work: _Work, split: Split) -> None:
        try:
            self._shop.library.finish(work.draft, split, np.stack(work.rows))
        except PlainError as error:
            self._fail(work, error)
            return
        except (OSError, SQLAlchemyError) as error:
            log.warning("%s can't be saved: %s", work.draft.source, error)
            self._fail(work, errors.StoreFailed(name=work.draft.name))
            return
        work.rows = []
        added = Added(
            source=work.draft.source, status=AddStatus.READY, document_id=work.draft.document_id,
            chunks=split.chunk_count, sections=split.section_count, error=None,
        )  # fmt: skip
        work.is_settled = True
        self._settle(work.item, added)

    # Ends of a document

    @property
    def _is_stopping(self) -> bool:
        return self._cancelled.is_set() or self._suspended.is_set()

    def _stop_crawl(self) -> None:
        crawl = self._crawl
        if crawl:
            crawl.stop()

    def _fail(self, work: _Work, error: PlainError) -> None:
        if work.is_settled:
            return
        if self._is_stopping:
            self._leave(work)
            return
        work.is_settled = True
        try:
            self._shop.library.fail(work.draft, error)
        except (OSError, SQLAlchemyError):
            log.exception("The failure of %s can't be noted", work.draft.source)
        self._settle(work.item, _failed(work.draft.source, work.draft.document_id, error))

    def _leave(self, work: _Work) -> None:
        """It is not done, and will not be by this job."""
        if not work.is_settled and not self._suspended.is_set():
            self._shop.library.withdraw(work.draft)
        work.is_settled = True

    def _settle(self, item: Item, added: Added) -> None:
        item.result = added
        item.stage = Stage.DONE
        self._results.put(added)


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


def _failed(source: str, document_id: str | None, error: PlainError) -> Added:
    return Added(
        source=source, status=AddStatus.FAILED, document_id=document_id, chunks=0, sections=0, error=error.as_failure()
    )


def _unchanged(document: Row | Document) -> Added:
    return Added(
        source=document.source, status=AddStatus.UNCHANGED, document_id=document.id,
        chunks=document.chunks, sections=document.sections, error=None,
    )  # fmt: skip


def _batches(items: Iterable, size: int) -> Iterator[list]:
    items = iter(items)
    return iter(lambda: list(islice(items, size)), [])
