"""Active runs: started, queued, executed, saved event by event, stopped, and kept in memory for a while.

Each run is a task of the engine's event loop. Stopping cancels the task, which closes the connection to the model at
once.
"""

import asyncio
import logging
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from index_store.access.audit.audit import Audit
from index_store.base.errors import AccessWithdrawn, EmptyQuestion, PlainError
from index_store.ingestion.sources import FileSource
from index_store.search.searcher import check_length
from rag.errors import NotSaved, Unexpected
from rag.graph.context import Recorder
from rag.models.admission import Admission
from rag.models.chat_model import ModelSource
from rag.models.offered import OfferedModels
from rag.models.usage import Allowance, Budget
from rag.pipelines import pipeline
from rag.pipelines.pipeline import Pipeline
from rag.runs.fork.checkpoints import Checkpoints
from rag.runs.fork.plan import Fork
from rag.runs.history.active_runs import RunEndedElsewhere
from rag.runs.history.conversations.branches import Branch
from rag.runs.history.conversations.comparison import Column
from rag.runs.history.history import History
from rag.runs.history.noted import note_asked
from rag.runs.history.schema import storable
from rag.runs.in_flight.allowances import Allowances
from rag.runs.in_flight.execution import Execution
from rag.runs.in_flight.suggestions import Suggestions
from rag.runs.removal import Removal
from rag.runs.run.asker import Asker
from rag.runs.run.options import check_retrieval
from rag.runs.run.run import Run
from rag.runs.run.summary import summarize_run
from rag.settings import Settings
from rag.trace.calls import Call
from rag.trace.details import Turn
from rag.trace.events import Event, Origin, RunFinished, RunStarted, RunStatus
from rag.web import WebSearch

if TYPE_CHECKING:
    from rag.runs.replicas.replicas import Replicas

log = logging.getLogger(__name__)

KEPT_RUNS = 50
"""finished runs that stay in memory with their tokens, for pages that still read them. When a document is removed, all
of them are dropped, and only the history has them"""


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


