"""One document in a job (`DocumentTask`), and how it ends (`Completion`)."""

import logging
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Queue

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.exc import SQLAlchemyError

from index_store.base import errors
from index_store.base.errors import PlainError
from index_store.catalogue.pending_versions import PendingVersion
from index_store.ingestion.context import JobContext
from index_store.ingestion.progress import Item, Stage
from index_store.ingestion.results import IngestResult, failed, ready
from index_store.library.versions import EmbeddedVersion
from index_store.parsing.chunking.chunker import ParsedChunk
from index_store.parsing.worker.protocol import ParsedDocument

log = logging.getLogger(__name__)


@dataclass(eq=False)
class DocumentTask:
    """A pending version that is parsed, then embedded, then saved."""

    version: PendingVersion
    item: Item
    parsed: ParsedDocument | None = None
    vectors: list[NDArray[np.float32]] = field(default_factory=list)
    """the vectors of its chunks, in the order of the chunks"""
    is_done: bool = False
    """whether it has ended; nothing more is reported of it"""
    is_saving: bool = False
    """whether the thread that saves has it; only that thread may then end it"""
    ended: Future[None] = field(default_factory=Future)
    """done when the task has ended and its result is there; raises DatabaseAway if the queue must deliver it again"""

    @property
    def is_embedded(self) -> bool:
        """Whether each of its chunks has its vector."""
        return self.parsed is not None and len(self.vectors) == self.parsed.chunk_count

    def embedded(self) -> EmbeddedVersion:
        if self.parsed is None:
            raise ValueError(f"{self.version.source} has not been read")
        return EmbeddedVersion(self.version, self.parsed, np.stack(self.vectors))

    def chunks(self) -> Iterator[ParsedChunk]:
        for section in self.parsed or ():
            yield from section.chunks

    def close(self) -> None:
        """Deletes what was parsed, which is on disk. Raises nothing: the documents behind it must still be added."""
        try:
            if self.parsed:
                self.parsed.close()
        except OSError as error:
            log.warning("The file with the text of %s can't be deleted: %s", self.version.source, error)


class Completion:
    """Ends each document of a job once, in the thread that ends it first."""

    def __init__(self, context: JobContext) -> None:
        self._items = context.items
        self._stop = context.stop
        self._is_redelivered = context.is_redelivered
        self._versions = context.services.versions
        self.results: Queue[IngestResult | None] = Queue()
        """one result per document, as they end; None after the last"""

    def complete(self, item: Item, result: IngestResult) -> None:
        item.result = result
        item.stage = Stage.DONE
        self.results.put(result)

    def succeed(self, task: DocumentTask, embedded: EmbeddedVersion) -> None:
        """Call it after the version was made ready."""
        task.is_done = True
        self.complete(task.item, ready(embedded))
        task.ended.set_result(None)

    def fail(self, task: DocumentTask, error: PlainError) -> None:
        if task.is_done:
            return
        if self._stop.is_set:
            self.leave(task)
            return
        with self._ending(task):
            self._fail(task, error)

    def _fail(self, task: DocumentTask, error: PlainError) -> None:
        version = task.version
        if isinstance(error, errors.LeaseLost):
            log.warning("%s", error)
            return
        if self._is_redelivered(error):
            raise error
        try:
            if not self._versions.is_wanted(version):
                error = errors.Superseded(name=version.name)
            self._versions.fail(version, error)
        except (OSError, SQLAlchemyError) as fault:
            if self._is_redelivered(fault):
                raise
            log.warning("The failure of %s can't be recorded: %s", version.source, fault)
        if isinstance(error, errors.Superseded) and self._items.has_other(task.item):
            self._items.remove(task.item)
        else:
            self.complete(task.item, failed(version.source, version.document_id, error))

    def leave(self, task: DocumentTask) -> None:
        """Ends the task without a result: this job will not do it."""
        if task.is_done:
            return
        with self._ending(task):
            if not self._stop.is_suspended:
                self._withdraw(task.version)

    def _withdraw(self, version: PendingVersion) -> None:
        try:
            self._versions.withdraw(version)
        except (OSError, SQLAlchemyError) as error:
            if self._is_redelivered(error):
                raise
            log.warning("%s can't be withdrawn: %s", version.source, error)

    @contextmanager
    def _ending(self, task: DocumentTask) -> Iterator[None]:
        """Ends the task with what is done within, whatever happens there."""
        task.is_done = True
        try:
            yield
        except errors.DatabaseAway as error:
            task.ended.set_exception(error)
        finally:
            if not task.ended.done():
                task.ended.set_result(None)
