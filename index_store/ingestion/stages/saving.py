"""Makes versions ready when all their vectors are stored, while the next texts are embedded."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from typing import Self

from index_store.base import errors
from index_store.ingestion.context import JobContext
from index_store.ingestion.failures import as_plain_error
from index_store.ingestion.retry import Retry
from index_store.ingestion.stages.completion import Completion, DocumentTask
from index_store.library.versions import EmbeddedVersion


class Saving:
    """Saves in its own thread, which ends with the context."""

    def __init__(self, context: JobContext, completion: Completion) -> None:
        self._services = context.services
        self._vectors = Retry(errors.VectorsAway, context.stop)
        self._completion = completion
        self._thread = ThreadPoolExecutor(1)
        self._last: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()

    def begin(self, tasks: list[DocumentTask]) -> None:
        """Saves tasks that are embedded. Waits until the ones before are saved."""
        if not tasks:
            return
        if self._last:
            wait([self._last])  # so that only these wait in memory
        for task in tasks:
            task.is_saving = True
        self._last = self._thread.submit(self._save, tasks)

    def _save(self, tasks: list[DocumentTask]) -> None:
        try:
            with self._failing(tasks):
                embedded = [task.embedded() for task in tasks]
                self._vectors.call(partial(self._put, tasks, embedded))
        finally:
            for task in tasks:
                task.vectors = []
                task.close()

    def _put(self, tasks: Sequence[DocumentTask], embedded: Sequence[EmbeddedVersion]) -> None:
        versions = self._services.versions
        with self._services.library.saving():
            versions.put_vectors(embedded)
            for task, each in zip(tasks, embedded, strict=True):
                with self._failing([task]):
                    versions.finish(each)
                    self._completion.succeed(task, each)

    @contextmanager
    def _failing(self, tasks: Sequence[DocumentTask]) -> Iterator[None]:
        """Reports an error for those of `tasks` that have not ended yet."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the edge of the thread: nobody reads its result
            for task in tasks:
                what = f"{task.version.source} can't be saved"
                self._completion.fail(task, as_plain_error(error, what, task.version.name))
