"""The jobs of a store."""

from index_store.ingestion.job import Ingestion


class Jobs:
    """Safe from any thread."""

    def __init__(self) -> None:
        self._jobs: dict[str, Ingestion] = {}
        self._dismissed: set[str] = set()

    def begin(self, job: Ingestion) -> None:
        # Known before it does anything: whoever deletes an index has to find all that work on it.
        self._jobs[job.id] = job
        job.start()

    def all(self) -> list[Ingestion]:
        return list(self._jobs.values())

    def of(self, index_id: str) -> list[Ingestion]:
        return [job for job in self.all() if job.order.index_id == index_id]

    def listed(self) -> list[Ingestion]:
        """Under way, or finished, and not dismissed."""
        return [job for job in self.all() if job.id not in self._dismissed]

    def get(self, job_id: str) -> Ingestion | None:
        return self._jobs.get(job_id)

    def dismiss(self, job_id: str) -> None:
        """Takes it off the list; one under way goes on."""
        self._dismissed.add(job_id)
        for each in self.all():
            if each.id in self._dismissed and each.is_finished:
                self._jobs.pop(each.id, None)
                self._dismissed.discard(each.id)
