"""What comes is kept, as a draft that is pending; or it is settled at once: unchanged, refused, gone."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlalchemy import Row
from sqlalchemy.exc import SQLAlchemyError

from index_store.base import errors
from index_store.base.errors import PlainError
from index_store.base.records import Added
from index_store.catalogue import Draft
from index_store.ingestion.outcomes import failed, removed, unchanged
from index_store.ingestion.progress import Course, Item
from index_store.ingestion.workshop import Workshop
from index_store.library.versions import Arrival
from index_store.parsing.loaders import is_archive, kind_of

log = logging.getLogger(__name__)


class Reception:
    def __init__(self, workshop: Workshop, course: Course, settle: Callable[[Item, Added], None]) -> None:
        self._shop = workshop
        self._course = course
        self.settle = settle

    def begin(self, index: Row, arrival: Arrival, item: Item) -> Draft | None:
        """None when there is nothing to read."""
        try:
            kind = "zip" if is_archive(arrival.name) else kind_of(arrival.name)
        except errors.UnknownKind as error:
            return self.refuse(index, arrival, item, error)
        try:
            begun = self._shop.intake.begin(index, replace(arrival, kind=kind), self._shop.splitting)
        except (OSError, SQLAlchemyError) as error:
            log.warning("%s can't be kept: %s", arrival.source, error)
            self.settle(item, failed(arrival.source, None, errors.StoreFailed(name=arrival.name)))
            return None
        if isinstance(begun, Draft):
            return begun
        self.settle(item, unchanged(begun))
        return None

    def refuse(self, index: Row, arrival: Arrival, item: Item, error: PlainError) -> None:
        id_ = self._shop.intake.refuse(index, arrival, item.size, error)
        self.settle(item, failed(arrival.source, id_, error))

    def tell_removed(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self.settle(self._course.add(row.source), removed(row))