class RunsInFlight:
    """Safe in any thread except the event loop's."""

    def __init__(
        self,
        settings: Settings,
        history: History,
        *,
        models: OfferedModels,
        web: WebSearch | None,
        checkpoints: Checkpoints | None,
        admission: Admission,
        suggestions: Suggestions,
        removal: Removal,
        allowances: Allowances,
        audit: Audit,
        answering: Callable[[], AbstractContextManager[None]],
        searching: Executor,
        loop: asyncio.AbstractEventLoop,
        replicas: "Replicas | None" = None,
    ) -> None:
        """`answering`: held while the embedded model is at work; `searching`: the threads that search; `loop`: executes
        the runs; `replicas`: this app among others that have runs.
        """
        self._settings = settings
        self._history = history
        self._models = models
        self._web = web
        self._checkpoints = checkpoints
        self._admission = admission
        self._suggestions = suggestions
        self._removal = removal
        self._allowances = allowances
        self._audit = audit
        self._answering = answering
        self._searching = searching
        self._loop = loop
        self._replicas = replicas
        self._runs: dict[str, Run] = {}

    @property
    def count(self) -> int:
        """The number of runs that are at work or wait for their turn here, or that are watched here."""
        here = sum(not run.is_finished for run in tuple(self._runs.values()))
        return here + (self._replicas.count if self._replicas else 0)

    def get(self, run_id: str) -> Run | None:
        """A run that was begun here and is still remembered, or that another app works on."""
        return self.here(run_id) or (self._replicas.run(run_id) if self._replicas else None)

    def here(self, run_id: str) -> Run | None:
        """The same, but only runs of this app."""
        return self._runs.get(run_id)

    def of(self, conversation_id: str) -> list[Run]:
        """The runs in flight: first those of other apps, then those of this app, each the earliest first."""
        return [*(self._replicas.of(conversation_id) if self._replicas else ()), *self._here_of(conversation_id)]

    def _here_of(self, conversation_id: str) -> list[Run]:
        runs = tuple(self._runs.values())  # copied, because other threads may change it
        return [run for run in runs if run.conversation_id == conversation_id and not run.is_finished]

    def stop(self, conversation_id: str | None = None) -> None:
        """Stops the runs of a conversation, or all runs of this app, and waits until they end."""
        runs = tuple(self._runs.values()) if conversation_id is None else self._here_of(conversation_id)
        for run in runs:
            run.stop()
        if self._replicas and conversation_id is not None:
            self._replicas.stop(conversation_id)
        for run in runs:
            run.result()

    def allowance(self, asker: Asker) -> Allowance:
        """What the person may use today. Raises TokensUsedUp."""
        return self._allowances.of(asker.principal)

    def check(self, question: str, column: Column) -> None:
        """Raises the errors of `begin`, except AccessWithdrawn, NotSaved and TokensUsedUp. `question`: stripped."""
        if not question:
            raise EmptyQuestion()
        check_length(question)
        pipeline(column.pipeline)
        if column.retrieval:
            check_retrieval(column.retrieval)
        self._models.source(column.model)

    def begin(
        self,
        question: str,
        index: str,
        column: Column,
        conversation_id: str | None,
        attachments: Sequence[FileSource] = (),
        *,
        asker: Asker,
        through: str | None = None,
        edits: str | None = None,
        origin: Origin | None = None,
        within: Connection | None = None,
    ) -> PendingRun:
        """Makes and stores a run. A run of a comparison (see `origin`) follows no other run; else as in `Engine.ask`.

        `within`: the transaction in which its conversation was made. Raises UnknownPipeline, UnknownMode, UnknownUnit,
        BadHitCount, EmptyQuestion, QuestionTooLong, ModelNotOffered, AccessWithdrawn, TokensUsedUp, NotSaved.
        """
        question, index = storable(question).strip(), storable(index)
        self.check(question, column)
        allowance = self.allowance(asker)
        flow, models = pipeline(column.pipeline), self._models.source(column.model)
        index_id = asker.index_id(index)
        if not within and conversation_id and not self._history.conversations.exists(conversation_id):
            conversation_id = None
        branch, turns = Branch(), tuple[Turn, ...]()
        if conversation_id and not origin:
            branch, turns = self._what_it_follows(conversation_id, question, through, edits)
        started = RunStarted(
            run_id=uuid.uuid4().hex,
            conversation_id=conversation_id or "",
            question=question,
            index=index,
            index_id=index_id,
            pipeline=flow.name,
            model=models.name,
            retrieval=column.retrieval,
            style=column.style or self._settings.style,
            origin=origin,
            follows=branch.end or "",
            at=time.time(),
        )
        try:
            with nullcontext(within) if within else self._history.together() as connection:
                started = self._save(started, asker, connection)
        except IntegrityError:
            if within or not conversation_id:
                raise
            # The conversation was deleted after it was looked for.
            return self.begin(question, index, column, None, attachments, asker=asker)
        run = Run(started)
        return self.add(run, started, flow, models, asker, allowance, turns=turns, attachments=tuple(attachments))

    def _what_it_follows(
        self, conversation_id: str, question: str, through: str | None, edits: str | None
    ) -> tuple[Branch, tuple[Turn, ...]]:
        """The branch that the run continues, and the branch's latest turns."""
        branch = self._history.branch(conversation_id, through=edits or through)
        if edits in branch.runs:
            branch = branch.before(edits)
        return branch, self._history.turns(conversation_id, before=question, branch=branch)

    def _save(self, started: RunStarted, asker: Asker, within: Connection) -> RunStarted:
        """Stores the start of a run in its conversation, or in a new one, and returns it with this conversation."""
        conversations = self._history.conversations
        if not started.conversation_id:
            made = conversations.new(started.question, principal=asker.principal, within=within)
            started = started.model_copy(update={"conversation_id": made.id})
        elif not started.origin:
            conversations.list_in_chat(started.conversation_id, within=within)
        self._history.save(started.run_id, started, within=within)
        return started

    def add(
        self,
        run: Run,
        started: RunStarted,
        flow: Pipeline,
        models: ModelSource,
        asker: Asker,
        allowance: Allowance,
        *,
        turns: Sequence[Turn] = (),
        attachments: Sequence[FileSource] = (),
        fork: Fork | None = None,
    ) -> PendingRun:
        """Adds a stored run."""
        self._runs[run.id] = run
        if self._replicas:
            self._replicas.feed.add(run)
        execution = Execution(
            started=started,
            pipeline=flow,
            turns=turns,
            attachments=attachments,
            store=asker.store,
            models=models,
            settings=self._settings,
            web=self._web,
            search_threads=self._searching,
            answering=self._answering if models.runs_at_once else nullcontext,
            checkpoints=self._checkpoints,
            fork=fork,
        )
        return PendingRun(run, execution, asker, self._allowances.runs_at_once(asker.principal), allowance)

    def forget(self, run: Run) -> None:
        """Forgets a run that will not be started."""
        self._runs.pop(run.id)
        if self._replicas:
            self._replicas.feed.forget(run.id)

    def forget_finished(self, *, but: int = 0) -> None:
        """`but`: how many of the latest ones to keep."""
        finished = [run.id for run in tuple(self._runs.values()) if run.is_finished]
        for run_id in finished[: max(0, len(finished) - but)]:
            self._runs.pop(run_id, None)

    def start(self, pending: PendingRun, *, suggests: bool = False) -> None:
        """Queues the run for work. `suggests`: follow-ups are suggested after the answer."""
        self.forget_finished(but=KEPT_RUNS)
        if self._replicas:
            self._replicas.wake()
        asyncio.run_coroutine_threadsafe(self._carry_out(pending, suggests), self._loop)

    async def _carry_out(self, pending: PendingRun, suggests: bool) -> None:
        run = pending.run
        budget = Budget(
            calls=self._settings.run_call_limit,
            tokens=self._settings.run_token_limit,
            allowance=pending.allowance,
            party=pending.asker.party(run.conversation_id),
        )
        try:
            await self._answer(pending, budget, suggests)
        except Exception as error:  # the edge of a run, as in Execution.work, also around how it is ended and saved
            log.exception("Run %s failed", run.id)
            if not run.is_finished:
                await self._end_by_fault(pending, budget, error)
        finally:
            self._allowances.note(pending.asker.principal, pending.allowance, budget.tokens_spent)

    async def _end_by_fault(self, pending: PendingRun, budget: Budget, error: Exception) -> None:
        """Ends the run without its events: a text in them may be what can't be saved."""
        run = pending.run
        last = summarize_run((), "failed", Unexpected(kind=type(error).__name__), time.time() - run.begun_at)
        try:
            self._saved(run, last)
            await asyncio.to_thread(self._note, pending, last, budget)
        except Exception:  # the same edge: the run ends at least for those who wait for it
            log.exception("The end of run %s can't be saved", run.id)
        run.append(last)

    async def _answer(self, pending: PendingRun, budget: Budget, suggests: bool) -> None:
        """Works until the run has ended and its follow-ups are suggested."""
        run, execution, party = pending.run, pending.execution, pending.asker.party(pending.run.conversation_id)
        begun = time.monotonic()
        fork = execution.fork
        reused = fork.reused_seconds if fork else 0.0

        def clock() -> float:
            return reused + time.monotonic() - begun

        def emit(event: Event) -> None:
            run.append(self._saved(run, event))

        def keep_calls(step: str, attempt: int, calls: Sequence[Call]) -> None:
            try:
                self._history.calls.save(run.id, step, attempt, calls)
            except (NotSaved, SQLAlchemyError) as error:  # as in `_saved`
                log.warning("The prompts of run %s can't be saved: %s", run.id, error)

        async def take_turn() -> tuple[RunStatus, PlainError | None]:
            nonlocal begun
            try:
                async with self._turn(run, party, pending.at_once):
                    begun = time.monotonic()
                    kept = keep_calls if self._settings.keep_prompts else None
                    attempts = fork.attempts if fork else Counter[str]()
                    recorder = Recorder(emit, clock, budget, attempts, keep_calls=kept)
                    return await execution.work(recorder)
            except asyncio.CancelledError:  # while it waited
                execution.keep_attachments()
                return "stopped", None

        work = asyncio.create_task(take_turn())

        def cancel() -> None:
            # Not twice: the second time would interrupt LangGraph while it waits for the steps that it has cancelled.
            if not work.cancelling():
                work.cancel()

        run.on_stop(partial(self._loop.call_soon_threadsafe, cancel))
        try:
            while not (await asyncio.wait([work], timeout=LOOK))[0]:
                await self._stop_where_access_is_withdrawn(pending)
        finally:  # after a fault of ours too: no run ends before its work
            cancel()
            await asyncio.wait([work])
        status, error = work.result()
        if isinstance(error, AccessWithdrawn):  # a step noticed it before the check did
            status, error = "stopped", None
        await asyncio.to_thread(self._removal.after_run, run.id)
        last = await asyncio.to_thread(summarize_run, run.events, status, error, clock() - reused)
        end = self._saved(run, last)
        if end is last:  # else another app has ended the run, and noted it
            await asyncio.to_thread(self._note, pending, last, budget)
        if not (suggests and self._suggestions.are_worth_making(last)):
            run.append(end)
            return
        with self._suggestions.coming(run):  # before the end: its readers then know that more will come
            run.append(end)
            await self._suggestions.make(run, last, budget, party)

    @asynccontextmanager
    async def _turn(self, run: Run, party: str, at_once: float) -> AsyncIterator[None]:
        """Waits for a turn among the runs of all apps, then of this app: each app has its own embedded model."""
        of_all = (
            self._replicas.admission.turn(run.id, party, run.wait_behind, at_once) if self._replicas else nullcontext()
        )
        async with of_all, self._admission.turn(party, run.wait_behind, at_once=at_once):
            yield

    def _saved(self, run: Run, event: Event) -> Event:
        """The event; if another app has ended the run, the stored end."""
        try:
            if self._replicas:
                self._replicas.save(run.id, event)
            else:
                self._history.save(run.id, event)
        except RunEndedElsewhere:
            log.warning("Run %s was ended by another app, or deleted", run.id)
            run.stop()
            if isinstance(event, RunFinished):
                return self._stored_end(run) or event
        except (NotSaved, SQLAlchemyError) as error:  # such as a full disk: people still get the answer
            log.warning("Run %s can't be saved: %s", run.id, error)
        return event

    def _stored_end(self, run: Run) -> RunFinished | None:
        """None if the run was deleted."""
        try:
            return next((each for each in self._history.events(run.id) if isinstance(each, RunFinished)), None)
        except SQLAlchemyError as error:
            log.warning("The end of run %s can't be read: %s", run.id, error)
            return None

    def _note(self, pending: PendingRun, last: RunFinished, budget: Budget) -> None:
        by, started = pending.asker.principal, pending.execution.started
        note_asked(self._audit, by, started, status=last.status, tokens=budget.tokens_spent)

    async def _stop_where_access_is_withdrawn(self, pending: PendingRun) -> None:
        try:
            await asyncio.to_thread(pending.asker.who)
        except AccessWithdrawn:
            pending.run.stop()
        except SQLAlchemyError as error:  # it is checked again soon
            log.warning("The app can't check whether run %s may continue: %s", pending.run.id, error)
