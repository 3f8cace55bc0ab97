"""A job for one person: each read checks whether they may see it."""

from collections.abc import Iterator
from typing import NamedTuple

from index_store.access.gate import Gate
from index_store.access.rights import Right
from index_store.base.errors import PlainError, UnknownJob
from index_store.ingestion.jobs import Job
from index_store.ingestion.progress import Item, Progress
from index_store.ingestion.results import IngestResult, IngestStatus
from index_store.store.lifecycle import repairable_change


class JobState(NamedTuple):
    """What a list of jobs tells of one."""

    is_finished: bool
    has_results: bool
    has_failures: bool


class UserIngestion:
    """A job, for the person who began it or who manages its index. For others, each read raises UnknownJob. Each read
    also raises AccessWithdrawn.
    """

    def __init__(self, job: Job, gate: Gate) -> None:
        self.id = job.id
        self._job = job
        self._gate = gate

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UserIngestion) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def index(self) -> str:
        """The name of its index. If the index was deleted, or the person may not read it any more, the name that it
        had when the job began: what it is called since then is not for them.
        """
        job = self._seen
        present = self._gate.index_with_id(job.order.index_id, Right.READ) if job.order.index_id else None
        return present.name if present else job.index

    @property
    def state(self) -> JobState:
        """Read together: the right is checked once, in the database, for each of many jobs."""
        job = self._seen
        is_finished, results = job.is_finished, job.results  # in this order, because results may come in between
        failed = any(each.status == IngestStatus.FAILED for each in results)
        return JobState(is_finished, bool(results), failed or job.failure is not None)

    @property
    def failure(self) -> PlainError | None:
        """Why nothing at all could be added."""
        return self._seen.failure

    @property
    def items(self) -> tuple[Item, ...]:
        """The state of each document, in the order in which they came."""
        return self._seen.items

    @property
    def results(self) -> tuple[IngestResult, ...]:
        """The results of the documents that are done."""
        return self._seen.results

    @property
    def progress(self) -> Progress:
        return self._seen.progress

    @property
    def is_finished(self) -> bool:
        return self._seen.is_finished

    @property
    def is_cancelled(self) -> bool:
        return self._seen.is_cancelled

    def cancel(self) -> None:
        """Drops the sources that are not done. Their documents become as they were before the job. Raises
        ChangeFailed.
        """
        job = self._seen
        with repairable_change(job.index):
            job.cancel()

    def wait(self) -> tuple[IngestResult, ...]:
        return self._seen.wait()

    def as_completed(self) -> Iterator[IngestResult]:
        """Yields each result as it comes. Only one caller may read it."""
        return self._seen.as_completed()

    @property
    def _seen(self) -> Job:
        [is_seen] = self._gate.sees_jobs([(self._job.order.person_id, self._job.order.index_id)])
        if not is_seen:
            raise UnknownJob()
        return self._job
