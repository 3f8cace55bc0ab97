"""Stores the sources of a shared job: only the process that began it has access to them. Workers do the rest."""

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from index_store.base.errors import PlainError
from index_store.catalogue.pending_versions import PendingVersion
from index_store.catalogue.records import IndexRecord
from index_store.ingestion.context import JobContext
from index_store.ingestion.failures import as_plain_error
from index_store.ingestion.job import CHECK_SECONDS, JobOrder
from index_store.ingestion.queue.stored_items import StoredItems
from index_store.ingestion.queue.worker import withdraw
from index_store.ingestion.results import IngestStatus
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

if TYPE_CHECKING:
    from index_store.ingestion.queue.queued_jobs import QueuedJobs

log = logging.getLogger(__name__)


class JobAdmission:
    """Two threads: one stores the sources, the other watches whether the job may go on."""

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
        try:
            self._watching.start()  # first: without it, nothing is stored
            self._storing.start()
        except RuntimeError as error:  # this machine has no thread left
            self._fail(error)
            self._end()

    def cancel(self) -> None:
        self._context.stop.cancel()

    def suspend(self) -> None:
        self._context.stop.suspend()

    def join(self) -> None:
        """Waits until all sources are stored."""
        if self._storing.ident:  # else it could not be started, and the job has ended
            self._storing.join()

    def close(self) -> None:
        """Waits for both threads; the other one ends when the queue is closed, or the job finished."""
        self.join()
        if self._watching.ident:
            self._watching.join()

    def _work(self) -> None:
        try:
            index = self._open_index(self._order)
            self._job_table.set_index(self._job_id, index.id, index.name)
            self._admit(index)
        except Exception as error:  # noqa: BLE001 - the edge of the thread
            self._fail(error)
        finally:
            self._end()

    def _fail(self, error: Exception) -> None:
        self.failure = as_plain_error(error, f"Adding to {self._order.index} failed", self._order.index)

    def _end(self) -> None:
        discard_uploads(self._order.sources)
        while not self._is_noted():
            if self._queue.is_closed.wait(CHECK_SECONDS):
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
        while not self._queue.is_closed.wait(CHECK_SECONDS):
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
