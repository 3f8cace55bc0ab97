"""The shared jobs of a store, as each process sees them."""

import threading
import uuid
from collections.abc import Callable, Set

from index_store.base.replica import Replica
from index_store.catalogue.records import IndexRecord
from index_store.ingestion.context import Services
from index_store.ingestion.job import JobOrder
from index_store.ingestion.jobs import ResumedJobs
from index_store.ingestion.queue.context import QueueContext
from index_store.ingestion.queue.delivery import Sender, make_tables
from index_store.ingestion.queue.job_admission import JobAdmission
from index_store.ingestion.queue.job_table import JobRow, JobTable, sources_of
from index_store.ingestion.queue.queued_job import QueuedIngestion
from index_store.ingestion.queue.worker import Worker, withdraw


class QueuedJobs:
    """Like Jobs, for all processes. `works`: whether this process also runs a worker."""

    def __init__(self, services: Services, replica: Replica, *, works: bool) -> None:
        database = services.library.catalogue.database
        make_tables(database)
        self._replica = replica
        self._services = services
        self._job_table = JobTable(database)
        self._context = QueueContext(services, self._job_table, Sender().deliver, self._cancel_here)
        self._known: dict[str, QueuedIngestion] = {}
        self._lock = threading.Lock()
        self._works = works
        self._worker: Worker | None = None
        # In this order: a replica is registered before it has a job.
        gone = self._job_table.all_replicas() - replica.alive()
        self._job_table.drop_finished(gone)
        self.take_over(gone)

    def replicas(self) -> set[int]:
        return self._job_table.replicas()

    def take_over(self, gone: Set[int]) -> None:
        for row in self._job_table.jobs():
            is_left = row.is_cancelled and (row.app is None or row.app in gone)
            for work in self._job_table.take_back(row.id, taken=True) if is_left else ():
                withdraw(self._services, row.index_id, work)
        self._job_table.take_over(gone, self._replica.number)

    def begin(
        self, order: JobOrder, open_index: Callable[[JobOrder], IndexRecord], may_go_on: Callable[[], bool] | None
    ) -> QueuedIngestion:
        """Raises SQLAlchemyError."""
        self._work()  # first: once the job is known, its admission has the uploads
        id_ = uuid.uuid4().hex
        self._job_table.begin(id_, order.index_id, order.index, order.person_id, self._replica.number)
        admission = JobAdmission(self._context, id_, order, open_index)
        job = QueuedIngestion(self._context, self._job_table.jobs(id_)[0], admission, may_go_on)
        with self._lock:
            # Together: whoever finds the job may wait for its threads.
            self._known[id_] = job
            job.begin()
        return job

    def resume(self) -> ResumedJobs:
        self._work()
        rows = self._job_table.jobs()
        admitting = {row.index_id for row in rows if row.index_id and not row.is_admitted}
        return ResumedJobs(
            [self._job(row) for row in rows if row.is_open], *sources_of(self._job_table.open_work()), admitting
        )

    def _cancel_here(self, job_id: str) -> None:
        worker = self._worker
        if worker:
            worker.cancel(job_id)

    def all(self) -> list[QueuedIngestion]:
        return self._every(lambda _: True)

    def of(self, index_id: str) -> list[QueuedIngestion]:
        return self._every(lambda row: row.index_id == index_id)

    def listed(self) -> list[QueuedIngestion]:
        """Jobs that are running or finished, and not dismissed."""
        return self._every(lambda row: not row.is_dismissed)

    def get(self, job_id: str) -> QueuedIngestion | None:
        return next((self._job(row) for row in self._job_table.jobs(job_id)), None)

    def dismiss(self, job_id: str) -> None:
        """Removes the job from the list. An unfinished job goes on."""
        self._job_table.dismiss(job_id)
        for row in self._job_table.jobs():
            # Those of another app may have a caller there who waits for the results.
            if row.is_dismissed and row.is_finished and row.app in (None, self._replica.number):
                self._forget(row.id)

    def forget(self, job_id: str) -> None:
        self.dismiss(job_id)
        if all(row.is_finished for row in self._job_table.jobs(job_id)):
            self._forget(job_id)

    def _forget(self, job_id: str) -> None:
        self._job_table.forget(job_id)
        with self._lock:
            self._known.pop(job_id, None)

    def suspend(self) -> None:
        """Stores the remaining sources and starts nothing more. Call `join` after it."""
        self._context.is_closed.set()
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
            if self._works and not self._worker and not self._context.is_closed.is_set():
                self._worker = Worker(self._services).start()

    def _every(self, wanted: Callable[[JobRow], bool]) -> list[QueuedIngestion]:
        rows = self._job_table.jobs()
        there = {row.id for row in rows}
        with self._lock:
            # Other apps delete their jobs themselves. One that was begun here may still have threads.
            self._known = {id_: job for id_, job in self._known.items() if id_ in there or job.has_begun_here}
        return [self._job(row) for row in rows if wanted(row)]

    def _job(self, row: JobRow) -> QueuedIngestion:
        with self._lock:
            return self._known.setdefault(row.id, QueuedIngestion(self._context, row))
