"""Processes items of jobs, each under a lease. Takes several at once, so that short documents share a model call."""

import asyncio
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Self

from sqlalchemy.exc import SQLAlchemyError

from index_store.base import errors
from index_store.base.errors import PlainError
from index_store.catalogue.pending_versions import PendingVersion
from index_store.catalogue.records import DocumentStatus, IndexRecord
from index_store.ingestion.context import JobContext, Services
from index_store.ingestion.failures import as_plain_error
from index_store.ingestion.progress import Item, Stage
from index_store.ingestion.queue.delivery import FORGOTTEN, QueueError, Receiver, Redeliver, Sender
from index_store.ingestion.queue.job_table import JobRow, JobTable, LeasedItem, Work
from index_store.ingestion.queue.stored_items import StoredItems
from index_store.ingestion.results import IngestResult, IngestStatus
from index_store.ingestion.sources import SiteSource
from index_store.ingestion.stages.admission import ArchiveAdmission, SourceAdmission
from index_store.ingestion.stages.completion import Completion, DocumentTask
from index_store.ingestion.stages.pipeline import IngestionPipeline
from index_store.ingestion.stages.sites import SiteAdmission
from index_store.ingestion.stop import Stop
from index_store.parsing.loaders.formats import is_archive

log = logging.getLogger(__name__)

AT_ONCE = 16
"""items per worker: enough short ones to fill a model call, few enough to leave some for other workers"""

CHECK_SECONDS = 1.0
"""seconds between checks whether a job was cancelled"""

PASSING = (SQLAlchemyError, errors.DatabaseAway, QueueError)
"""errors that say nothing of the item: it is delivered again"""


class Worker:
    def __init__(self, services: Services) -> None:
        """Raises ValueError if there is no queue."""
        url = services.settings.database_url
        if url is None:
            raise ValueError("DATABASE_URL is not set")
        self._services = services
        self._job_table = JobTable(services.library.catalogue.database)
        self._jobs: dict[str, _Job] = {}
        self._lock = threading.Lock()
        self._sender = Sender()
        self._is_closed = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="cancelled jobs", daemon=True)
        self._threads = ThreadPoolExecutor(AT_ONCE, "item")
        self._receiver = Receiver(url.get_secret_value(), self._handle, self._look, self._mend, AT_ONCE)

    def start(self) -> Self:
        self._watcher.start()
        self._receiver.start()
        return self

    def stop(self) -> None:
        """Returns its items to the queue. Call `join` after it."""
        self._is_closed.set()
        with self._lock:
            jobs = list(self._jobs.values())
        for job in jobs:
            job.suspend()
        self._receiver.stop()

    def join(self) -> None:
        self._receiver.join()
        self._threads.shutdown()
        if self._watcher.is_alive():
            self._watcher.join()

    def cancel(self, job_id: str) -> None:
        """Stops this worker's part of a cancelled job at once, without waiting for the next check."""
        with self._lock:
            job = self._jobs.get(job_id)
        if job:
            job.cancel()

    async def _handle(self, item_id: int) -> None:
        """Raises Redeliver."""
        try:
            is_done = await asyncio.get_running_loop().run_in_executor(self._threads, self._do, item_id)
        except PASSING as error:
            log.warning("Item %s will be tried again: %s", item_id, error)
            raise Redeliver from error
        if not is_done:
            raise Redeliver

    def _look(self) -> None:
        try:
            self._job_table.put_again(FORGOTTEN, self._sender.deliver)
        except (SQLAlchemyError, QueueError) as error:
            log.info("Items that the queue may have lost are checked later: %s", error)

    def _mend(self) -> None:
        """Deletes what a worker left that was killed between two steps: vectors and originals without a version."""
        library = self._services.library
        try:
            with library.held():
                library.repair()
        except (SQLAlchemyError, OSError, PlainError) as error:
            log.warning("Data that a dead worker has left is deleted at the next start: %s", error)

    def _do(self, item_id: int) -> bool:
        """Returns whether the item needs no more work. Raises SQLAlchemyError."""
        if self._is_closed.is_set():
            return False
        taken = self._job_table.take(item_id)
        if taken is None:
            return True
        [row] = self._job_table.jobs(taken.job_id)
        index = self._services.library.catalogue.indexes.record(row.index_id) if row.index_id else None
        if row.is_cancelled or index is None:
            withdraw(self._services, row.index_id, taken.work)
            self._job_table.close(taken.lease, taken.item)
            return True
        with self._working_on(row, index) as job:
            return job.do(taken)

    @contextmanager
    def _working_on(self, row: JobRow, index: IndexRecord) -> "Iterator[_Job]":
        """Items of one job in this worker share its threads."""
        with self._lock:
            job = self._jobs.get(row.id)
            if job is None:
                job = self._jobs[row.id] = _Job(self._services, self._job_table, self._sender, row, index)
                if self._is_closed.is_set():
                    job.suspend()
            job.users += 1
        try:
            yield job
        finally:
            with self._lock:
                job.users -= 1
                is_last = not job.users
                if is_last:
                    del self._jobs[row.id]
            if is_last:
                job.close()

    def _watch(self) -> None:
        while not self._is_closed.wait(CHECK_SECONDS):
            with self._lock:
                jobs = dict(self._jobs)
            if not jobs:
                continue
            try:
                going_on = {row.id for row in self._job_table.jobs(*jobs) if not row.is_cancelled}
            except SQLAlchemyError as error:
                log.warning("The jobs can't be read: %s", error)
                continue
            for id_ in jobs.keys() - going_on:
                jobs[id_].cancel()


