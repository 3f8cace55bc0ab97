"""The jobs of a store: those of one process here, shared ones in queue/."""

from collections.abc import Callable, Iterator, Sequence, Set
from typing import NamedTuple, Protocol

from index_store.base.errors import PlainError
from index_store.catalogue.records import IndexRecord
from index_store.ingestion.context import Services
from index_store.ingestion.job import Ingestion, JobOrder
from index_store.ingestion.progress import Item, Progress
from index_store.ingestion.results import IngestResult

OpenIndex = Callable[[JobOrder], IndexRecord]


class Job(Protocol):
    """See Ingestion."""

    id: str

    @property
    def order(self) -> JobOrder: ...

    @property
    def index(self) -> str: ...

    @property
    def failure(self) -> PlainError | None: ...

    @property
    def items(self) -> tuple[Item, ...]: ...

    @property
    def results(self) -> tuple[IngestResult, ...]: ...

    @property
    def progress(self) -> Progress: ...

    @property
    def is_finished(self) -> bool: ...

    @property
    def is_cancelled(self) -> bool: ...

    def cancel(self) -> None: ...

    def end(self) -> None: ...

    def wait(self) -> tuple[IngestResult, ...]: ...

    def as_completed(self) -> Iterator[IngestResult]: ...


class ResumedJobs(NamedTuple):
    """What is under way, and who sees to it."""

    jobs: Sequence[Job]
    documents: set[str]
    """ids of those that are theirs"""
    sources: set[str]
    """of those, and of sites that they crawl"""
    indexes: set[str]
    """ids of those that another process is just taking something in for"""


class Jobs(Protocol):
    """Safe from any thread."""

    def begin(self, order: JobOrder, open_index: OpenIndex, may_go_on: Callable[[], bool] | None) -> Job:
        """See Ingestion. It is among `all` before it does anything."""

    def resume(self) -> ResumedJobs:
        """Goes on with what another process has left."""

    def apps(self) -> set[int]:
        """Numbers of the replicas that have some under way, one that is gone too."""

    def take_over(self, gone: Set[int]) -> None:
        """What replicas of these numbers have left is this one's. `resume` is to follow."""

    def all(self) -> Sequence[Job]: ...

    def of(self, index_id: str) -> Sequence[Job]: ...

    def listed(self) -> Sequence[Job]:
        """Under way, or finished, and not dismissed."""

    def dismiss(self, job_id: str) -> None:
        """Takes it off the list; one under way goes on."""

    def suspend(self) -> None:
        """Begins nothing more; what is not done stays pending. `join` is to follow."""

    def join(self) -> None:
        """Until none of them changes anything any more."""


class JobsOfProcess:
    """See Jobs."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._jobs: dict[str, Ingestion] = {}
        self._dismissed: set[str] = set()

    def begin(self, order: JobOrder, open_index: OpenIndex, may_go_on: Callable[[], bool] | None) -> Job:
        job = Ingestion(self._services, order, open_index, may_go_on)
        # Known before it does anything: whoever deletes an index has to find all that work on it.
        self._jobs[job.id] = job
        job.start()
        return job

    def resume(self) -> ResumedJobs:
        return ResumedJobs([], set(), set(), set())

    def apps(self) -> set[int]:
        return set()

    def take_over(self, gone: Set[int]) -> None:
        """Nothing: there are no others."""

    def all(self) -> list[Ingestion]:
        return list(self._jobs.values())

    def of(self, index_id: str) -> list[Ingestion]:
        return [job for job in self.all() if job.order.index_id == index_id]

    def listed(self) -> list[Ingestion]:
        return [job for job in self.all() if job.id not in self._dismissed]

    def dismiss(self, job_id: str) -> None:
        self._dismissed.add(job_id)
        for each in self.all():
            if each.id in self._dismissed and each.is_finished:
                self._jobs.pop(each.id, None)
                self._dismissed.discard(each.id)

    def suspend(self) -> None:
        for job in self.all():
            job.suspend()

    def join(self) -> None:
        for job in self.all():
            job.wait()
