"""The jobs of a store: of one process here; jobs that several processes share are in queue/."""

import threading
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
    """Unfinished jobs, and what they work on."""

    jobs: Sequence[Job]
    documents: set[str]
    """ids of the documents in these jobs"""
    sources: set[str]
    """files, archives and sites in these jobs, which bring what has one of them as its parent"""
    indexes: set[str]
    """ids of indexes to which another process is adding something now"""


class Jobs(Protocol):
    """Thread-safe."""

    def begin(self, order: JobOrder, open_index: OpenIndex, may_go_on: Callable[[], bool] | None) -> Job:
        """See Ingestion. The job is listed before it does anything."""

    def resume(self) -> ResumedJobs:
        """Continues the jobs that another process has left."""

    def replicas(self) -> set[int]:
        """Numbers of the replicas that have unfinished jobs, including replicas that are gone."""

    def take_over(self, gone: Set[int]) -> None:
        """Gives the jobs of these replicas to this one. Call `resume` after it."""

    def all(self) -> Sequence[Job]: ...

    def of(self, index_id: str) -> Sequence[Job]: ...

    def listed(self) -> Sequence[Job]:
        """Jobs that are running or finished, and not dismissed."""

    def dismiss(self, job_id: str) -> None:
        """Removes the job from the list. An unfinished job goes on."""

    def forget(self, job_id: str) -> None:
        """Like `dismiss`, and nothing of a finished job stays, even if another app has it in its list."""

    def suspend(self) -> None:
        """Starts nothing more; sources that are not done stay pending. Call `join` after it."""

    def join(self) -> None:
        """Waits until no job changes anything any more."""


class JobsOfProcess:
    """See Jobs."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._jobs: dict[str, Ingestion] = {}
        self._dismissed: set[str] = set()
        self._beginning = threading.Lock()
        """held while a job is listed and started: whoever finds a job may wait for its threads"""
        self._is_suspended = False

    def begin(self, order: JobOrder, open_index: OpenIndex, may_go_on: Callable[[], bool] | None) -> Job:
        job = Ingestion(self._services, order, open_index, may_go_on)
        with self._beginning:
            # Listed before it does anything: deleting an index must find all jobs that work on it.
            self._jobs[job.id] = job
            if self._is_suspended:
                job.suspend()
            job.start()
        return job

    def resume(self) -> ResumedJobs:
        return ResumedJobs([], set(), set(), set())

    def replicas(self) -> set[int]:
        return set()

    def take_over(self, gone: Set[int]) -> None:
        """Does nothing: there are no other replicas."""

    def all(self) -> list[Ingestion]:
        with self._beginning:
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

    def forget(self, job_id: str) -> None:
        self.dismiss(job_id)

    def suspend(self) -> None:
        with self._beginning:
            self._is_suspended = True  # also for jobs that begin while the store closes
        for job in self.all():
            job.suspend()

    def join(self) -> None:
        for job in self.all():
            job.wait()
