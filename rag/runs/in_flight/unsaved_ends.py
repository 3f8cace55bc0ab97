"""Ends of runs that could not be saved, as on a full disk: kept here, and saved as soon as that works again.

Where apps share a database, the exchange keeps them.
"""

import logging

from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from rag.errors import NotSaved
from rag.runs.history.history import History
from rag.trace.events import RunFinished

log = logging.getLogger(__name__)


class UnsavedEnds:
    """Safe in any thread."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._ends: dict[str, RunFinished] = {}
        """by run"""

    def add(self, run_id: str, end: RunFinished) -> None:
        self._ends[run_id] = end

    def save(self) -> None:
        """Saves those for which that works now."""
        for run_id in list(self._ends):
            if (end := self._ends.pop(run_id, None)) is None:  # another thread has it
                continue
            try:
                if self._history.run(run_id):
                    self._history.save(run_id, end)
            except IntegrityError:
                log.info("Run %s was deleted before its end could be saved", run_id)
            except (NotSaved, SQLAlchemyError) as error:
                log.warning("The end of run %s still can't be saved: %s", run_id, error)
                self._ends[run_id] = end
                return
