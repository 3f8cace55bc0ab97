"""Embeds parsed documents, the texts of several in one call to the model."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from itertools import repeat
from queue import Queue, SimpleQueue
from typing import Any, Self, TypeVar

from index_store.base import errors
from index_store.base.batches import batches
from index_store.base.errors import PlainError
from index_store.catalogue.records import IndexRecord
from index_store.ingestion.context import JobContext
from index_store.ingestion.failures import as_plain_error
from index_store.ingestion.stages.completion import Completion, DocumentTask
from index_store.ingestion.stages.saving import Saving
from index_store.ingestion.stages.version_before import VersionBefore
from index_store.parsing.chunking.chunker import ParsedChunk
from index_store.vectors.apart import apart
from index_store.vectors.embeddings import Vectors

T = TypeVar("T")

READ_AHEAD = 32
"""parsed documents that wait, on disk, to be embedded: enough short ones to fill a call, since a text takes twice as
long in a call of 4 as in one of 16"""

CHECK_SECONDS = 0.1
"""seconds between checks whether the job must stop, while it waits for a model"""

PATIENCE = 3
"""seconds that a model call may then still take: enough for the embedded model, and for a service that works"""


GIVE_WAY_SECONDS = 2.0
"""seconds that a call waits at most for questions that are answered on this machine; a call takes about one"""


class Embedding:
    """Embeds in its own thread, which ends with the context, after the tasks that it was given."""

    def __init__(
        self,
        context: JobContext,
        index: IndexRecord,
        completion: Completion,
        saving: Saving,
        give_up: Callable[[PlainError], None],
    ) -> None:
        """`give_up`: called with an error that must end the whole job."""
        self._library = context.services.library
        self._model = context.services.embeddings
        self._precedence = context.services.precedence
        self._stop = context.stop
        self._index = index
        self._completion = completion
        self._saving = saving
        self._give_up = give_up
        self._read: Queue[DocumentTask | None] = Queue(READ_AHEAD)
        self._loading: Future[None] | None = None
        self._dimension = 0
        """of the vectors that came"""
        self._calls = _Calls(f"embedding calls for {index.name}")
        self._thread = threading.Thread(target=self._work, name=f"embedding for {index.name}")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._read.put(None)
        self._thread.join()
        if self._loading:
            wait([self._loading])  # if no file could be read, the process may end now, but not inside native code
        self._calls.close()

    def expect(self) -> None:
        """Loads the model while the first document is read. If this fails, the first text reports the error."""
        if not self._loading:
            self._loading = self._calls.submit(self._model.load)

    def take(self, task: DocumentTask) -> None:
        """Adds a parsed document; waits while READ_AHEAD others wait."""
        self._read.put(task)

    def _work(self) -> None:
        try:
            self._embed_groups()
        except Exception as error:  # noqa: BLE001 - the edge of the thread
            told = as_plain_error(error, f"Embedding for {self._index.name} failed", self._index.name)
            self._give_up(told)
            for task in iter(self._read.get, None):
                self._completion.fail(task, told)
                task.close()

    def _embed_groups(self) -> None:
        for group in self._groups():
            try:
                self._try_group(group)
            except Exception as error:  # noqa: BLE001 - the edge of the group: other groups may go well
                for task in group:
                    if not task.is_saving:
                        what = f"{task.version.source} can't be embedded"
                        self._completion.fail(task, as_plain_error(error, what, task.version.name))
            for task in group:
                if not task.is_saving:
                    task.close()

    def _try_group(self, group: list[DocumentTask]) -> None:
        try:
            self._embed_group(group)
        except PlainError as error:
            left = [task for task in group if not (task.is_done or task.is_saving)]
            if isinstance(error, errors.RequestRefused) and len(left) > 1:
                # The service may refuse one text only: then only its own document fails.
                for task in left:
                    task.vectors = []
                    self._try_group([task])
            else:
                for task in left:
                    self._completion.fail(task, error)

    def _groups(self) -> Iterator[list[DocumentTask]]:
        """Groups of parsed documents with texts for one call: one text too many would take a call of its own."""
        most = self._model.batch
        group: list[DocumentTask] = []
        count = 0
        while (task := self._read.get()) is not None:
            chunks = task.item.chunks or 0
            if group and count + chunks > most:
                yield group
                group, count = [], 0
            group.append(task)
            count += chunks
            if count >= most or self._read.empty():
                yield group
                group, count = [], 0
        if group:
            yield group

    def _embed_group(self, group: list[DocumentTask]) -> None:
        for some in batches(self._chunks(group), self._model.batch):
            if self._stop.is_set:
                break
            new = [(task, chunk) for task, chunk, vector in some if vector is None]
            vectors = self._new_vectors(new) if new else ()
            if vectors is None:
                break
            fresh = iter(vectors)
            for task, _, vector in some:
                task.vectors.append(next(fresh) if vector is None else vector)
                task.item.embedded = len(task.vectors)
            self._saving.begin([task for task in group if task.is_embedded and not task.is_saving])
        for task in group:
            if self._stop.is_set and not task.is_saving:
                self._completion.leave(task)

    def _chunks(self, group: list[DocumentTask]) -> Iterator[tuple[DocumentTask, ParsedChunk, Vectors | None]]:
        """The chunks of a group, each with the vector that the version before has for the same text."""
        for task in group:
            before = VersionBefore(self._library, task.version)
            for some in batches(task.chunks(), self._model.batch):
                yield from zip(repeat(task), some, before.vectors(some), strict=False)

    def _new_vectors(self, chunks: list[tuple[DocumentTask, ParsedChunk]]) -> Vectors | None:
        """None if the job must stop before the model answers."""
        vectors = self._vectors([chunk.embedded for _, chunk in chunks])
        if vectors is None:
            return None
        self._check_dimension(vectors.shape[1])
        first = chunks[0][0]
        return apart(vectors, f"{first.version.document_id} {first.version.revision} {len(first.vectors)}")

    def _vectors(self, texts: list[str]) -> Vectors | None:
        """None if the job must stop before the model answers: a service that hangs may take minutes."""
        self._precedence.give_way(GIVE_WAY_SECONDS)
        answer = self._calls.submit(lambda: self._model.passages(texts))
        asked_to_stop = None
        while not wait((answer,), CHECK_SECONDS).done:
            if self._stop.is_set:
                asked_to_stop = asked_to_stop or time.monotonic()
                if time.monotonic() - asked_to_stop > PATIENCE:
                    return None
        return answer.result()

    def _check_dimension(self, dimension: int) -> None:
        present = self._library.catalogue.indexes.record(self._index.id)
        known = (present and present.dimension) or self._dimension
        if present and known and known != dimension:
            raise present.model_mismatch(self._model.id, (known, dimension))
        self._dimension = dimension


class _Calls:
    """Runs calls of the model one after another in a thread that can be left behind, because a call may hang. It is
    always the same thread, because native code keeps memory for each thread that ever called it.
    """

    def __init__(self, name: str) -> None:
        self._asked: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        # No executor: Python waits for executors when it ends, and a service that hangs may take minutes.
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def submit(self, call: Callable[[], T]) -> Future[T]:
        answer: Future[T] = Future()
        self._asked.put((call, answer))
        return answer

    def close(self) -> None:
        """Ends the thread after the submitted calls; does not wait for a call that hangs."""
        self._asked.put(None)

    def _work(self) -> None:
        while asked := self._asked.get():
            call, answer = asked
            try:
                answer.set_result(call())
            except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
                answer.set_exception(error)
