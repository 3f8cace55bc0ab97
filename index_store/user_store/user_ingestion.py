"""A job for one person: each read checks whether they may see it."""

from collections.abc import Iterator

from index_store.access.gate import Gate
from index_store.base.errors import PlainError, UnknownJob
from index_store.ingestion.jobs import Job
from index_store.ingestion.progress import Item, Progress
from index_store.ingestion.results import IngestResult


class UserIngestion:
    """A job, for whoever began it or manages its index. Each read of it raises UnknownJob to others, and
    AccessWithdrawn.
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
        """Its name; of one that was deleted, the last."""
        return self._seen.index

    @property
    def failure(self) -> PlainError | None:
        """Why nothing at all could be added."""
        return self._seen.failure

    @property
    def items(self) -> tuple[Item, ...]:
        """What is known of each document, in the order in which they came."""
        return self._seen.items

    @property
    def results(self) -> tuple[IngestResult, ...]:
        """Of the documents that are done."""
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
        """Leaves out what is not done: as if it had not been given, or as it was before."""
        self._seen.cancel()

    def wait(self) -> tuple[IngestResult, ...]:
        return self._seen.wait()

    def as_completed(self) -> Iterator[IngestResult]:
        """Each result when it is there. For one reader."""
        return self._seen.as_completed()

    @property
    def _seen(self) -> Job:
        [is_seen] = self._gate.sees_jobs([(self._job.order.person_id, self._job.order.index_id)])
        if not is_seen:
            raise UnknownJob()
        return self._job
