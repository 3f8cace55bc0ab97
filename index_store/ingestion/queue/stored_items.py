"""Stored items of a job that this process works on."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import astuple

from sqlalchemy.exc import SQLAlchemyError

from index_store.ingestion.progress import Item, Items, Stage
from index_store.ingestion.queue.job_table import Deliver, JobTable, LeasedItem, Work

log = logging.getLogger(__name__)

EVERY = 0.5
"""seconds between two saves of the items' state"""


class StoredItems(Items):
    """Saves changed items every EVERY seconds, and on `flush`."""

    def __init__(self, job_table: JobTable, job_id: str, deliver: Deliver) -> None:
        super().__init__()
        self.job_id = job_id
        self.waiting: Callable[[Item], int] = lambda _: 0
        """pages that are still to come of the site that an item stands for"""
        self._job_table = job_table
        self._deliver = deliver
        self._place = 0
        """number of items put into the queue so far"""
        self._known: dict[Item, tuple[int, str | None]] = {}
        """id and lease of each item"""
        self._written: dict[Item, tuple[object, ...]] = {}
        self._lock = threading.RLock()
        self._has_ended = threading.Event()
        self._writer = threading.Thread(target=self._write_on, name="progress", daemon=True)
        with suppress(RuntimeError):  # this machine has no thread left: changes are saved at the end alone
            self._writer.start()

    def __iter__(self) -> Iterator[Item]:
        with self._lock:
            return iter(list(self._known))

    def add(self, source: str, size: int = 0) -> Item:
        item = Item(source, size)
        self._keep(item, self._job_table.add(self.job_id, source, size), None)
        return item

    def adopt(self, taken: LeasedItem) -> None:
        """Adds an item that this worker has taken."""
        self._keep(taken.item, *taken.lease)

    def remove(self, item: Item) -> None:
        with self._lock:
            known = self._known.get(item)
            if known is None:
                return
            if known[1] is None:
                self._forget(item)
        self._job_table.hide(known[0])

    def has_other(self, item: Item) -> bool:
        known = self._known.get(item)
        return known is not None and self._job_table.has_other(self.job_id, item.source, known[0])

    def put(self, item: Item, work: Work) -> None:
        """Records the work for an item and delivers it to a worker."""
        with self._lock:
            id_, _ = self._known[item]
            self._forget(item)
            place, self._place = self._place, self._place + 1
        self._job_table.put(id_, item.size, work, place, self._deliver)

    def done(self, taken: LeasedItem) -> None:
        """Closes the item, which holds its result. Raises SQLAlchemyError."""
        with self._lock:
            self._forget(taken.item)
        self._job_table.close(taken.lease, taken.item)

    def let_go(self, taken: LeasedItem) -> None:
        """Writes nothing more about the item: it is done, or is given back undone."""
        with self._lock:
            self._forget(taken.item)

    def flush(self) -> None:
        """Saves changed items now. Raises SQLAlchemyError."""
        with self._lock:
            changed, written, done = [], dict[Item, tuple[object, ...]](), []
            for item, (id_, lease) in list(self._known.items()):
                waiting = self.waiting(item)
                state = (*astuple(item)[:-1], item.result, waiting)
                if state != self._written.get(item):
                    changed.append((id_, lease, item, waiting))
                    written[item] = state
                if item.stage is Stage.DONE and lease is None:
                    done.append(item)
            self._job_table.write(changed)
            self._written |= written
            for item in done:
                self._forget(item)

    def close(self) -> None:
        """Saves the last changes. Raises SQLAlchemyError."""
        self._has_ended.set()
        if self._writer.ident:
            self._writer.join()
        self.flush()

    def _keep(self, item: Item, item_id: int, lease: str | None) -> None:
        with self._lock:
            self._known[item] = item_id, lease

    def _forget(self, item: Item) -> None:
        self._known.pop(item, None)
        self._written.pop(item, None)

    def _write_on(self) -> None:
        while not self._has_ended.wait(EVERY):
            try:
                self.flush()
            except SQLAlchemyError as error:
                log.warning("The progress of a job can't be saved: %s", error)
