"""The progress of a job: per document (`Item`) and in total (`Progress`). Results: results.py."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from index_store.ingestion.results import IngestResult

GUESSED_CHUNKS = 1 / 1000
"""chunks per byte, until the first documents have been read"""

READ = 0.1
"""reading's share of the work on a document; the rest is embedding"""

LOOKED_AT = 0.02
"""share of the work; below it, the remaining time can't be estimated"""


class Stage(StrEnum):
    WAITING = "waiting"
    READING = "reading"
    EMBEDDING = "embedding"
    DONE = "done"


@dataclass(eq=False)
class Item:
    """One document of a job, or an archive or a site that will become several."""

    source: str
    size: int = 0
    """in bytes"""
    stage: Stage = Stage.WAITING
    chunks: int | None = None
    """known once it is read"""
    embedded: int = 0
    """how many of its chunks are embedded"""
    result: IngestResult | None = None

    @property
    def share(self) -> float:
        """The share of its work that is done, 0 to 1."""
        match self.stage:
            case Stage.WAITING | Stage.READING:
                return 0.0
            case Stage.EMBEDDING:
                return READ + (1 - READ) * self.embedded / max(self.chunks or 1, 1)
            case Stage.DONE:
                return 1.0


@dataclass(frozen=True)
class Progress:
    done: int
    total: int
    share: float
    """of the work, 0 to 1"""
    seconds_left: float | None
    """None while it can't be estimated"""
    current: str | None
    """the source of the document that is being read or embedded"""


class Items:
    """The items of a job in order. Thread-safe."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self._begun = time.monotonic()

    def __iter__(self) -> Iterator[Item]:
        return iter(tuple(self._items))

    def add(self, source: str, size: int = 0) -> Item:
        item = Item(source, size)
        self._items.append(item)
        return item

    def remove(self, item: Item) -> None:
        """Removes the item, if it is in the list."""
        if item in self._items:
            self._items.remove(item)

    def has_other(self, item: Item) -> bool:
        """Whether another item has the same source."""
        return any(each.source == item.source for each in self if each is not item)

    def progress(self, waiting: int) -> Progress:
        """`waiting`: pages of a site that are known and not fetched yet."""
        return progress_of(tuple(self), waiting, time.monotonic() - self._begun)


def progress_of(items: Sequence[Item], waiting: int, elapsed: float) -> Progress:
    """`elapsed`: seconds since the job began."""
    done = sum(item.stage is Stage.DONE for item in items)
    total = len(items) + waiting
    weights = _weights(items)
    typical = sum(weights) / len(weights) if weights else 1.0
    work = sum(weights) + typical * waiting
    worked = sum(weight * item.share for weight, item in zip(weights, items, strict=True))
    # If all items failed or were unchanged, there was no work.
    share = min(worked / work, 1.0) if work else float(0 < total == done)
    seconds_left = elapsed * (1 - share) / share if share >= LOOKED_AT else None
    busy = (item for item in items if item.stage in (Stage.EMBEDDING, Stage.READING))
    return Progress(done, total, share, seconds_left, next((item.source for item in busy), None))


def _weights(items: Sequence[Item]) -> list[float]:
    """Each item's work in chunks. Before an item is read, it is estimated from its size and the other items."""
    read = [item for item in items if item.chunks and item.size]
    size = sum(item.size for item in read)
    a_byte = sum(item.chunks or 0 for item in read) / size if size else GUESSED_CHUNKS
    return [
        # An item that was unchanged or failed was no work.
        float(item.chunks or 0) if item.stage is Stage.DONE else float(item.chunks or max(1.0, item.size * a_byte))
        for item in items
    ]
