"""Runs in flight: made, stored, started, stopped, and kept in memory for a while.

Each run is a task of the engine's event loop. Stopping cancels the task, which closes the connection to the model at
once.
"""

import asyncio
import time
import uuid
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from index_store.base.database.database import storable
from index_store.base.errors import EmptyQuestion
from index_store.ingestion.sources import FileSource
from index_store.search.searcher import check_length
from rag.models.calls.budget import Allowance
from rag.models.chat_model import ModelSource
from rag.models.offered import OfferedModels
from rag.pipelines import pipeline
from rag.runs.fork.plan import Fork
from rag.runs.history.conversations.branches import Branch
from rag.runs.in_flight.execution import Execution, ExecutionServices
from rag.runs.in_flight.new_run import NewRun
from rag.runs.in_flight.run_at_work import PendingRun, RunAtWork, RunServices
from rag.runs.run.asker import Asker
from rag.runs.run.options import RunOptions, check_retrieval
from rag.runs.run.run import Run
from rag.trace.details import Turn
from rag.trace.events import RunStarted

KEPT_RUNS = 50
"""finished runs that stay in memory with their tokens, for pages that still read them. When a document is removed, all
of them are dropped, and only the history has them"""


class RunsInFlight:
    """Safe in any thread except the event loop's."""

    def __init__(self, models: OfferedModels, services: RunServices, of_executions: ExecutionServices) -> None:
        self._models = models
        self._services = services
        self._of_executions = of_executions
        self._settings = services.settings
        self._history = services.history
        self._allowances = services.allowances
        self._exchange = services.exchange
        self._runs: dict[str, Run] = {}

    @property
    def count(self) -> int:
        """The number of runs that are at work or wait for their turn here, or that are watched here."""
        here = sum(not run.is_finished for run in tuple(self._runs.values()))
        return here + (self._exchange.count if self._exchange else 0)

    def get(self, run_id: str) -> Run | None:
        """A run that was begun here and is still remembered, or that another app works on."""
        return self.here(run_id) or (self._exchange.run(run_id) if self._exchange else None)

    def here(self, run_id: str) -> Run | None:
        """The same, but only runs of this app."""
        return self._runs.get(run_id)

    def of(self, conversation_id: str) -> list[Run]:
        """The runs in flight: first those of other apps, then those of this app, each the earliest first."""
        return [*(self._exchange.of(conversation_id) if self._exchange else ()), *self._here_of(conversation_id)]

    def _here_of(self, conversation_id: str) -> list[Run]:
        runs = tuple(self._runs.values())  # copied, because other threads may change it
        return [run for run in runs if run.conversation_id == conversation_id and not run.is_finished]

    def stop(self, conversation_id: str | None = None) -> None:
        """Stops the runs of a conversation, or all runs of this app, and waits until they end."""
        runs = tuple(self._runs.values()) if conversation_id is None else self._here_of(conversation_id)
        for run in runs:
            run.stop()
        if self._exchange and conversation_id is not None:
            self._exchange.stop(conversation_id)
        for run in runs:
            run.result()
        self._services.unsaved_ends.save()

    def allowance(self, asker: Asker) -> Allowance:
        """What the person may use today. Raises TokensUsedUp."""
        return self._allowances.of(asker.principal)

    def at_once(self, asker: Asker) -> float:
        """How many runs the person may have at once."""
        return self._allowances.runs_per_person(asker.principal)

    def check(self, question: str, options: RunOptions) -> None:
        """Raises the errors of `begin`, except AccessWithdrawn, NotSaved and TokensUsedUp. `question`: stripped."""
        if not question:
            raise EmptyQuestion()
        check_length(question)
        pipeline(options.pipeline)
        if options.retrieval:
            check_retrieval(options.retrieval)
        self._models.source(options.model)

    def begin(self, new: NewRun, *, within: Connection | None = None) -> PendingRun:
        """Makes and stores a run.

        `within`: the transaction in which its conversation was made. Raises UnknownPipeline, UnknownMode, UnknownUnit,
        BadHitCount, EmptyQuestion, QuestionTooLong, ModelNotOffered, AccessWithdrawn, TokensUsedUp, NotSaved.
        """
        if not within:  # it has the lock that saves need; what this question follows may be among these ends
            self._services.unsaved_ends.save()
        question, index = storable(new.question).strip(), storable(new.index)
        self.check(question, new.options)
        allowance, at_once = self.allowance(new.asker), self.at_once(new.asker)
        source = self._models.source(new.options.model)
        index_id = new.asker.index_id(index)
        conversation_id = new.conversation_id
        if not within and conversation_id and not self._history.conversations.exists(conversation_id):
            conversation_id = None
        branch, turns = Branch(), tuple[Turn, ...]()
        if conversation_id and not new.origin:
            branch, turns = self._what_it_follows(conversation_id, question, new)
        started = RunStarted(
            run_id=uuid.uuid4().hex,
            conversation_id=conversation_id or "",
            question=question,
            index=index,
            index_id=index_id,
            pipeline=new.options.pipeline,
            model=source.name,
            retrieval=new.options.retrieval,
            style=new.options.style or self._settings.style,
            origin=new.origin,
            follows=branch.end or "",
            at=time.time(),
        )
        try:
            with nullcontext(within) if within else self._history.together() as connection:
                started = self._save(started, new.asker, connection)
        except IntegrityError:
            if within or not conversation_id:
                raise
            # The conversation was deleted after it was looked for.
            return self.begin(replace(new, conversation_id=None))
        return self.pending(
            started, source, new.asker, at_once, allowance, turns=turns, attachments=tuple(new.attachments)
        )

    def _what_it_follows(self, conversation_id: str, question: str, new: NewRun) -> tuple[Branch, tuple[Turn, ...]]:
        """The branch that the run continues, and the turns after which its question was asked."""
        branch = self._history.branch(conversation_id, through=new.edits or new.through)
        if new.edits in branch.runs:
            branch = branch.before(new.edits)
        said = branch
        if new.again in branch.runs:
            if given := self._history.turns_given(new.again):
                return branch, given
            said = branch.before(new.again)
        return branch, self._history.turns(conversation_id, before=question, branch=said)

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

    def pending(
        self,
        started: RunStarted,
        source: ModelSource,
        asker: Asker,
        at_once: float,
        allowance: Allowance,
        *,
        turns: Sequence[Turn] = (),
        attachments: Sequence[FileSource] = (),
        fork: Fork | None = None,
    ) -> PendingRun:
        """A stored run, which nobody knows before it is started."""
        execution = Execution(
            started=started,
            pipeline=pipeline(started.pipeline),
            turns=turns,
            attachments=attachments,
            store=asker.store,
            source=source,
            services=self._of_executions,
            fork=fork,
        )
        run = Run(started, fork.events if fork else ())
        return PendingRun(run, execution, asker, at_once, allowance)

    def forget_finished(self, *, but: int = 0) -> None:
        """`but`: how many of the latest ones to keep."""
        self._services.unsaved_ends.save()
        finished = [run.id for run in tuple(self._runs.values()) if run.is_finished]
        for run_id in finished[: max(0, len(finished) - but)]:
            self._runs.pop(run_id, None)

    def start(self, pending: PendingRun, *, suggests: bool = False) -> None:
        """Queues the run for work. `suggests`: follow-ups are suggested after the answer."""
        self.forget_finished(but=KEPT_RUNS)
        self._runs[pending.run.id] = pending.run
        if self._exchange:
            self._exchange.feed.add(pending.run)
            self._exchange.wake()
        at_work = RunAtWork(pending, self._services, suggests=suggests)
        asyncio.run_coroutine_threadsafe(at_work.carry_out(), self._services.loop)
