"""A shared job on the side of the app, which stores the sources. Workers do the rest."""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Set
from dataclasses import replace

from sqlalchemy.exc import SQLAlchemyError

from index_store.base import errors
from index_store.base.errors import Failure, PlainError
from index_store.base.replica import Replica
from index_store.catalogue.pending_versions import PendingVersion
from index_store.catalogue.records import IndexRecord
from index_store.catalogue.schema import now
from index_store.ingestion.context import JobContext, Services
from index_store.ingestion.job import LOOK, JobOrder
from index_store.ingestion.jobs import ResumedJobs
from index_store.ingestion.progress import Item, Progress, progress_of
from index_store.ingestion.queue.delivery import Sender, make_tables
from index_store.ingestion.queue.job_table import JobRow, JobTable, sources_of
from index_store.ingestion.queue.stored_items import StoredItems
from index_store.ingestion.queue.worker import Worker, withdraw
from index_store.ingestion.results import IngestResult, IngestStatus
from index_store.ingestion.sources import (
    FileSource,
    SiteSource,
    StoredSource,
    discard_uploads,
    last_of_each,
    stored_source,
)
from index_store.ingestion.stages.admission import SourceAdmission
from index_store.ingestion.stages.completion import Completion
from index_store.ingestion.stages.sites import SiteAdmission

log = logging.getLogger(__name__)

ENDING = 5.0
"""seconds to wait for workers before the thing that they work on is deleted"""

FRESH = 0.3
"""seconds for which a job's state, once read, is shown"""


class QueuedIngestion:
    """Like Ingestion, but every process sees the same job."""

    def __init__(self, queue: "QueuedJobs", row: JobRow, admission: "JobAdmission | None" = None) -> None:
        """`admission`: only in the process that began the job."""
        self.id = row.id
        self._queue = queue
        self._job_table = queue.job_table
        self._row = row
        self._admission = admission
        self._looked = -FRESH
        self._items: dict[int, Item] = {}
        self._waiting = 0
        self._lock = threading.Lock()

    # The interface for others

    @property
    def order(self) -> JobOrder:
        row = self._look()[0]
        return JobOrder((), row.index, row.index_id, row.person_id)

    @property
    def index(self) -> str:
        """The name of its index; if the index was deleted, its last name."""
        return self._look()[0].index

    @property
    def failure(self) -> PlainError | None:
        """Why nothing at all could be added."""
        if self._admission and self._admission.failure:
            return self._admission.failure
        failure = self._look()[0].failure
        return _Told(failure) if failure else None

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(self._look()[1].values())

    @property
    def results(self) -> tuple[IngestResult, ...]:
        return tuple(item.result for item in self.items if item.result)

    @property
    def progress(self) -> Progress:
        row, items, waiting = self._look()
        return progress_of(tuple(items.values()), waiting, (now() - row.begun_at).total_seconds())

    @property
    def is_finished(self) -> bool:
        return self._look()[0].is_finished

    @property
    def is_cancelled(self) -> bool:
        return self._look()[0].is_cancelled

    def cancel(self) -> None:
        """Drops the sources that are not done. Their documents become as they were before the job."""
        self._job_table.cancel(self.id)
        if self._admission:
            self._admission.cancel()
        self._queue.cancel_here(self.id)
        for work in self._job_table.take_back(self.id):
            withdraw(self._queue.services, self._look()[0].index_id, work)
        self._looked = -FRESH

    def suspend(self) -> None:
        if self._admission:
            self._admission.suspend()

    def end(self) -> None:
        """Cancels the job and waits until this process changes nothing more. Waits a moment for workers in other
        processes; they check for this before they save anything.
        """
        self.cancel()
        self.join()
        until = time.monotonic() + ENDING
        while not self.is_finished and time.monotonic() < until:
            time.sleep(FRESH)

    def join(self) -> None:
        """Waits until this process has stored all sources of the job."""
        if self._admission:
            self._admission.join()

    def close(self) -> None:
        """Waits until this process is done with the job. Call it after the queue was closed."""
        if self._admission:
            self._admission.close()

    def wait(self) -> tuple[IngestResult, ...]:
        for _ in self.as_completed():
            pass
        return self.results

    def as_completed(self) -> Iterator[IngestResult]:
        """Yields each result as it comes; also ends when the store closes."""
        told: set[int] = set()
        while True:
            is_last = self.is_finished or self._queue.is_closed.wait(FRESH)
            self._looked = -FRESH
            for id_, item in self._look()[1].items():
                if item.result and id_ not in told:
                    told.add(id_)
                    yield item.result
            if is_last:
                return

    def _look(self) -> tuple[JobRow, dict[int, Item], int]:
        with self._lock:
            if time.monotonic() - self._looked >= FRESH:
                # In this order: a finished job has all its results.
                found = self._job_table.jobs(self.id)
                if found:
                    self._row = found[0]
                    self._items, self._waiting = self._job_table.items(self.id)
                else:  # it was finished and dismissed
                    self._row = replace(self._row, is_admitted=True, is_open=False)
                self._looked = time.monotonic()
            return self._row, self._items, self._waiting


