"""How much each person may use: runs at once, and tokens a day, of all their runs together."""

import logging
import threading
from datetime import date
from weakref import WeakValueDictionary

from index_store.access.limits import Limits, in_force
from index_store.access.principal import Principal
from rag.errors import NotSaved
from rag.models.usage import Allowance
from rag.runs.history.used import Used, today
from rag.settings import Settings

log = logging.getLogger(__name__)


class Allowances:
    """Safe from any thread. What an admin changes counts from the next run on."""

    def __init__(self, settings: Settings, limits: Limits, used: Used) -> None:
        self._settings = settings
        self._limits = limits
        self._used = used
        self._looking = threading.Lock()
        self._in_use: WeakValueDictionary[tuple[str, date], Allowance] = WeakValueDictionary()
        """of those who have runs in flight, by person and day: what these use is not saved before they end"""

    def runs_at_once(self, principal: Principal) -> float:
        return in_force(self._limits.of(principal).runs_at_once, self._settings.runs_per_person)

    def tokens_a_day(self, principal: Principal) -> float:
        return in_force(self._limits.of(principal).tokens_a_day, self._settings.tokens_a_day)

    def of(self, principal: Principal) -> Allowance:
        """What they may use today; to be held by their run until what it has used is saved. Raises TokensUsedUp."""
        limit, day = self.tokens_a_day(principal), today()
        with self._looking:
            allowance = self._in_use.get((principal.id, day))
            if allowance is None:
                allowance = Allowance(day=day, spent=self._used.tokens(principal.id, day))
                self._in_use[principal.id, day] = allowance
        allowance.limit = limit
        allowance.check()
        return allowance

    def note(self, principal: Principal, allowance: Allowance, tokens: int) -> None:
        """What one run of theirs has used, when it is over."""
        try:
            self._used.add(principal.id, allowance.day, tokens=tokens)
        except NotSaved:
            log.exception("What a run has used can't be saved")
