"""Adding documents as a job: in threads of its own, so that no page waits for it and none can lose it.

    feeding                     reading                         embedding
    each source becomes    ->   a parser's process turns   ->   texts of several documents together;
    pending documents           each into sections              then each is made ready

Every document is kept and noted as pending before the first is read. What waits between reading and embedding is
bounded, so a long job takes no more memory than a short one.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from queue import Empty, Queue

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row
from sqlalchemy.exc import SQLAlchemyError

from index_store import errors
from index_store.catalogue import Draft
from index_store.errors import PlainError
from index_store.feeding import Feeder, Stop, Workshop, failed
from index_store.loaders.loaded import RawFile
from index_store.loaders.sections import Split
from index_store.progress import Course, Item, Progress, Stage
from index_store.records import Added, AddStatus
from index_store.sources import FileSource, Source

log = logging.getLogger(__name__)

READ_AHEAD = 32
"""documents that are read and wait, on disk, to be embedded: enough short ones to fill a call, since a text takes twice
as long in a call of 4 as in one of 16"""

LOOK = 0.1
"""seconds between looks at whether the job is to end, while a model is waited for"""

PATIENCE = 3
"""seconds that a call to a model may then still take: the embedded one's batch, and any service that answers"""


@dataclass
class _Work:
    """A document on its way through the job."""

    draft: Draft
    item: Item
    split: Split | None = None
    rows: list[NDArray[np.float32]] = field(default_factory=list)
    """the vectors of its chunks, as they come"""
    is_settled: bool = False
    is_saving: bool = False
    """whether it is with the thread that saves, whose word is the last"""

    def texts(self) -> Iterator[str]:
        for section in self.split or ():
            for chunk in section.chunks:
                yield chunk.embedded


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
        self._read: Queue[_Work | None] = Queue(READ_AHEAD)
        self._saver: Executor
        self._saving: list[Future[None]] = []
        """of the last group"""
        self._dimension = 0
        """of the vectors that came"""
        self._stop = Stop()
        self._feeder = Feeder(workshop, self._course, self._stop, self._settle)
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
        return self._course.progress(self._feeder.waiting)

    @property
    def is_finished(self) -> bool:
        return not self._thread.is_alive()

    @property
    def is_cancelled(self) -> bool:
        return self._stop.is_cancelled

    def cancel(self) -> None:
        """Leaves out what is not done: as if it had not been given, or as it was before."""
        self._stop.cancel()
        self._feeder.interrupt()

    def suspend(self) -> None:
        """Leaves what is not done pending, for the next start."""
        self._stop.suspend()
        self._feeder.interrupt()

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
                ThreadPoolExecutor(1) as self._saver,
                self._embedding(index),
                ThreadPoolExecutor(self._shop.settings.parser_workers) as readers,
            ):
                for draft, item in self._feeder.drafts(index, self.sources):
                    readers.submit(self._read_one, _Work(draft, item))
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

    # Reading, several at once

    def _read_one(self, work: _Work) -> None:
        if self._stop.is_set:
            self._leave(work)
            return
        work.item.stage = Stage.READING
        draft = work.draft
        path = self._shop.library.originals.path(draft.document_id, draft.revision)
        try:
            work.split = self._shop.parser.load(
                RawFile(path, draft.name, draft.charset), draft.kind, lambda: self._stop.is_set
            )
        except errors.DocumentError as error:
            self._fail(work, error)
            return
        except Exception as error:  # the edge of the thread, whose result nobody asks for
            log.exception("%s can't be read", draft.source)
            self._fail(work, errors.IndexStoreError(what=type(error).__name__))
            return
        work.item.chunks = work.split.chunk_count
        work.item.stage = Stage.EMBEDDING
        self._read.put(work)

    # Embedding, texts of several documents together

    @contextmanager
    def _embedding(self, index: Row) -> Iterator[None]:
        thread = threading.Thread(target=self._embed, args=(index,), name=f"embedding for {self.index}")
        thread.start()
        try:
            yield
        finally:
            self._read.put(None)
            thread.join()

    def _embed(self, index: Row) -> None:
        try:
            self._embed_groups(index)
        except Exception as error:  # the edge of the thread: whoever reads would wait for it for ever
            log.exception("Embedding for %s failed", self.index)
            self.failure = errors.IndexStoreError(what=type(error).__name__)
            self._stop.suspend()
            for work in iter(self._read.get, None):
                self._leave(work)
                if work.split:
                    work.split.close()

    def _embed_groups(self, index: Row) -> None:
        for group in self._groups():
            try:
                self._try_group(index, group)
            except Exception as error:  # the edge of the group: others may go well
                log.exception("Documents can't be embedded")
                for work in group:
                    if not work.is_saving:
                        self._fail(work, errors.IndexStoreError(what=type(error).__name__))
            for work in group:
                if work.split and not work.is_saving:
                    work.split.close()

    def _try_group(self, index: Row, group: list[_Work]) -> None:
        try:
            self._embed_group(index, group)
        except PlainError as error:
            left = [work for work in group if not (work.is_settled or work.is_saving)]
            if isinstance(error, errors.RequestRefused) and len(left) > 1:
                # One text may be what the service refuses: it is to cost its own document alone.
                for work in left:
                    work.rows = []
                    self._try_group(index, [work])
            else:
                for work in left:
                    self._fail(work, error)

    def _groups(self) -> Iterator[list[_Work]]:
        """What has been read by now, up to enough for one call."""
        while (work := self._read.get()) is not None:
            group = [work]
            while sum(each.item.chunks or 0 for each in group) < self._shop.embeddings.batch:
                try:
                    work = self._read.get_nowait()
                except Empty:
                    break
                if work is None:
                    yield group
                    return
                group.append(work)
            yield group

    def _embed_group(self, index: Row, group: list[_Work]) -> None:
        texts = ((work, text) for work in group for text in work.texts())
        for some in _batches(texts, self._shop.embeddings.batch):
            if self._stop.is_set:
                break
            vectors = self._vectors([text for _, text in some])
            if vectors is None:
                break
            self._check_dimension(index, vectors.shape[1])
            wait(self._saving)  # of what came before, so that no more than this waits in memory
            self._saving = []
            for (work, _), row in zip(some, vectors, strict=True):
                work.rows.append(row)
                work.item.embedded = len(work.rows)
                if work.split and len(work.rows) == work.split.chunk_count:
                    work.is_saving = True
                    self._saving.append(self._saver.submit(self._save, work, work.split))
        for work in group:
            if self._stop.is_set and not work.is_saving:
                self._leave(work)

    def _vectors(self, texts: list[str]) -> NDArray[np.float32] | None:
        """None when the job is to end before the model answers: a service that hangs may take minutes."""
        answer: Future[NDArray[np.float32]] = Future()

        def ask() -> None:
            try:
                answer.set_result(self._shop.embeddings.passages(texts))
            except BaseException as error:  # noqa: BLE001 - raised below, in the thread that waits
                answer.set_exception(error)

        threading.Thread(target=ask, name="embedding call", daemon=True).start()
        asked_to_stop = None
        while not wait((answer,), LOOK).done:
            if self._stop.is_set:
                asked_to_stop = asked_to_stop or time.monotonic()
                if time.monotonic() - asked_to_stop > PATIENCE:
                    return None
        return answer.result()

    def _check_dimension(self, index: Row, dimension: int) -> None:
        present = self._shop.library.catalogue.index_by_id(index.id)
        known = (present and present.dimension) or self._dimension
        if present and known and known != dimension:
            raise errors.model_mismatch(present, self._shop.embeddings.id, (known, dimension))
        self._dimension = dimension

    # Saving, while the next texts are embedded

    def _save(self, work: _Work, split: Split) -> None:
        try:
            self._finish(work, split)
        except Exception as error:  # the edge of the thread, whose result nobody asks for
            log.exception("%s can't be saved", work.draft.source)
            self._fail(work, errors.IndexStoreError(what=type(error).__name__))
        finally:
            split.close()

    def _finish(self, work: _Work, split: Split) -> None:
        try:
            self._shop.library.finish(work.draft, split, np.stack(work.rows))
        except PlainError as error:
            self._fail(work, error)
            return
        except (OSError, SQLAlchemyError) as error:
            log.warning("%s can't be saved: %s", work.draft.source, error)
            self._fail(work, errors.StoreFailed(name=work.draft.name))
            return
        work.rows = []
        added = Added(
            source=work.draft.source, status=AddStatus.READY, document_id=work.draft.document_id,
            chunks=split.chunk_count, sections=split.section_count, error=None,
        )  # fmt: skip
        work.is_settled = True
        self._settle(work.item, added)

    # Ends of a document

    def _fail(self, work: _Work, error: PlainError) -> None:
        if work.is_settled:
            return
        if self._stop.is_set:
            self._leave(work)
            return
        work.is_settled = True
        draft = work.draft
        try:
            if not self._shop.library.is_wanted(draft):
                error = errors.Superseded(name=draft.name)
            self._shop.library.fail(draft, error)
        except (OSError, SQLAlchemyError):
            log.exception("The failure of %s can't be noted", draft.source)
        if isinstance(error, errors.Superseded) and self._course.has_other(work.item):
            self._course.items.remove(work.item)
        else:
            self._settle(work.item, failed(draft.source, draft.document_id, error))

    def _leave(self, work: _Work) -> None:
        """It is not done, and will not be by this job."""
        if work.is_settled:
            return
        work.is_settled = True
        if self._stop.is_suspended:
            return
        try:
            self._shop.library.withdraw(work.draft)
        except (OSError, SQLAlchemyError):
            log.exception("%s can't be withdrawn", work.draft.source)

    def _settle(self, item: Item, added: Added) -> None:
        item.result = added
        item.stage = Stage.DONE
        self._results.put(added)


def _batches(items: Iterable, size: int) -> Iterator[list]:
    items = iter(items)
    return iter(lambda: list(islice(items, size)), [])
