"""Stores the sources of a shared job: only the process that began it has access to them. Workers do the rest."""

import logging
import threading
from collections.abc import Callable

from sqlalchemy.exc import SQLAlchemyError

from index_store.base.errors import PlainError
from index_store.catalogue.pending_versions import PendingVersion
from index_store.catalogue.records import IndexRecord
from index_store.ingestion.context import JobContext
from index_store.ingestion.failures import as_plain_error
from index_store.ingestion.job import CHECK_SECONDS, JobOrder
from index_store.ingestion.queue.context import QueueContext
from index_store.ingestion.queue.stored_items import StoredItems
from index_store.ingestion.queue.worker import withdraw
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


class JobAdmission:
    """One thread."""

    def __init__(
        self, queue: QueueContext, job_id: str, order: JobOrder, open_index: Callable[[JobOrder], IndexRecord]
    ) -> None:
        self.failure: PlainError | None = None
        self._queue = queue
        self._job_table = queue.job_table
        self._job_id = job_id
        self._order = order
        self._open_index = open_index
        self._items = StoredItems(self._job_table, job_id, queue.deliver)
        self._begun: PendingVersion | None = None
        """recorded in the catalogue, and not yet in the queue"""
        self._context = JobContext(queue.services, self._items)
        self._admission = SourceAdmission(self._context, Completion(self._context))
        self._sites = SiteAdmission(self._context, self._admission)
        self._thread = threading.Thread(target=self._work, name=f"ingestion into {order.index}", daemon=True)

    def start(self) -> None:
        """Raises RuntimeError if this machine has no thread left."""
        self._thread.start()

    def give_up(self, error: Exception) -> None:
        """Instead of `start`, or after it has failed."""
        self._fail(error)
        self._end()

    def cancel(self) -> None:
        self._context.stop.cancel()

    def suspend(self) -> None:
        self._context.stop.suspend()

    def join(self) -> None:
        """Waits until all sources are stored."""
        if self._thread.ident:  # else it could not be started, and the job has ended
            self._thread.join()

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