class JobAdmission:
    """Stores the sources of a job, in its own thread: only this process has access to them."""

    def __init__(
        self,
        queue: "QueuedJobs",
        job_id: str,
        order: JobOrder,
        open_index: Callable[[JobOrder], IndexRecord],
        may_go_on: Callable[[], bool] | None,
    ) -> None:
        self.failure: PlainError | None = None
        self._queue = queue
        self._job_table = queue.job_table
        self._job_id = job_id
        self._order = order
        self._open_index = open_index
        self._may_go_on = may_go_on
        self._items = StoredItems(self._job_table, job_id, queue.deliver)
        self._begun: PendingVersion | None = None
        """recorded in the catalogue, and not yet in the queue"""
        self._context = JobContext(queue.services, self._items)
        self._admission = SourceAdmission(self._context, Completion(self._context))
        self._sites = SiteAdmission(self._context, self._admission)
        name = f"ingestion into {order.index}"
        self._storing = threading.Thread(target=self._work, name=name, daemon=True)
        self._watching = threading.Thread(target=self._watch, name=f"{name}: whether it may", daemon=True)

    def start(self) -> None:
        self._storing.start()
        self._watching.start()

    def cancel(self) -> None:
        self._context.stop.cancel()

    def suspend(self) -> None:
        self._context.stop.suspend()

    def join(self) -> None:
        """Waits until all sources are stored."""
        self._storing.join()

    def close(self) -> None:
        """Waits for both threads; the other one ends when the queue is closed, or the job finished."""
        self._storing.join()
        self._watching.join()

    def _work(self) -> None:
        try:
            index = self._open_index(self._order)
            self._job_table.set_index(self._job_id, index.id, index.name)
            self._admit(index)
        except PlainError as error:
            self.failure = error
        except (OSError, SQLAlchemyError) as error:
            log.warning("Adding to %s failed: %s", self._order.index, error)
            self.failure = errors.StoreFailed(name=self._order.index)
        except Exception as error:  # the edge of the thread: our own bug must end it with an error
            log.exception("Adding to %s failed", self._order.index)
            self.failure = errors.IndexStoreError(what=type(error).__name__)
        finally:
            discard_uploads(self._order.sources)
            while not self._is_noted():
                if self._queue.is_closed.wait(LOOK):
                    break

    def _is_noted(self) -> bool:
        """Records that all sources are stored. False while the database is away: tried again, or the job never ends."""
        try:
            if self._begun and self.failure:
                self._queue.services.versions.fail(self._begun, self.failure)
            self._begun = None
            self._items.close()
            self._job_table.admitted(self._job_id, self.failure)
        except SQLAlchemyError as error:
            log.warning("It is recorded later that all sources of %s were accepted: %s", self._order.index, error)
            return False
        return True

    def _admit(self, index: IndexRecord) -> None:
        """Sites take long and come last."""
        sites = []
        self._admission.refuse_same_names(self._order.sources)
        for source in last_of_each(self._order.sources):
            # A suspended job still stores and records its sources: an upload exists nowhere else.
            if self._context.stop.is_cancelled:
                self._admission.leave_out(index, stored_source(source.source))
                continue
            item = self._items.add(stored_source(source.source))
            if isinstance(source, SiteSource):
                self._sites.note(index, source)
                sites.append((item, source))
                continue
            if isinstance(source, StoredSource):
                version = self._admission.admit_kept(source, item)
            elif isinstance(source, FileSource):
                version = self._admission.admit_source(index, source, item)
            if version:
                self._begun = version
                self._items.put(item, version)
                self._begun = None
        for item, site in sites:
            if self._context.stop.is_cancelled:
                withdraw(self._queue.services, index.id, site)
            else:
                self._items.put(item, site)

    def _watch(self) -> None:
        """Until the job is finished: checks whether its person may still add, and whether workers removed documents."""
        while not self._queue.is_closed.wait(LOOK):
            try:
                job = self._queue.get(self._job_id)
                if job is None:
                    return
                if self._may_go_on and not job.is_cancelled and not self._may_go_on():
                    job.cancel()
                if job.is_cancelled and not job.is_finished:  # perhaps in another app
                    job.cancel()
                if job.is_finished:
                    if any(result.status is IngestStatus.REMOVED for result in job.results):
                        self._queue.services.library.on_removal()
                    return
            except SQLAlchemyError as error:
                log.warning("The jobs can't be read: %s", error)