class _Job:
    """The work of this worker for one job."""

    def __init__(
        self, services: Services, job_table: JobTable, sender: Sender, row: JobRow, index: IndexRecord
    ) -> None:
        self.users = 0
        self._services = services
        self._index = index
        self._items = StoredItems(job_table, row.id, sender.deliver)
        self._stop = Stop()
        context = JobContext(services, self._items, self._stop, in_worker=True)
        self._completion = Completion(context)
        self._admission = SourceAdmission(context, self._completion)
        self._archives = ArchiveAdmission(context, self._admission, self._completion)
        self._sites = SiteAdmission(context, self._admission)
        self._items.waiting = self._waiting
        self._site = threading.Lock()
        self._crawled: Item | None = None
        """the site that is being crawled"""
        self._pipeline = IngestionPipeline(context, index, self._completion, self._give_up).__enter__()

    def cancel(self) -> None:
        self._stop.cancel()
        self._sites.interrupt()

    def suspend(self) -> None:
        self._stop.suspend()
        self._sites.interrupt()

    def close(self) -> None:
        """Raises SQLAlchemyError."""
        self._pipeline.__exit__()
        self._items.close()

    def do(self, taken: LeasedItem) -> bool:
        """Returns whether the item needs no more work. Raises those of PASSING."""
        self._items.adopt(taken)
        try:
            if isinstance(taken.work, SiteSource):
                self._crawl(taken.item, taken.work)
            else:
                self._add(DocumentTask(replace(taken.work, lease=taken.lease), taken.item))
            if self._stop.is_suspended and taken.item.stage is not Stage.DONE:
                return False
            self._items.flush()  # saves results of other items that came with it
            self._items.done(taken)
        finally:
            self._items.let_go(taken)
        return True

    def _add(self, task: DocumentTask) -> None:
        """Adds a document, or the documents of an archive. Raises those of PASSING."""
        try:
            self._work_on(task)
        except PASSING:
            raise
        except Exception as error:  # noqa: BLE001 - the edge of the item: delivered again, it would only fail again
            what = f"{task.version.source} can't be added"
            self._completion.fail(task, as_plain_error(error, what, task.version.name))
        if task.ended.done():
            task.ended.result()

    def _work_on(self, task: DocumentTask) -> None:
        version, item = task.version, task.item
        if (done := self._done_before(version)) is not None:
            self._completion.complete(item, done)
        elif not self._services.versions.is_wanted(version):
            self._completion.fail(task, errors.Superseded(name=version.name))
        elif is_archive(version.name):
            for member in self._archives.tasks(self._index, task):
                self._items.put(member.item, member.version)
            if not task.ended.done() and not self._stop.is_set:
                item.stage = Stage.DONE
        else:
            self._pipeline.take(task)
            task.ended.result()

    def _done_before(self, version: PendingVersion) -> IngestResult | None:
        """The result of a worker that saved the version and died before it could report that."""
        record = self._services.library.catalogue.documents.record(version.document_id)
        if record is None or record.status is not DocumentStatus.READY or record.revision != version.revision:
            return None
        return IngestResult(
            source=version.source, status=IngestStatus.READY, document_id=record.id, chunks=record.chunks,
            sections=record.sections, pages_without_text=record.pages_without_text, error=None,
        )  # fmt: skip

    def _crawl(self, item: Item, site: SiteSource) -> None:
        """Raises those of PASSING."""
        with self._site:  # one site at a time
            self._crawled = item
            try:
                for page in self._sites.tasks(self._index, site, item):
                    self._items.put(page.item, page.version)
            except PASSING:
                raise
            except Exception as error:  # noqa: BLE001 - the edge of the item: the site would be fetched again and again
                told = as_plain_error(error, f"{site.source} can't be crawled", site.source)
                self._items.remove(item)  # as the first page did, if one came; so its result is that of another item
                self._admission.tell(self._items.add(site.source), told)
                item.stage = Stage.DONE
            else:
                if not self._stop.is_set:
                    item.stage = Stage.DONE

    def _waiting(self, item: Item) -> int:
        return self._sites.waiting if item is self._crawled else 0

    def _give_up(self, error: PlainError) -> None:
        """Only logs: the job's documents report the error themselves."""
        log.warning("%s", error)


def withdraw(services: Services, index_id: str | None, work: Work) -> None:
    """Drops the work for an item. Raises SQLAlchemyError."""
    if isinstance(work, PendingVersion):
        try:
            services.versions.withdraw(work)
        except OSError as error:  # the catalogue was changed first; the next start deletes the file
            log.warning("The original of %s can't be deleted: %s", work.source, error)
    elif index_id and not work.parent:
        services.library.catalogue.sites.end_crawl(index_id, work.source, is_complete=False)
