"""A job that adds documents: what others see of it, and its threads from feeding to saving."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Queue

from sqlalchemy import Row
from sqlalchemy.exc import SQLAlchemyError

from index_store.base import errors
from index_store.base.errors import PlainError
from index_store.base.records import Added
from index_store.ingestion.embedding import Embedding
from index_store.ingestion.feeding import Feeder
from index_store.ingestion.progress import Course, Item, Progress, Stage
from index_store.ingestion.saving import Saving
from index_store.ingestion.sources import FileSource, Source
from index_store.ingestion.stop import Stop
from index_store.ingestion.work import Ends, Work
from index_store.ingestion.workshop import Workshop
from index_store.parsing.loaders.loaded import RawFile

log = logging.getLogger(__name__)


class Ingestion:
    """Adds `sources` to the index; one that fails stops no other.

    `open_index` gives the index, or raises the PlainError for which nothing can be added: `failure` then.
    """

    def __init__(
        self, workshop: Workshop, index: str, open_index: Callable[[], Row], sources: Sequence[Source]
    ) -> None:
        self.index = index
        self.sources = tuple(sources)
        self.failure: PlainError | None = None
        """why nothing at all could be added"""
        self._shop = workshop
        self._open_index = open_index
        self._course = Course()
        self._results: Queue[Added | None] = Queue()
        self._stop = Stop()
        self._ends = Ends(workshop.intake, self._course, self._stop, self._results)
        self._feeder = Feeder(workshop, self._course, self._stop, self._ends.settle)
        self._thread = threading.Thread(target=self._work, name=f"ingestion into {index}", daemon=True)
        self._thread.start()

    # What others see

    @property
    def items(self) -> tuple[Item, ...]:
        """What is known of each document, in the order in which they came."""
        return tuple(self._course.items)

    @property
    def results(self) -> tuple[Added, ...]:
        """Of the documents that are done."""
        return tuple(item.result for item in self.items if item.result)

    @property
    def progress(self) -> Progress:
        return self._course.progress(self._feeder.sites.waiting)

    @property
    def is_finished(self) -> bool:
        return not self._thread.is_alive()

    @property
    def is_cancelled(self) -> bool:
        return self._stop.is_cancelled

    def cancel(self) -> None:
        """Leaves out what is not done: as if it had not been given, or as it was before."""
        self._stop.cancel()
        self._feeder.sites.interrupt()

    def suspend(self) -> None:
        """Leaves what is not done pending, for the next start."""
        self._stop.suspend()
        self._feeder.sites.interrupt()

    def wait(self) -> tuple[Added, ...]:
        self._thread.join()
        return self.results

    def as_completed(self) -> Iterator[Added]:
        """Each result when it is there. For one reader."""
        while added := self._results.get():
            yield added

    def _work(self) -> None:
        try:
            index = self._open_index()
            with (
                Saving(self._shop, self._ends) as saving,
                Embedding(self._shop, index, self._stop, self._ends, saving, self._give_up) as embedding,
                ThreadPoolExecutor(self._shop.settings.parser_workers) as readers,
            ):
                for draft, item in self._feeder.drafts(index, self.sources):
                    readers.submit(self._read, Work(draft, item), embedding)
        except PlainError as error:
            self.failure = error
        except (OSError, SQLAlchemyError) as error:
            log.warning("Adding to %s failed: %s", self.index, error)
            self.failure = errors.StoreFailed(name=self.index)
        except Exception as error:  # the edge of the job: a fault of ours must end it in words, not leave it hanging
            log.exception("Adding to %s failed", self.index)
            self.failure = errors.IndexStoreError(what=type(error).__name__)
        finally:
            for source in self.sources:
                if isinstance(source, FileSource) and source.is_upload:
                    source.path.unlink(missing_ok=True)
            self._results.put(None)

    def _give_up(self, error: PlainError) -> None:
        self.failure = error
        self._stop.suspend()

    # Reading, several at once

    def _read(self, work: Work, embedding: Embedding) -> None:
        if self._stop.is_set:
            self._ends.leave(work)
            return
        work.item.stage = Stage.READING
        draft = work.draft
        path = self._shop.library.originals.path(draft.document_id, draft.revision)
        try:
            work.split = self._shop.parser.load(
                RawFile(path, draft.name, draft.charset), draft.kind, lambda: self._stop.is_set
            )
        except errors.DocumentError as error:
            self._ends.fail(work, error)
            return
        except Exception as error:  # the edge of the thread, whose result nobody asks for
            log.exception("%s can't be read", draft.source)
            self._ends.fail(work, errors.IndexStoreError(what=type(error).__name__))
            return
        work.item.chunks = work.split.chunk_count
        work.item.stage = Stage.EMBEDDING
        embedding.take(work)
