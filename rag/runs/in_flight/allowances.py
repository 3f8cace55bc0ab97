"""Limits per person: runs at once, and tokens per day over all their runs."""

import asyncio
import logging
import math
import threading
from dataclasses import dataclass, field
from datetime import date
from weakref import WeakValueDictionary

from sqlalchemy.exc import SQLAlchemyError

from index_store.access.limits import Limits, in_force
from index_store.access.principal import Principal
from rag.errors import NotSaved, TokensUsedUp
from rag.models.calls.budget import Allowance
from rag.runs.history.daily_usage import DailyUsage, today
from rag.settings import Settings

log = logging.getLogger(__name__)


@dataclass(eq=False)
class SharedAllowance(Allowance):
    """An allowance for a person with runs in several apps: usage is saved after each call and read before each.

    The database may take long, and the event loop serves all runs. So it is used in other threads.
    """

    usage: DailyUsage = field(kw_only=True)
    person_id: str = field(kw_only=True)
    elsewhere: int = field(default=0, init=False)
    """tokens of other runs and apps, when they were last read"""
    saved: int = field(default=0, init=False)
    """tokens out of `spent`; a reply may count them with every piece, which is too often to save them"""
    _using: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    """held while the database is used, because calls beside each other save the same tokens"""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)
    """held by the one call that has a thread for it: many beside each other would take all threads from other runs"""

    async def before_call(self) -> None:
        async with self._turn:
            await asyncio.to_thread(self.check)

    async def after_call(self) -> None:
        # Shielded, because a save that waits for its turn would not be made after a stop.
        await asyncio.shield(self._save_in_turn())

    async def _save_in_turn(self) -> None:
        async with self._turn:
            await asyncio.to_thread(self.save)

    def check(self) -> None:
        with self._using:
            self._save()  # what a call beside this one has used so far
            if self.limit < math.inf:
                try:
                    self.elsewhere = self.usage.tokens(self.person_id, self.day) - self.saved
                except SQLAlchemyError as error:  # use the number that is known here
                    log.warning("The usage in other apps can't be read: %s", error)
        if self.elsewhere + self.spent >= self.limit:
            raise TokensUsedUp(tokens=self.limit)

    def save(self) -> None:
        with self._using:
            self._save()

    def _save(self) -> None:
        spent = self.spent  # the event loop may add to it meanwhile
        if spent == self.saved:
            return
        try:
            self.usage.add(self.person_id, self.day, tokens=spent - self.saved, runs=0)
            self.saved = spent
        except (NotSaved, SQLAlchemyError) as error:  # tried again after the next call, and as the run ends
            log.warning("The usage of a run can't be saved: %s", error)


class Allowances:
    """Safe in any thread. An admin's change counts from the next run."""

    def __init__(self, settings: Settings, limits: Limits, usage: DailyUsage, *, are_shared: bool = False) -> None:
        """`are_shared`: with other apps."""
        self._are_shared = are_shared
        self._settings = settings
        self._limits = limits
        self._usage = usage
        self._looking = threading.Lock()
        self._in_use: WeakValueDictionary[tuple[str, date], Allowance] = WeakValueDictionary()
        """allowances of people with runs in flight, by person and day: their usage is saved only when the runs end"""

    def runs_per_person(self, principal: Principal) -> float:
        return in_force(self._limits.of(principal).runs_at_once, self._settings.runs_per_person)

    def tokens_a_day(self, principal: Principal) -> float:
        return in_force(self._limits.of(principal).tokens_a_day, self._settings.tokens_a_day)

    def of(self, principal: Principal) -> Allowance:
        """What a person may use today. Their run must hold it until its usage is saved. Raises TokensUsedUp."""
        limit, day = self.tokens_a_day(principal), today()
        if self._are_shared:
            shared = SharedAllowance(limit, day=day, usage=self._usage, person_id=principal.id)
            shared.check()
            return shared
        with self._looking:
            allowance = self._in_use.get((principal.id, day))
            if allowance is None:
                allowance = Allowance(day=day, spent=self._usage.tokens(principal.id, day))
                self._in_use[principal.id, day] = allowance
        allowance.limit = limit
        allowance.check()
        return allowance

    def note(self, principal: Principal, allowance: Allowance, tokens: int, *, runs: int) -> None:
        """Saves the usage of one run, or (`runs=0`) what is used after its end."""
        allowance.save()
        try:
            self._usage.add(principal.id, allowance.day, tokens=0 if self._are_shared else tokens, runs=runs)
        except (NotSaved, SQLAlchemyError) as error:
            log.warning("The usage of a run can't be saved: %s", error)
