"""Documents that have all their vectors are made ready, while the next texts are embedded."""

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Self

from sqlalchemy.exc import SQLAlchemyError

from index_store.base import errors
from index_store.base.errors import PlainError
from index_store.ingestion.work import Ends, Work
from index_store.ingestion.workshop import Workshop

log = logging.getLogger(__name__)


class Saving:
    """A thread of its own, which ends with the context."""

    def __init__(self, workshop: Workshop, ends: Ends) -> None:
        self._shop = workshop
        self._ends = ends
        self._thread = ThreadPoolExecutor(1)
        self._last: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()

    def begin(self, works: list[Work]) -> None:
        """Those that are whole; waits until the ones before are saved."""
        if not works:
            return
        if self._last:
            wait([self._last])  # so that no more than these wait in memory
        for work in works:
            work.is_saving = True
        self._last = self._thread.submit(self._save, works)

    def _save(self, works: list[Work]) -> None:
        intake = self._shop.intake
        versions = [work.version() for work in works]
        with self._failing(works), self._shop.library.held():
            intake.put_vectors(versions)
            for work, version in zip(works, versions, strict=True):
                with self._failing([work]):
                    intake.finish(version)
                    self._ends.finish(work, version)
        for work in works:
            work.rows = []
        for version in versions:
            version.split.close()

    @contextmanager
    def _failing(self, works: Sequence[Work]) -> Iterator[None]:
        """What goes wrong is told of those of `works` that have no end yet."""
        try:
            yield
        except PlainError as error:
            for work in works:
                self._ends.fail(work, error)
        except (OSError, SQLAlchemyError) as error:
            log.warning("%s can't be saved: %s", works[0].draft.source, error)
            for work in works:
                self._ends.fail(work, errors.StoreFailed(name=work.draft.name))
        except Exception as error:  # the edge of the thread, whose result nobody asks for
            log.exception("%s can't be saved", works[0].draft.source)
            for work in works:
                self._ends.fail(work, errors.IndexStoreError(what=type(error).__name__))
