"""Forks: runs that continue from a changed step of another run. Reasons: docs/decisions/runs/forks.md"""

import asyncio
import time
import uuid
from collections.abc import Sequence
from contextlib import nullcontext

from sqlalchemy.exc import SQLAlchemyError

from rag.errors import NotSaved, RunNotOver
from rag.models.offered import OfferedModels
from rag.pipelines import pipeline
from rag.pipelines.pipeline import Pipeline
from rag.runs.fork.checkpoints import Checkpoints, Snapshot
from rag.runs.fork.edits import Edit
from rag.runs.fork.plan import ChangedDocuments, Fork, changed_documents, plan
from rag.runs.history.history import History, PastRun
from rag.runs.in_flight.in_flight import RunsInFlight
from rag.runs.run.asker import Asker
from rag.runs.run.run import Run
from rag.trace.events import Origin, RunStarted


class Forks:
    """Safe in any thread except the event loop's."""

    def __init__(
        self,
        history: History,
        models: OfferedModels,
        runs: RunsInFlight,
        checkpoints: Checkpoints | None,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """`checkpoints`: without them nothing can be forked; `loop`: the loop that they use."""
        self._history = history
        self._models = models
        self._runs = runs
        self._checkpoints = checkpoints
        self._loop = loop

    def begin(self, run_id: str, step: str, attempt: int, changes: Sequence[Edit], *, asker: Asker) -> Run:
        """Begins a run that continues another one from a changed step, and returns at once.

        Earlier steps do not run again. The fork has a conversation of its own, which is deleted with the origin.
        `asker`: the person who asks. Raises UnknownRun, ForkError, UnknownPipeline, UnknownIndex, UnknownMode,
        UnknownUnit, BadHitCount, NotSaved, TokensUsedUp; then nothing has begun.
        """
        allowance, at_once = self._runs.allowance(asker), self._runs.at_once(asker)
        past = self._forkable(run_id)
        index = asker.index(past.index, past.index_id)
        flow, events = pipeline(past.pipeline), self._history.events(run_id)
        origin = next(each for each in events if isinstance(each, RunStarted))
        fork = plan(
            self._snapshots(flow, run_id),
            events,
            step=step,
            attempt=attempt,
            edits=changes,
            index=index.name,
            retrieval=origin.retrieval or flow.retrieval,
            store=asker.store,
        )
        source = self._models.source(self._models.still_offered(origin.model))
        started = origin.model_copy(
            update={
                "run_id": uuid.uuid4().hex,
                "follows": "",
                "index": index.name,
                "index_id": index.id,
                "model": source.name,
                "retrieval": fork.retrieval or origin.retrieval,
                "origin": Origin(kind="fork", run_id=run_id, step=step, attempt=attempt, changes=fork.changes),
            }
        )
        started = self._save(started, fork, past, asker)
        pending = self._runs.pending(started, source, asker, at_once, allowance, fork=fork)
        self._runs.start(pending)
        return pending.run

    def _save(self, started: RunStarted, fork: Fork, past: PastRun, asker: Asker) -> RunStarted:
        """Stores a fork with its checkpoints and returns its start in a conversation of its own. Raises NotSaved."""
        checkpoints = self._checkpoints
        # Before the transaction, not in it: a run in flight may hold the checkpoints' file and wait for the history.
        copied = checkpoints.copied(past.id, started.run_id, fork.upto) if checkpoints else nullcontext()
        try:
            with copied, self._history.together() as within:
                conversation = self._history.conversations.new(
                    past.question, "fork", principal=asker.principal, origin_run_id=past.id, within=within
                )
                started = started.model_copy(update={"conversation_id": conversation.id, "at": time.time()})
                for event in (started, *fork.events):
                    self._history.save(started.run_id, event, within=within)
                self._history.calls.copy(past.id, started.run_id, fork.reused, within=within)
        except SQLAlchemyError as error:
            raise NotSaved() from error
        return started

    def changed_documents(self, run_id: str, *, asker: Asker) -> ChangedDocuments:
        """The documents that a run has read and that were changed or removed since.

        `asker`: the person who looks; documents that they may no longer read count as gone.
        """
        return changed_documents(self._history.events(run_id), asker.store)

    def _forkable(self, run_id: str) -> PastRun:
        """Raises UnknownRun, RunNotOver."""
        past = self._history.stored_run(run_id)
        if past.status in ("running", "stopped"):
            raise RunNotOver()
        return past

    def _snapshots(self, flow: Pipeline, run_id: str) -> list[Snapshot]:
        if not self._checkpoints:
            return []
        return asyncio.run_coroutine_threadsafe(self._checkpoints.snapshots(flow, run_id), self._loop).result()
