"""Redaction of removed documents: no trace, stored or in progress, quotes them any more."""

import threading
import time
from collections.abc import Callable, Collection, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, func, select

from index_store.base.database.database import backend_of
from rag.runs.history import schema
from rag.text.places import place
from rag.trace.passages import Citation
from rag.trace.redaction import naming, numbers_of, quotes, without_documents, without_prompt

if TYPE_CHECKING:
    from index_store.base.replica import Replica


TOLD_SECONDS = 7 * 24 * 60 * 60
"""seconds for which other apps are told of a removal; no run lasts that long"""


class Redaction:
    """Safe in any thread. Raises NotSaved if it can't save."""

    def __init__(self, database: Engine, replica: "Replica | None" = None) -> None:
        """`replica`: this app, if other apps save runs too."""
        self._database = database
        self._replica = replica
        self._documents: set[str] = set()
        """removed since the history was opened; runs that have read them may still be going on"""
        self._places: dict[str, str] = {}
        """the titles of their passages, by their places, which such a run may still name"""
        self._saving = threading.Lock()
        self._known = 0
        """number of the last removal known from other apps"""
        if replica:
            with database.connect() as connection:
                self._known = connection.execute(select(func.max(schema.removed.c.number))).scalar() or 0

    @contextmanager
    def saving(self, within: Connection | None = None) -> Iterator[Connection]:
        """One transaction during which no document is removed. `within`: the connection of an outer `saving`, to join
        it. Raises NotSaved.
        """
        if within is not None:
            yield within
            return
        with self._saving, schema.changing(self._database) as connection:
            self._learn(connection)
            yield connection

    def _learn(self, connection: Connection) -> None:
        """Reads what other apps have removed. They remove nothing more until the transaction ends."""
        if self._replica:
            self._replica.hold(connection, "removed", exclusive=False)
            of_others = select(schema.removed.c.number, schema.removed.c.document_id)
            for number, document_id in connection.execute(of_others.where(schema.removed.c.number > self._known)):
                self._known = max(self._known, number)
                self._documents.add(document_id)

    def _tell(self, document_ids: Collection[str]) -> None:
        """Tells other apps. Each of them reads it before it saves anything more."""
        if self._replica and document_ids:
            now = time.time()
            with schema.changing(self._database) as connection:
                self._replica.hold(connection, "removed", exclusive=True)
                connection.execute(schema.removed.delete().where(schema.removed.c.removed_at < now - TOLD_SECONDS))
                rows = [{"document_id": each, "removed_at": now} for each in document_ids]
                connection.execute(schema.removed.insert(), rows)

    def has_been_read(self, connection: Connection, run_id: str) -> bool:
        """True if the run quotes a removed document. Within `saving`."""
        return bool(self._documents) and _quotes(connection, run_id, frozenset(self._documents))

    def has_been_read_by(self, run_id: str) -> bool:
        """True if a document that the run has read was removed since the history was opened."""
        with self._saving, self._database.connect() as connection:
            self._learn(connection)
            return self.has_been_read(connection, run_id)

    def redacted(self, event: str) -> str:
        """The event, as JSON, without quotes from removed documents. Within `saving`."""
        self._places |= _places_of(event, self._documents)
        return without_documents(event, self._documents, places=self._places)

    def redact(self, document_ids: Collection[str], drop: Callable[[set[str]], bool] = lambda runs: True) -> bool:
        """Removes what all traces quote of these removed documents, also traces of runs in flight.

        The prompts, replies and suggestions of such a run are deleted whole, also a prompt that a person edited.
        `drop` is called before, with the ids of these runs: it deletes what depends on them, and returns whether that
        is gone from its files. True if the text is gone from all files; if False, call it again.
        """
        with self._saving:
            self._documents.update(document_ids)
            self._tell(document_ids)
        removed = frozenset(document_ids)
        runs = self._quoting(removed)
        is_dropped = drop(runs)
        for run_id in runs:
            with schema.changing(self._database) as connection:
                for table in (schema.calls, schema.suggestions):
                    connection.execute(table.delete().where(table.c.run_id == run_id))
                rows = connection.execute(
                    select(schema.events.c.position, schema.events.c.event).where(schema.events.c.run_id == run_id)
                ).all()
                numbers = set().union(*(numbers_of(row.event, removed) for row in rows))
                places = {named: title for row in rows for named, title in _places_of(row.event, removed).items()}
                self._places |= places
                for row in rows:
                    text = without_prompt(without_documents(row.event, removed, numbers, places))
                    if text != row.event:
                        this = (schema.events.c.run_id == run_id) & (schema.events.c.position == row.position)
                        connection.execute(schema.events.update().where(this).values(event=text))
        return backend_of(self._database).clear_log(self._database) and is_dropped

    def _quoting(self, removed: frozenset[str]) -> set[str]:
        """The runs whose traces quote one of them."""
        event = schema.events.c.event
        rows = select(schema.events.c.run_id, event).where(event.contains('"document_id":"'))
        with self._database.connect() as connection:
            return {
                row.run_id
                for row in connection.execute(rows.execution_options(yield_per=100))
                if quotes(row.event, removed)
            }


def _places_of(event: str, removed: AbstractSet[str]) -> dict[str, str]:
    """The titles of the passages of these documents, by their places."""
    named = [each for each in naming(event, removed) if "number" in each and each.get("headings")]
    return {place(Citation.model_construct(**each)): each["title"] for each in named}


def _quotes(connection: Connection, run_id: str, removed: frozenset[str]) -> bool:
    rows = select(schema.events.c.event).where(schema.events.c.run_id == run_id)
    return any(quotes(event, removed) for event in connection.execute(rows).scalars())
