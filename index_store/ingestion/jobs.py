"""The jobs of a store: those of one process here, those that several work on in queue/."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from index_store.base.errors import PlainError
from index_store.catalogue.records import IndexRecord
from index_store.ingestion.context import Services
from index_store.ingestion.job import Ingestion, Order
from index_store.ingestion.progress import Item, Progress
from index_store.ingestion.results import IngestResult

OpenIndex = Callable[[Order], IndexRecord]


class Job(Protocol):
    """See Ingestion."""

    id: str

    @property
    def order(self) -> Order: ...

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


class Jobs(Protocol):
    """Safe from any thread."""

    def begin(self, order: Order, open_index: OpenIndex, may_go_on: Callable[[], bool] | None) -> Job:
        """See Ingestion. It is among `all` before it does anything."""

    def resume(self) -> tuple[Sequence[Job], set[str], set[str]]:
        """Goes on with what another process has left: jobs, ids of documents and addresses of sites that are theirs."""

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

    def begin(self, order: Order, open_index: OpenIndex, may_go_on: Callable[[], bool] | None) -> Job:
        job = Ingestion(self._services, order, open_index, may_go_on)
        # Known before it does anything: whoever deletes an index has to find all that work on it.
        self._jobs[job.id] = job
        job.start()
        return job

    def resume(self) -> tuple[Sequence[Job], set[str], set[str]]:
        return [], set(), set()

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
