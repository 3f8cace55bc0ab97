"""A document on its way through a job, and the ways in which that ends."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from queue import Queue

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.exc import SQLAlchemyError

from index_store.base import errors
from index_store.base.errors import PlainError
from index_store.base.records import Added
from index_store.catalogue import Draft
from index_store.ingestion.outcomes import failed, ready
from index_store.ingestion.progress import Course, Item, Stage
from index_store.ingestion.stop import Stop
from index_store.library.versions import Intake, Version
from index_store.parsing.worker.sections import Split

log = logging.getLogger(__name__)


@dataclass
class Work:
    draft: Draft
    item: Item
    split: Split | None = None
    rows: list[NDArray[np.float32]] = field(default_factory=list)
    """the vectors of its chunks, as they come"""
    is_settled: bool = False
    is_saving: bool = False
    """whether it is with the thread that saves, whose word is the last"""

    @property
    def is_whole(self) -> bool:
        """Whether each of its chunks has its vector."""
        return self.split is not None and len(self.rows) == self.split.chunk_count

    def version(self) -> Version:
        if self.split is None:
            raise ValueError(f"{self.draft.source} has not been read")
        return Version(self.draft, self.split, np.stack(self.rows))

    def texts(self) -> Iterator[str]:
        for section in self.split or ():
            for chunk in section.chunks:
                yield chunk.embedded


class Ends:
    """Each document of a job comes to one end, whichever thread sees it first."""

    def __init__(self, intake: Intake, course: Course, stop: Stop, results: "Queue[Added | None]") -> None:
        self._intake = intake
        self._course = course
        self._stop = stop
        self._results = results

    def finish(self, work: Work, version: Version) -> None:
        work.is_settled = True
        self.settle(work.item, ready(version))

    def fail(self, work: Work, error: PlainError) -> None:
        if work.is_settled:
            return
        if self._stop.is_set:
            self.leave(work)
            return
        work.is_settled = True
        draft = work.draft
        try:
            if not self._intake.is_wanted(draft):
                error = errors.Superseded(name=draft.name)
            self._intake.fail(draft, error)
        except (OSError, SQLAlchemyError):
            log.exception("The failure of %s can't be noted", draft.source)
        if isinstance(error, errors.Superseded) and self._course.has_other(work.item):
            self._course.items.remove(work.item)
        else:
            self.settle(work.item, failed(draft.source, draft.document_id, error))

    def leave(self, work: Work) -> None:
        """It is not done, and will not be by this job."""
        if work.is_settled:
            return
        work.is_settled = True
        if self._stop.is_suspended:
            return
        try:
            self._intake.withdraw(work.draft)
        except (OSError, SQLAlchemyError):
            log.exception("%s can't be withdrawn", work.draft.source)

    def settle(self, item: Item, added: Added) -> None:
        item.result = added
        item.stage = Stage.DONE
        self._results.put(added)
