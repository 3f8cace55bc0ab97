"""Documents that have been read get their vectors: texts of several in one call to the model."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from queue import Queue
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row

from index_store.base import errors
from index_store.base.batches import batches
from index_store.base.calls import Calls
from index_store.base.errors import PlainError
from index_store.ingestion.saving import Saving
from index_store.ingestion.stop import Stop
from index_store.ingestion.work import Ends, Work
from index_store.ingestion.workshop import Workshop

log = logging.getLogger(__name__)

READ_AHEAD = 32
"""documents that are read and wait, on disk, to be embedded: enough short ones to fill a call, since a text takes twice
as long in a call of 4 as in one of 16"""

LOOK = 0.1
"""seconds between looks at whether the job is to end, while a model is waited for"""

PATIENCE = 3
"""seconds that a call to a model may then still take: the embedded one's batch, and any service that answers"""


class Embedding:
    """A thread of its own, which ends with the context, after what it was given."""

    def __init__(
        self,
        workshop: Workshop,
        index: Row,
        stop: Stop,
        ends: Ends,
        saving: Saving,
        give_up: Callable[[PlainError], None],
    ) -> None:
        """`give_up` is told of what must end the whole job."""
        self._shop = workshop
        self._index = index
        self._stop = stop
        self._ends = ends
        self._saving = saving
        self._give_up = give_up
        self._read: Queue[Work | None] = Queue(READ_AHEAD)
        self._dimension = 0
        """of the vectors that came"""
        self._calls = Calls[NDArray[np.float32]](f"embedding calls for {index.name}")
        self._thread = threading.Thread(target=self._work, name=f"embedding for {index.name}")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._read.put(None)
        self._thread.join()
        self._calls.close()

    def take(self, work: Work) -> None:
        """One that has been read; waits while enough others do."""
        self._read.put(work)

    def _work(self) -> None:
        try:
            self._embed_groups()
        except Exception as error:  # the edge of the thread: whoever reads would wait for it for ever
            log.exception("Embedding for %s failed", self._index.name)
            self._give_up(errors.IndexStoreError(what=type(error).__name__))
            for work in iter(self._read.get, None):
                self._ends.leave(work)
                if work.split:
                    work.split.close()

    def _embed_groups(self) -> None:
        for group in self._groups():
            try:
                self._try_group(group)
            except Exception as error:  # the edge of the group: others may go well
                log.exception("Documents can't be embedded")
                for work in group:
                    if not work.is_saving:
                        self._ends.fail(work, errors.IndexStoreError(what=type(error).__name__))
            for work in group:
                if work.split and not work.is_saving:
                    work.split.close()

    def _try_group(self, group: list[Work]) -> None:
        try:
            self._embed_group(group)
        except PlainError as error:
            left = [work for work in group if not (work.is_settled or work.is_saving)]
            if isinstance(error, errors.RequestRefused) and len(left) > 1:
                # One text may be what the service refuses: it is to cost its own document alone.
                for work in left:
                    work.rows = []
                    self._try_group([work])
            else:
                for work in left:
                    self._ends.fail(work, error)

    def _groups(self) -> Iterator[list[Work]]:
        """What has been read by now, up to what one call takes: a text too many would be a call of its own."""
        most = self._shop.embeddings.batch
        group: list[Work] = []
        count = 0
        while (work := self._read.get()) is not None:
            chunks = work.item.chunks or 0
            if group and count + chunks > most:
                yield group
                group, count = [], 0
            group.append(work)
            count += chunks
            if count >= most or self._read.empty():
                yield group
                group, count = [], 0
        if group:
            yield group

    def _embed_group(self, group: list[Work]) -> None:
        texts = ((work, text) for work in group for text in work.texts())
        for some in batches(texts, self._shop.embeddings.batch):
            if self._stop.is_set:
                break
            vectors = self._vectors([text for _, text in some])
            if vectors is None:
                break
            self._check_dimension(vectors.shape[1])
            for (work, _), row in zip(some, vectors, strict=True):
                work.rows.append(row)
                work.item.embedded = len(work.rows)
            self._saving.begin([work for work in group if work.is_whole and not work.is_saving])
        for work in group:
            if self._stop.is_set and not work.is_saving:
                self._ends.leave(work)

    def _vectors(self, texts: list[str]) -> NDArray[np.float32] | None:
        """None when the job is to end before the model answers: a service that hangs may take minutes."""
        answer = self._calls.submit(lambda: self._shop.embeddings.passages(texts))
        asked_to_stop = None
        while not wait((answer,), LOOK).done:
            if self._stop.is_set:
                asked_to_stop = asked_to_stop or time.monotonic()
                if time.monotonic() - asked_to_stop > PATIENCE:
                    return None
        return answer.result()

    def _check_dimension(self, dimension: int) -> None:
        present = self._shop.library.catalogue.indexes.row(self._index.id)
        known = (present and present.dimension) or self._dimension
        if present and known and known != dimension:
            raise errors.model_mismatch(present, self._shop.embeddings.id, (known, dimension))
        self._dimension = dimension
