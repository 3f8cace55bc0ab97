"""Deletes expired data: at the start, and daily while the app runs."""

import logging
import threading
import time
from collections.abc import Callable

from sqlalchemy.exc import SQLAlchemyError

from index_store.access.audit.audit import Audit
from index_store.access.audit.entry import Action
from index_store.access.principal import LOCAL
from index_store.base.database.copies import DAMAGED, KEPT_DAYS, UPGRADED, drop_copies
from index_store.base.errors import PlainError
from rag.runs.history.daily_usage import DailyUsage
from rag.runs.history.history import History
from rag.runs.removal import DAY, Removal
from rag.settings import Settings

log = logging.getLogger(__name__)

PAUSE = DAY
"""seconds between two sweeps"""

UNTIL_TRIED_AGAIN = 60 * 60
"""seconds, after a failure"""


class Retention:
    def __init__(
        self,
        settings: Settings,
        audit: Audit,
        history: History,
        usage: DailyUsage,
        removal: Removal,
        forget_runs: Callable[[], object],
        delete_of_erased: Callable[[], object],
    ) -> None:
        """`forget_runs`: drops finished runs from memory, so that they are read from the history; `delete_of_erased`:
        deletes the data of erased people.
        """
        self._settings = settings
        self._audit = audit
        self._history = history
        self._usage = usage
        self._removal = removal
        self._forget_runs = forget_runs
        self._delete_of_erased = delete_of_erased
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="retention", daemon=True)

    def begin(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._is_closing.set()
        self._thread.join()

    def _work(self) -> None:
        pause = 0.0
        while not self._is_closing.wait(pause):
            try:
                self._sweep()
                pause = PAUSE
            except (PlainError, SQLAlchemyError, OSError) as error:  # the edge of the thread
                log.warning("Expired data can't be deleted. It is tried again in an hour: %s", error)
                pause = UNTIL_TRIED_AGAIN

    def _sweep(self) -> None:
        """Raises PlainError, SQLAlchemyError, OSError."""
        self._audit.sweep()
        self._delete_of_erased()
        days = self._settings.retention_days
        if days:
            self._drop_conversations(days)
        self._removal.sweep()
        self._usage.sweep()
        # A copy of a database contains what was deleted later.
        drop_copies(self._settings.data_dir, UPGRADED, days=min(days or KEPT_DAYS, KEPT_DAYS))
        if days:
            drop_copies(self._settings.data_dir, DAMAGED, days=days)

    def _drop_conversations(self, days: int) -> None:
        since, gone = time.time() - days * DAY, 0
        while not self._is_closing.is_set() and (some := self._history.conversations.expire(since)):
            gone += some
        if gone:
            self._forget_runs()
            self._removal.clear_log()
            self._audit.note(Action.EXPIRED, LOCAL, conversations=gone, days=days)