class QueuedJobs:
    """Like Jobs, for all processes. `works`: whether this process also runs a worker."""

    def __init__(self, services: Services, replica: Replica, *, works: bool) -> None:
        database = services.library.catalogue.database
        make_tables(database)
        self._replica = replica
        self.services = services
        self.job_table = JobTable(database)
        self.is_closed = threading.Event()
        self._sender = Sender()
        self.deliver = self._sender.deliver
        self._known: dict[str, QueuedIngestion] = {}
        self._lock = threading.Lock()
        self._works = works
        self._worker: Worker | None = None
        # In this order: a replica is registered before it has a job.
        gone = self.job_table.all_apps() - replica.alive()
        self.job_table.drop_finished(gone)
        self.take_over(gone)

    def apps(self) -> set[int]:
        return self.job_table.apps()

    def take_over(self, gone: Set[int]) -> None:
        for row in self.job_table.jobs():
            is_left = row.is_cancelled and (row.app is None or row.app in gone)
            for work in self.job_table.take_back(row.id, taken=True) if is_left else ():
                withdraw(self.services, row.index_id, work)
        self.job_table.take_over(gone, self._replica.number)

    def begin(
        self, order: JobOrder, open_index: Callable[[JobOrder], IndexRecord], may_go_on: Callable[[], bool] | None
    ) -> QueuedIngestion:
        """Raises SQLAlchemyError."""
        id_ = uuid.uuid4().hex
        self.job_table.begin(id_, order.index_id, order.index, order.person_id, self._replica.number)
        admission = JobAdmission(self, id_, order, open_index, may_go_on)
        job = QueuedIngestion(self, self.job_table.jobs(id_)[0], admission)
        with self._lock:
            # Together: whoever finds the job may wait for its threads.
            self._known[id_] = job
            admission.start()
        self._work()
        return job

    def resume(self) -> ResumedJobs:
        self._work()
        rows = self.job_table.jobs()
        admitting = {row.index_id for row in rows if row.index_id and not row.is_admitted}
        return ResumedJobs(
            [self._job(row) for row in rows if row.is_open], *sources_of(self.job_table.open_work()), admitting
        )

    def cancel_here(self, job_id: str) -> None:
        """Stops at once what this process does for the job."""
        worker = self._worker
        if worker:
            worker.cancel(job_id)

    def all(self) -> list[QueuedIngestion]:
        return [self._job(row) for row in self.job_table.jobs()]

    def of(self, index_id: str) -> list[QueuedIngestion]:
        return [self._job(row) for row in self.job_table.jobs() if row.index_id == index_id]

    def listed(self) -> list[QueuedIngestion]:
        """Jobs that are running or finished, and not dismissed."""
        return [self._job(row) for row in self.job_table.jobs() if not row.is_dismissed]

    def get(self, job_id: str) -> QueuedIngestion | None:
        return next((self._job(row) for row in self.job_table.jobs(job_id)), None)

    def dismiss(self, job_id: str) -> None:
        """Removes the job from the list. An unfinished job goes on."""
        self.job_table.dismiss(job_id)
        for row in self.job_table.jobs():
            # Those of another app may have a caller there who waits for the results.
            if row.is_dismissed and row.is_finished and row.app in (None, self._replica.number):
                self.job_table.forget(row.id)
                with self._lock:
                    self._known.pop(row.id, None)

    def suspend(self) -> None:
        """Stores the remaining sources and starts nothing more. Call `join` after it."""
        self.is_closed.set()
        if self._worker:
            self._worker.stop()
        with self._lock:
            known = list(self._known.values())
        for job in known:
            job.suspend()

    def join(self) -> None:
        with self._lock:
            known = list(self._known.values())
        for job in known:
            job.close()
        if self._worker:
            self._worker.join()

    def _work(self) -> None:
        """Starts the worker only when there is work: commands that only read don't need one."""
        with self._lock:
            if self._works and not self._worker and not self.is_closed.is_set():
                self._worker = Worker(self.services).start()

    def _job(self, row: JobRow) -> QueuedIngestion:
        with self._lock:
            return self._known.setdefault(row.id, QueuedIngestion(self, row))


class _Told(errors.IndexStoreError):
    """An error that another process reported."""

    def __init__(self, failure: Failure) -> None:
        self._failure = failure
        super().__init__()

    def sentence(self, language: str) -> str:
        return self._failure.sentence(language)

    def as_failure(self) -> Failure:
        return self._failure
