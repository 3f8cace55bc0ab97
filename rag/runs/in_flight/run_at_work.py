"""One run at work: it waits for its turn, is executed event by event, and ends."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from index_store.access.audit.audit import Audit
from index_store.base.errors import AccessWithdrawn, PlainError
from rag.errors import NotSaved, Unexpected
from rag.graph.context import Recorder
from rag.models.calls.admission import Admission
from rag.models.calls.budget import Allowance, Budget
from rag.runs.history.active_runs import RunEndedElsewhere
from rag.runs.history.history import History
from rag.runs.history.noted import note_asked
from rag.runs.in_flight.allowances import Allowances
from rag.runs.in_flight.execution import Execution
from rag.runs.in_flight.saving import Saving
from rag.runs.in_flight.suggestions import Suggestions
from rag.runs.in_flight.unsaved_ends import UnsavedEnds
from rag.runs.removal import Removal
from rag.runs.run.asker import Asker
from rag.runs.run.run import Run
from rag.runs.run.summary import summarize_run
from rag.settings import Settings
from rag.trace.calls import Call
from rag.trace.events import Event, RunFinished, RunStatus, Token

if TYPE_CHECKING:
    from rag.runs.replicas.exchange import RunExchange

log = logging.getLogger(__name__)

LOOK = 5.0
"""seconds between two checks whether the person who asked still has access"""


@dataclass(frozen=True)
class PendingRun:
    """A stored run that has not been started yet."""

    run: Run
    execution: Execution
    asker: Asker
    at_once: float
    """how many runs the person may have at once"""
    allowance: Allowance


@dataclass(frozen=True)
class RunServices:
    """What all runs of an engine use, beside what their executions use."""

    settings: Settings
    history: History
    admission: Admission
    unsaved_ends: UnsavedEnds
    suggestions: Suggestions
    removal: Removal
    allowances: Allowances
    audit: Audit
    loop: asyncio.AbstractEventLoop
    """executes the runs"""
    exchange: "RunExchange | None" = None
    """of runs with other apps, if several share a database"""


class RunAtWork:
    """A run as a task of the engine's event loop."""

    def __init__(self, pending: PendingRun, services: RunServices, *, suggests: bool) -> None:
        """`suggests`: follow-ups are suggested after the answer."""
        self._run = pending.run
        self._execution = pending.execution
        self._asker = pending.asker
        self._at_once = pending.at_once
        self._allowance = pending.allowance
        self._services = services
        self._suggests = suggests
        self._party = pending.asker.party(pending.run.conversation_id)
        self._budget = Budget(
            calls=services.settings.run_call_limit,
            tokens=services.settings.run_token_limit,
            allowance=pending.allowance,
            party=self._party,
        )
        fork = pending.execution.fork
        self._attempts = fork.attempts if fork else Counter[str]()
        self._reused_seconds = fork.reused_seconds if fork else 0.0
        self._begun = time.monotonic()
        self._saving = Saving()
        self._saved_tokens: int | None = None
        """the tokens in the saved usage; None: the run is not in it yet"""

    async def carry_out(self) -> None:
        """Works until the run has ended and its follow-ups are suggested."""
        try:
            await self._answer()
        except Exception as error:  # the edge of a run, as in Execution.work, also around how it is ended and saved
            log.exception("Run %s failed", self._run.id)
            if not self._run.is_finished:
                await self._end_by_fault(error)
        finally:
            await asyncio.to_thread(self._save_usage)

    async def _answer(self) -> None:
        status, error = await self._worked()
        await self._saving.end()
        last, end = await asyncio.to_thread(self._conclude, status, error)
        suggestions = self._services.suggestions
        if not (self._suggests and suggestions.are_worth_making(last)):
            self._run.append(end)
            return
        with suggestions.coming(self._run):  # before the end: its readers then know that more will come
            self._run.append(end)
            await suggestions.make(self._run, last, self._budget, self._party)

    def _conclude(self, status: RunStatus, error: PlainError | None) -> tuple[RunFinished, Event]:
        """Saves the end of the run. Returns it, and what is stored as the end, which another app may have saved."""
        self._services.removal.after_run(self._run.id)
        last = summarize_run(self._run.events, status, error, self._clock() - self._reused_seconds)
        self._save_usage()  # before the end, which may be the last that this process saves
        end = self._saved(last)
        if end is last:  # else another app has noted it
            self._note(last)
        return last, end

    async def _end_by_fault(self, error: Exception) -> None:
        """Ends the run without its events: a text in them may be what can't be saved."""
        seconds = time.time() - self._run.begun_at
        last = summarize_run((), "failed", Unexpected(kind=type(error).__name__), seconds)
        await asyncio.to_thread(self._save_usage)
        try:
            await asyncio.to_thread(self._saved, last)
            await asyncio.to_thread(self._note, last)
        except Exception:  # the same edge: the run ends at least for those who wait for it
            log.exception("The end of run %s can't be saved", self._run.id)
        self._run.append(last)

    async def _worked(self) -> tuple[RunStatus, PlainError | None]:
        """How the execution ended: by itself, or by a stop, as when the person's access is withdrawn."""
        work = asyncio.create_task(self._execute_in_turn())
        self._run.on_stop(partial(self._services.loop.call_soon_threadsafe, _cancel_once, work))
        try:
            while not (await asyncio.wait([work], timeout=LOOK))[0]:
                await self._stop_where_access_is_withdrawn()
        finally:  # after a fault of ours too: no run ends before its work
            _cancel_once(work)
            await asyncio.wait([work])
        status, error = work.result()
        if isinstance(error, AccessWithdrawn):  # a step noticed it before the check did
            return "stopped", None
        return status, error

    async def _execute_in_turn(self) -> tuple[RunStatus, PlainError | None]:
        try:
            async with self._turn():
                self._begun = time.monotonic()
                return await self._execution.work(self._recorder())
        except asyncio.CancelledError:  # while it waited
            await asyncio.to_thread(self._execution.keep_attachments)
            return "stopped", None

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Waits for a turn among the runs of all apps, then of this app: each app has its own embedded model."""
        run, party, at_once, exchange = self._run, self._party, self._at_once, self._services.exchange
        of_all = exchange.admission.turn(run.id, party, run.wait_behind, at_once) if exchange else nullcontext()
        async with of_all, self._services.admission.turn(party, run.wait_behind, at_once=at_once):
            yield

    async def _stop_where_access_is_withdrawn(self) -> None:
        try:
            await asyncio.to_thread(self._asker.who)
        except AccessWithdrawn:
            self._run.stop()
        except SQLAlchemyError as error:  # it is checked again soon
            log.warning("The app can't check whether run %s may continue: %s", self._run.id, error)

    def _recorder(self) -> Recorder:
        saving, keeps_prompts = self._saving, self._services.settings.keep_prompts
        keep_calls = partial(saving.add, self._keep_calls) if keeps_prompts else None
        return Recorder(self._emit, saving.all_saved, self._clock, self._budget, self._attempts, keep_calls=keep_calls)

    def _clock(self) -> float:
        """Seconds since the run's turn came, and those that a fork takes from its origin."""
        return self._reused_seconds + time.monotonic() - self._begun

    def _emit(self, event: Event) -> None:
        if isinstance(event, Token) and self._saving.is_idle:
            self._append(event)  # a token is not stored
        else:
            self._saving.add(self._append, event)

    def _append(self, event: Event) -> None:
        self._run.append(self._saved(event))

    def _keep_calls(self, step: str, attempt: int, calls: Sequence[Call]) -> None:
        try:
            self._services.history.calls.save(self._run.id, step, attempt, calls)
        except (NotSaved, SQLAlchemyError) as error:  # as in `_saved`
            log.warning("The prompts of run %s can't be saved: %s", self._run.id, error)

    def _saved(self, event: Event) -> Event:
        """The event; if another app has ended the run, the stored end."""
        run, exchange = self._run, self._services.exchange
        try:
            if exchange:
                exchange.save(run.id, event)
            else:
                self._services.history.save(run.id, event)
        except RunEndedElsewhere:
            log.warning("Run %s was ended by another app, or deleted", run.id)
            run.stop()
            if isinstance(event, RunFinished):
                return self._stored_end() or event
        except (NotSaved, SQLAlchemyError) as error:  # such as a full disk: people still get the answer
            log.warning("Run %s can't be saved: %s", run.id, error)
            if isinstance(event, RunFinished) and not exchange:
                self._services.unsaved_ends.add(run.id, event)
        return event

    def _stored_end(self) -> RunFinished | None:
        """None if the run was deleted."""
        try:
            events = self._services.history.events(self._run.id)
        except SQLAlchemyError as error:
            log.warning("The end of run %s can't be read: %s", self._run.id, error)
            return None
        return next((each for each in events if isinstance(each, RunFinished)), None)

    def _save_usage(self) -> None:
        """Saves what the run and its suggestions have used since it was saved last."""
        tokens, saved = self._budget.tokens_spent, self._saved_tokens
        self._saved_tokens = tokens
        if tokens != saved:
            used, runs = tokens - (saved or 0), int(saved is None)
            self._services.allowances.note(self._asker.principal, self._allowance, used, runs=runs)

    def _note(self, last: RunFinished) -> None:
        by, started = self._asker.principal, self._execution.started
        note_asked(self._services.audit, by, started, status=last.status, tokens=self._budget.tokens_spent)


def _cancel_once(work: asyncio.Task[object]) -> None:
    """A second cancel would interrupt LangGraph while it waits for the steps that the first one has cancelled."""
    if not work.cancelling():
        work.cancel()
