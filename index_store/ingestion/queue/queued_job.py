"""A shared job, as each process sees it: its rows, read now and then."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlalchemy.exc import SQLAlchemyError

from index_store.base import errors
from index_store.base.errors import Failure, PlainError
from index_store.catalogue.schema import now
from index_store.ingestion.job import CHECK_SECONDS, JobOrder
from index_store.ingestion.progress import Item, Progress, progress_of
from index_store.ingestion.queue.context import QueueContext
from index_store.ingestion.queue.job_admission import JobAdmission
from index_store.ingestion.queue.job_table import JobRow
from index_store.ingestion.queue.worker import withdraw
from index_store.ingestion.results import IngestResult, IngestStatus

log = logging.getLogger(__name__)

ENDING_SECONDS = 5.0
"""seconds to wait for workers before the thing that they work on is deleted"""

FRESH = 0.3
"""seconds for which a job's state, once read, is shown"""


class QueuedIngestion:
    """Like Ingestion, but in every process. In the one that began it, a thread checks whether it may go on."""

    def __init__(
        self,
        queue: QueueContext,
        row: JobRow,
        admission: JobAdmission | None = None,
        may_go_on: Callable[[], bool] | None = None,
    ) -> None:
        """`admission`, `may_go_on`: only in the process that began the job."""
        self.id = row.id
        self._queue = queue
        self._job_table = queue.job_table
        self._row = row
        self._admission = admission
        self._may_go_on = may_go_on
        self._watching: threading.Thread | None = None
        self._row_read = self._items_read = -FRESH
        self._items: dict[int, Item] = {}
        self._waiting = 0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Starts the threads of the process that began the job."""
        if self._admission:
            name = f"ingestion into {self._row.index}: whether it may"
            watching = threading.Thread(target=self._watch, name=name, daemon=True)
            try:
                watching.start()  # first: without it, nothing is stored
                self._watching = watching
                self._admission.start()
            except RuntimeError as error:  # this machine has no thread left
                self._admission.give_up(error)

    @property
    def has_begun_here(self) -> bool:
        """Whether this process began the job."""
        return self._admission is not None

    # The interface for others

    @property
    def order(self) -> JobOrder:
        row = self._look_row()
        return JobOrder((), row.index, row.index_id, row.person_id)

    @property
    def index(self) -> str:
        """The name that its index had when the job began."""
        return self._look_row().index

    @property
    def failure(self) -> PlainError | None:
        """Why nothing at all could be added."""
        if self._admission and self._admission.failure:
            return self._admission.failure
        failure = self._look_row().failure
        return ReportedError(failure) if failure else None

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
        return self._look_row().is_finished

    @property
    def is_cancelled(self) -> bool:
        return self._look_row().is_cancelled

    def cancel(self) -> None:
        """Drops the sources that are not done. Their documents become as they were before the job."""
        self._job_table.cancel(self.id)
        if self._admission:
            self._admission.cancel()
        self._queue.cancel_here(self.id)
        for work in self._job_table.take_back(self.id):
            withdraw(self._queue.services, self._look_row().index_id, work)
        self._row_read = self._items_read = -FRESH

    def suspend(self) -> None:
        if self._admission:
            self._admission.suspend()

    def end(self) -> None:
        """Cancels the job and waits until this process changes nothing more. Waits a moment for workers in other
        processes; they check for this before they save anything.
        """
        self.cancel()
        self.join()
        until = time.monotonic() + ENDING_SECONDS
        while not self.is_finished and time.monotonic() < until:
            time.sleep(FRESH)

    def join(self) -> None:
        """Waits until this process has stored all sources of the job."""
        if self._admission:
            self._admission.join()

    def close(self) -> None:
        """Waits until this process is done with the job. Call it after the queue was closed."""
        self.join()
        if self._watching:
            self._watching.join()

    def wait(self) -> tuple[IngestResult, ...]:
        for _ in self.as_completed():
            pass
        return self.results

    def as_completed(self) -> Iterator[IngestResult]:
        """Yields each result as it comes; also ends when the store closes."""
        told: set[int] = set()
        while True:
            is_last = self.is_finished or self._queue.is_closed.wait(FRESH)
            self._items_read = -FRESH
            for id_, item in self._look()[1].items():
                if item.result and id_ not in told:
                    told.add(id_)
                    yield item.result
            if is_last:
                return

    def _watch(self) -> None:
        """Until the job is finished: checks whether its person may still add, and whether workers removed documents."""
        while not self._queue.is_closed.wait(CHECK_SECONDS):
            try:
                with self._lock:
                    is_there = self._read_row()
                if not is_there:
                    return
                if self._may_go_on and not self.is_cancelled and not self._may_go_on():
                    self.cancel()
                if self.is_cancelled and not self.is_finished:  # perhaps in another app
                    self.cancel()
                if self.is_finished:
                    if any(result.status is IngestStatus.REMOVED for result in self.results):
                        self._queue.services.library.on_removal()
                    return
            except SQLAlchemyError as error:
                log.warning("The jobs can't be read: %s", error)

    def _look_row(self) -> JobRow:
        """Without the items, of which there may be thousands."""
        with self._lock:
            if time.monotonic() - self._row_read >= FRESH:
                self._read_row()
            return self._row

    def _look(self) -> tuple[JobRow, dict[int, Item], int]:
        with self._lock:
            # The items are never older than the row, and are read after it: a finished job has all its results.
            if time.monotonic() - self._items_read >= FRESH or self._items_read < self._row_read:
                if self._read_row():
                    self._items, self._waiting = self._job_table.items(self.id)
                self._items_read = time.monotonic()
            return self._row, self._items, self._waiting

    def _read_row(self) -> bool:
        """Whether the job is still there; if not, it was finished and dismissed."""
        found = self._job_table.jobs(self.id)
        self._row = found[0] if found else replace(self._row, is_admitted=True, is_open=False)
        self._row_read = time.monotonic()
        return bool(found)


class ReportedError(errors.IndexStoreError):
    """An error that another process reported."""

    def __init__(self, failure: Failure) -> None:
        self._failure = failure
        super().__init__()

    def sentence(self, language: str) -> str:
        return self._failure.sentence(language)

    def as_failure(self) -> Failure:
        return self._failure
