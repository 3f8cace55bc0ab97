"""A job that adds documents: its public interface, and its threads from admission to saving."""

import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from index_store.base.errors import PlainError
from index_store.catalogue.records import IndexRecord
from index_store.ingestion.context import JobContext, Services
from index_store.ingestion.failures import as_plain_error
from index_store.ingestion.progress import Item, Progress
from index_store.ingestion.results import IngestResult
from index_store.ingestion.sources import FileSource, SiteSource, Source, discard_uploads, last_of_each, stored_source
from index_store.ingestion.stages.admission import ArchiveAdmission, SourceAdmission
from index_store.ingestion.stages.completion import Completion, DocumentTask
from index_store.ingestion.stages.pipeline import IngestionPipeline
from index_store.ingestion.stages.sites import SiteAdmission
from index_store.parsing.loaders.formats import is_archive

CHECK_SECONDS = 2.0
"""seconds between checks whether a job may go on"""


@dataclass(eq=False)
class JobOrder:
    """The order for a job: its sources, its index, and the person who asked."""

    sources: tuple[Source, ...]
    index: str
    """its name when the job was ordered, or when the right to it was checked last, at the start of the job"""
    index_id: str | None
    """None until the job has created the index"""
    person_id: str
    """the person who began the job"""


class Ingestion:
    """Adds the sources of its order to the index. If one fails, the others go on. Nothing happens before `start`.

    `open_index`: returns the index, or raises the PlainError for which nothing can be added; it is then the `failure`.
    `may_go_on`: called every CHECK_SECONDS; if it returns False, the job is cancelled.
    """

    def __init__(
        self,
        services: Services,
        order: JobOrder,
        open_index: Callable[[JobOrder], IndexRecord],
        may_go_on: Callable[[], bool] | None = None,
    ) -> None:
        self.id = uuid.uuid4().hex
        self.order = order
        self.failure: PlainError | None = None
        """why nothing at all could be added"""
        self._services = services
        self._open_index = open_index
        self._context = JobContext(services)
        self._items = self._context.items
        self._stop = self._context.stop
        self._completion = Completion(self._context)
        self._admission = SourceAdmission(self._context, self._completion)
        self._archives = ArchiveAdmission(self._context, self._admission, self._completion)
        self._sites = SiteAdmission(self._context, self._admission)
        self._has_ended = threading.Event()
        name = f"ingestion into {order.index}"
        self._threads = [threading.Thread(target=self._work, name=name, daemon=True)]
        if may_go_on:
            watch = partial(self._watch, may_go_on)
            self._threads.append(threading.Thread(target=watch, name=f"{name}: whether it may", daemon=True))

    def start(self) -> None:
        try:
            for thread in reversed(self._threads):  # the watch first: without it, the job does nothing
                thread.start()
        except RuntimeError as error:  # this machine has no thread left
            self._fail(error)
            self._finish()

    # The interface for others

    @property
    def index(self) -> str:
        """The name that its index had when the job began."""
        return self.order.index

    @property
    def items(self) -> tuple[Item, ...]:
        """The state of each document, in the order in which they came."""
        return tuple(self._items)

    @property
    def results(self) -> tuple[IngestResult, ...]:
        """The results of the documents that are done."""
        return tuple(item.result for item in self._items if item.result)

    @property
    def progress(self) -> Progress:
        return self._items.progress(self._sites.waiting)

    @property
    def is_finished(self) -> bool:
        return self._has_ended.is_set()

    @property
    def is_cancelled(self) -> bool:
        return self._stop.is_cancelled

    def cancel(self) -> None:
        """Drops the sources that are not done. Their documents become as they were before the job."""
        self._stop.cancel()
        self._sites.interrupt()

    def suspend(self) -> None:
        """Leaves the sources that are not done pending, for the next start."""
        self._stop.suspend()
        self._sites.interrupt()

    def end(self) -> None:
        """Cancels the job and waits until it changes nothing more."""
        self.cancel()
        self.wait()

    def wait(self) -> tuple[IngestResult, ...]:
        for thread in self._threads:
            if thread.ident:  # else the job ended as it could not be started
                thread.join()
        return self.results

    def as_completed(self) -> Iterator[IngestResult]:
        """Yields each result as it comes. Only one caller may read it."""
        while result := self._completion.results.get():
            yield result

    # The threads of the job

    def _work(self) -> None:
        try:
            index = self._open_index(self.order)
            with IngestionPipeline(self._context, index, self._completion, self._give_up) as pipeline:
                for task in self._tasks(index):
                    pipeline.take(task)
        except Exception as error:  # noqa: BLE001 - the edge of the thread
            self._fail(error)
        finally:
            self._finish()

    def _fail(self, error: Exception) -> None:
        self.failure = as_plain_error(error, f"Adding to {self.index} failed", self.index)

    def _finish(self) -> None:
        discard_uploads(self.order.sources)
        self._completion.results.put(None)
        self._has_ended.set()

    def _watch(self, may_go_on: Callable[[], bool]) -> None:
        while not self._has_ended.wait(CHECK_SECONDS):
            if not may_go_on():
                self.cancel()

    def _give_up(self, error: PlainError) -> None:
        self.failure = error
        self._stop.suspend()

    def _tasks(self, index: IndexRecord) -> Iterator[DocumentTask]:
        """Records all files first, so that nothing is lost if the process dies; sites take long and come last."""
        self._admission.refuse_same_names(self.order.sources)
        sources = last_of_each(self.order.sources)
        items = [self._items.add(stored_source(source.source)) for source in sources]
        archives = []
        for source, item in zip(sources, items, strict=True):
            # A suspended job still stores and records its sources: an upload exists nowhere else.
            if self._stop.is_cancelled:
                self._admission.leave_out(index, item.source)
                continue
            if isinstance(source, SiteSource):
                self._sites.note(index, source)
                continue
            if isinstance(source, FileSource):
                version = self._admission.admit_source(index, source, item)
            else:
                version = self._admission.admit_kept(source, item)
            if version and is_archive(version.name):
                archives.append(DocumentTask(version, item))
            elif version:
                yield DocumentTask(version, item)
        for archive in archives:
            yield from self._archives.tasks(index, archive)
        for source, item in zip(sources, items, strict=True):
            if isinstance(source, SiteSource):
                yield from self._sites.tasks(index, source, item)
