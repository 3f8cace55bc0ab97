"""Answers questions: each in a run that streams its events, can be stopped, and is saved as it goes.

The runs live in a thread of the engine's own, as tasks of one event loop, so that a page that reruns, reloads or closes
loses none. Stopping cancels the task, which closes the connection to the model in the midst of a word.
"""

import asyncio
import logging
import threading
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from functools import partial
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from index_store.base.errors import EmptyQuestion, PlainError
from index_store.ingestion.sources import FileSource, discard_all_uploads, discard_uploads
from index_store.search.searcher import check_length
from index_store.store import IndexStore
from rag.errors import ModelNotOffered, NotSaved, RunNotOver, UnknownRun
from rag.graph.context import Recorder
from rag.models.admission import Admission
from rag.models.chat_model import ModelSource
from rag.models.registry import model_source
from rag.models.usage import Budget
from rag.pipelines import pipeline
from rag.pipelines.pipeline import Pipeline
from rag.runs.execution import Execution
from rag.runs.export.export import Export, gather
from rag.runs.fork.checkpoints import Checkpoints, Moment, discard
from rag.runs.fork.edits import Edit
from rag.runs.fork.plan import ChangedDocuments, Fork, changed_documents, plan
from rag.runs.history.branches import Branch
from rag.runs.history.comparison import Column, Comparison, Comparisons, check_column_count
from rag.runs.history.history import History, PastRun
from rag.runs.history.run_list import RunList
from rag.runs.history.shares import NewShare, Share, Shared, Shares
from rag.runs.options import check_retrieval
from rag.runs.run import Run
from rag.runs.suggestions import is_worth_follow_ups, suggested
from rag.runs.summary import summarize_run
from rag.settings import Settings
from rag.trace.calls import Call
from rag.trace.details import Turn
from rag.trace.events import Event, Origin, RunFinished, RunStarted, RunStatus, Style
from rag.trace.passages import Retrieval
from rag.web import WebSearch, web_search

log = logging.getLogger(__name__)

KEPT_RUNS = 50
"""finished runs that stay in memory, tokens and all, for pages that are still reading them. When a document is removed
all of them go, and the history alone tells of them."""

DAY = 24 * 60 * 60
"""seconds"""
SUGGESTING_LIMIT = 60
"""seconds: who has read an answer for a minute has asked on by themselves"""

SEARCH_THREADS = 4
"""a search works for some milliseconds, mostly in libraries that let others work beside it"""


class Engine:
    """One for the process: it owns the index store, the chat model, the history, and the runs in flight."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        store: IndexStore | None = None,
        models: ModelSource | None = None,
        web: WebSearch | None = None,
    ) -> None:
        """Raises PlainError, such as StoreInUse when another process holds the data folder."""
        self.settings = settings or Settings()
        History.refuse_newer(self.settings.data_dir)
        with ExitStack() as opened:
            self.store = opened.enter_context(closing(store or IndexStore(self.settings)))
            self.history = opened.enter_context(closing(History(self.settings.data_dir)))
            self.run_list = RunList(self.history.database)
            self.comparisons = Comparisons(self.history.database)
            self.history.close_interrupted_runs()
            discard_all_uploads(self.settings.data_dir)
            self.store.resume()
            self._models = models or model_source(self.settings)
            self._other_models = {
                name: model_source(self.settings.model_copy(update={"chat_model": name}))
                for name in self.settings.other_models
            }
            self._web = web or web_search(self.settings)
            self._opened = opened.pop_all()
            """what is closed with the engine, or at once where it can't be made"""
        self._shares = Shares(self.history)
        self._runs: dict[str, Run] = {}
        self._asking_again = threading.Lock()
        self._suggesting: dict[Run, asyncio.Task[Any]] = {}
        """runs that are over, while follow-ups are suggested"""
        self._preloader: threading.Thread | None = None
        """begun once in its life"""
        self._preloading_since: float | None = None
        self._beginning_to_preload = threading.Lock()
        self._admission = Admission(
            self._models.runs_at_once or self.settings.runs_at_once, self.settings.runs_per_person
        )
        self._searching = ThreadPoolExecutor(SEARCH_THREADS, thread_name_prefix="search")
        self._blanking = ThreadPoolExecutor(1, "blanking")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="engine", daemon=True)
        self._thread.start()
        self._checkpoints = self._open_checkpoints()
        self._swept_at = 0.0
        """seconds since 1970"""
        self._sweep_checkpoints()
        self.store.watch_removals(self._on_removal)
        self._on_removal()

    def close(self) -> None:
        """Stops what runs, and gives everything back."""
        for run in self._runs.values():
            run.stop()
        for run in self._runs.values():
            run.result()
        asyncio.run_coroutine_threadsafe(self._end_suggestions(), self._loop).result()
        for source in (self._models, *self._other_models.values()):
            asyncio.run_coroutine_threadsafe(source.close(), self._loop).result()
        if self._web:
            asyncio.run_coroutine_threadsafe(self._web.close(), self._loop).result()
        self.store.watch_removals(lambda: None)
        self._blanking.shutdown()
        if self._checkpoints:
            asyncio.run_coroutine_threadsafe(self._checkpoints.close(), self._loop).result()
        if self._preloader:
            self._preloader.join()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._searching.shutdown()
        self._opened.close()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def model_name(self) -> str:
        return self._models.name

    @property
    def model_names(self) -> tuple[str, ...]:
        """Of the chat models that there are to choose from in a comparison, the usual one first."""
        return (self.model_name, *self._other_models)

    def ask(
        self,
        question: str,
        *,
        index: str,
        pipeline_name: str,
        conversation_id: str | None = None,
        attachments: Sequence[FileSource] = (),
        retrieval: Retrieval | None = None,
        style: Style | None = None,
        person: str | None = None,
        through: str | None = None,
        edits: str | None = None,
        suggests: bool = False,
    ) -> Run:
        """Begins a run and returns at once; without a conversation it begins one. Attachments are loaded first.

        `retrieval`: another than the pipeline has; `style`: another than the settings have; `person`: who asks, so
        that others get their turns, the conversation where it is not known. It goes on with the conversation's latest
        branch; `through`: with the latest one of this run; `edits`: it takes the place of this run, in a new branch.
        `suggests`: once it is answered, follow-ups are suggested, where the settings have it so.

        Raises UnknownPipeline, UnknownMode, UnknownUnit, BadHitCount, QuestionTooLong, NotSaved, and has begun nothing
        then. All that goes wrong later ends the run, in its `run_finished`.
        """
        try:
            column = Column(pipeline=pipeline_name, retrieval=retrieval, style=style)
            if conversation_id:
                self.history.list_in_chat(conversation_id)
            run, execution = self._begin(question, index, column, conversation_id, attachments, through, edits)
        except PlainError:
            discard_uploads(attachments)
            raise
        self._drop_suggestions(run.conversation_id)
        self._send_off(run, execution, person or run.conversation_id, suggests)
        return run

    def compare(
        self, question: str, index: str, columns: Sequence[Column], *, beside: str | None = None, person: str
    ) -> Comparison:
        """Begins a run for each column, and returns at once.

        `beside`: a stored run that becomes the first column as it is. `person`: who asks, and whose turns the runs
        take. Raises EmptyQuestion, BadColumnCount, ModelNotOffered, UnknownRun, and what `ask` does; it has begun
        nothing then.
        """
        question, index = _storable(question).strip(), _storable(index)
        if not question:
            raise EmptyQuestion()
        check_column_count(len(columns) + (beside is not None))
        for column in columns:
            self._check(question, column.pipeline, column.retrieval, column.model)
        if beside:
            self._stored(beside)
        conversation_id = self.history.new_conversation(question, "comparison").id
        begun: list[tuple[Run, Execution]] = []
        try:
            for column in columns:
                begun.append(self._begin_column(question, index, column, conversation_id))
            run_ids = [*([beside] if beside else []), *(run.id for run, _ in begun)]
            comparison = self.comparisons.add(conversation_id, question, index, run_ids, person=person)
        except PlainError:
            for run, _ in begun:
                self._runs.pop(run.id)
            self.history.delete_conversation(conversation_id)
            raise
        for run, execution in begun:
            self._send_off(run, execution, person)
        return comparison

    def compare_again(self, comparison_id: str, run_id: str, *, person: str) -> Run | None:
        """A column anew, in the place of its run, which is over; None where there is another one in its place already.

        `person`: who asks. Raises what `compare` does.
        """
        with self._asking_again:
            comparison = self.comparisons.get(comparison_id, person=person)
            started = next((each for each in self.history.events(run_id) if isinstance(each, RunStarted)), None)
            if not comparison or run_id not in comparison.run_ids or not started:
                return None
            column = Column(
                pipeline=started.pipeline,
                retrieval=started.retrieval,
                style=started.style,
                model=self._offered(started.model),
            )
            run, execution = self._begin_column(comparison.question, comparison.index, column, comparison.id)
            self.comparisons.replace(comparison.id, run_id, by=run.id, person=person)
        self._send_off(run, execution, person)
        return run

    def keep_comparison(self, run_ids: Sequence[str], *, person: str) -> Comparison:
        """Of stored runs of anywhere, in the name of the first one's question. `person`: who compares.

        Raises BadColumnCount, UnknownRun, NotSaved.
        """
        check_column_count(len(run_ids))
        first, *_ = [self._stored(run_id) for run_id in run_ids]
        conversation_id = self.history.new_conversation(first.question, "comparison").id
        return self.comparisons.add(conversation_id, first.question, first.index, run_ids, person=person)

    def _stored(self, run_id: str) -> PastRun:
        run = self.history.run(run_id)
        if not run:
            raise UnknownRun()
        return run

    def events(self, run_id: str, *, person: str) -> Sequence[Event]:
        """Those so far, of a run in flight its tokens too; none where there is no such run. `person`: who reads."""
        run = self.run(run_id)
        return run.events if run else self.history.events(run_id)

    def _begin_column(self, question: str, index: str, column: Column, conversation_id: str) -> tuple[Run, Execution]:
        return self._begin(question, index, column, conversation_id, origin=Origin(kind="comparison"))

    def _check(self, question: str, pipeline_name: str, retrieval: Retrieval | None, model: str | None) -> None:
        check_length(question)
        pipeline(pipeline_name)
        if retrieval:
            check_retrieval(retrieval)
        self._source(model)

    def _source(self, model: str | None) -> ModelSource:
        if model is None or model == self.model_name:
            return self._models
        if model not in self._other_models:
            raise ModelNotOffered(name=model, known=", ".join(self.model_names))
        return self._other_models[model]

    def _offered(self, model: str) -> str | None:
        """The model of an earlier run, or the usual one where that is no longer there to choose."""
        return model if model in self._other_models else None

    def _send_off(self, run: Run, execution: Execution, person: str, suggests: bool = False) -> None:
        self._forget_finished_runs(but=KEPT_RUNS)
        asyncio.run_coroutine_threadsafe(self._carry_out(run, execution, person, suggests), self._loop)

    def _begin(
        self,
        question: str,
        index: str,
        column: Column,
        conversation_id: str | None,
        attachments: Sequence[FileSource] = (),
        through: str | None = None,
        edits: str | None = None,
        origin: Origin | None = None,
    ) -> tuple[Run, Execution]:
        """A run that is made for a comparison follows no other one."""
        question, index = _storable(question).strip(), _storable(index)
        self._check(question, column.pipeline, column.retrieval, column.model)
        flow, models = pipeline(column.pipeline), self._source(column.model)
        if conversation_id is None or not self.history.conversation_exists(conversation_id):
            conversation_id = self.history.new_conversation(question).id
        branch = Branch() if origin else self.history.branch(conversation_id, through=edits or through)
        if edits in branch.runs:
            branch = branch.before(edits)
        started = RunStarted(
            run_id=uuid.uuid4().hex,
            conversation_id=conversation_id,
            question=question,
            index=index,
            pipeline=flow.name,
            model=models.name,
            retrieval=column.retrieval,
            style=column.style or self.settings.style,
            origin=origin,
            follows=branch.end or "",
            at=time.time(),
        )
        turns = self.history.turns(conversation_id, before=question, branch=branch)
        run = Run(started)
        self.history.save(run.id, started)
        self._runs[run.id] = run
        return run, self._execution(started, flow, models, turns, tuple(attachments))

    def _execution(
        self,
        started: RunStarted,
        flow: Pipeline,
        models: ModelSource,
        turns: Sequence[Turn] = (),
        attachments: Sequence[FileSource] = (),
        fork: Fork | None = None,
    ) -> Execution:
        return Execution(
            started=started,
            pipeline=flow,
            turns=turns,
            attachments=attachments,
            store=self.store,
            models=models,
            settings=self.settings,
            web=self._web,
            search_threads=self._searching,
            checkpoints=self._checkpoints,
            fork=fork,
        )

    def fork(self, run_id: str, step: str, attempt: int, changes: Sequence[Edit], *, person: str) -> Run:
        """Begins a run that goes on from that step of another one, changed, and returns at once. What stands before the
        step is not done again. The fork is in a conversation of its own, which goes when its origin does.

        Raises UnknownRun, ForkError, UnknownPipeline, UnknownIndex, UnknownMode, UnknownUnit, BadHitCount, NotSaved;
        nothing has begun then.
        """
        past = self._forkable(run_id)
        flow, events = pipeline(past.pipeline), self.history.events(run_id)
        origin = next(each for each in events if isinstance(each, RunStarted))
        fork = plan(
            self._moments(flow, run_id),
            events,
            step,
            attempt,
            changes,
            origin.index,
            origin.retrieval or flow.retrieval,
            self.store,
        )
        models = self._source(self._offered(origin.model))
        conversation = self.history.new_conversation(past.question, "fork", origin_run_id=run_id)
        started = origin.model_copy(
            update={
                "run_id": uuid.uuid4().hex,
                "conversation_id": conversation.id,
                "follows": "",
                "model": models.name,
                "retrieval": fork.retrieval or origin.retrieval,
                "at": time.time(),
                "origin": Origin(kind="fork", run_id=run_id, step=step, attempt=attempt, changes=fork.changes),
            }
        )
        run = Run(started, fork.events)
        try:
            self._hand_on(run, fork, run_id)
        except (NotSaved, SQLAlchemyError) as error:
            with suppress(NotSaved):
                self.history.delete_conversation(conversation.id)
            raise NotSaved() from error
        self._runs[run.id] = run
        self._send_off(run, self._execution(started, flow, models, fork=fork), person)
        return run

    def changed_documents(self, run_id: str, *, person: str) -> ChangedDocuments:
        """Of those that a run has read, what became of them since."""
        return changed_documents(self.history.events(run_id), self.store)

    def _forkable(self, run_id: str) -> PastRun:
        """Raises UnknownRun, RunNotOver, UnknownIndex."""
        past = self._stored(run_id)
        if past.status in ("running", "stopped"):
            raise RunNotOver()
        self.store.sites(past.index)  # which knows the index, or says that it is gone
        return past

    def _moments(self, flow: Pipeline, run_id: str) -> list[Moment]:
        if not self._checkpoints:
            return []
        return asyncio.run_coroutine_threadsafe(self._checkpoints.moments(flow, run_id), self._loop).result()

    def _hand_on(self, run: Run, fork: Fork, origin_id: str) -> None:
        """What a fork has from its origin: events, checkpoints, and what the model was asked.

        Raises NotSaved, SQLAlchemyError.
        """
        for event in run.events:
            self.history.save(run.id, event)
        if self._checkpoints:
            self._checkpoints.copy(origin_id, run.id, fork.upto)
        self.history.copy_calls(origin_id, run.id, fork.reused)

    def run(self, run_id: str) -> Run | None:
        """A run that this process began and still remembers; `history` has the others."""
        return self._runs.get(run_id)

    def calls(self, run_id: str, step: str, attempt: int, *, person: str) -> tuple[Call, ...]:
        """What the chat model was asked in a step that is over, and replied, word for word; none where it is not kept.

        `person`: who wants to read it.
        """
        return self.history.calls(run_id, step, attempt)

    def branch(self, conversation_id: str, *, person: str, through: str | None = None) -> Branch:
        """The branch of a conversation that was asked in last; `through`: of those alone that this run is in.

        `person`: who wants to see it.
        """
        return self.history.branch(conversation_id, through=through)

    def rename_conversation(self, conversation_id: str, title: str, *, person: str) -> None:
        """`title`: on one line and cut where it is too long; a blank one changes nothing. Raises NotSaved."""
        self.history.rename_conversation(conversation_id, _storable(title))

    def explain_feedback(self, run_id: str, reason: str, *, person: str) -> None:
        """Why a run has its thumb, in a person's words. Raises NotSaved."""
        self.history.explain_feedback(run_id, _storable(reason))

    def suggestions(self, run_id: str, *, person: str) -> tuple[str, ...]:
        """Questions that the model suggests to ask next, the best first."""
        return self.history.suggestions(run_id)

    def is_suggesting(self, run_id: str, *, person: str) -> bool:
        """Whether suggestions may still come."""
        return any(run.id == run_id for run in tuple(self._suggesting))

    def preload(self, *, person: str) -> None:
        """Begins to start the chat model where that takes time, once there are documents to ask: whoever asks later
        waits the less. What goes wrong is told to who asks, when the start is tried again.
        """
        if not self.settings.preload or self._preloader or self._models.is_ready():
            return
        if not any(index.documents for index in self.store.indexes()):
            return
        with self._beginning_to_preload:
            if not self._preloader:
                self._preloading_since = time.time()
                self._preloader = threading.Thread(target=self._preload, name="preload", daemon=True)
                self._preloader.start()

    def _preload(self) -> None:
        try:
            self._models.open()
        except PlainError as error:
            log.warning("The chat model could not be started ahead: %s", error)
        finally:
            self._preloading_since = None

    @property
    def preloading_since(self) -> float | None:
        """Seconds since 1970; None while the chat model is not being started ahead."""
        return self._preloading_since

    def share(self, of: str, *, person: str) -> NewShare:
        """A link by which others may read a conversation or a run, of which `of` is the id.

        Raises NothingOfThisName, NotSaved.
        """
        return self._shares.add(of, person)

    def shares(self, of: str | None = None, *, latest: int | None = None, person: str) -> list[Share]:
        """The latest first; `of`: only those of one conversation or run. Everybody's, until people sign in."""
        return self._shares.listed(of, latest=latest)

    def count_shares(self, *, person: str) -> int:
        return self._shares.count()

    def revoke(self, share_id: str, *, person: str) -> None:
        """Raises NotSaved."""
        self._shares.revoke(share_id)

    def shared(self, token: str, *, person: str) -> Shared:
        """What a link shows. Raises UnknownShare, whether there never was one, it is revoked or its run is deleted."""
        return self._shares.shared(token)

    def export(self, of: str, *, person: str) -> Export:
        """A conversation or a run as a file may hold it; of a conversation those runs that are over.

        Raises NothingOfThisName.
        """
        return gather(self.history, of)

    @property
    def runs_in_flight(self) -> int:
        """Those that are at work or wait for their turn."""
        return sum(not run.is_finished for run in tuple(self._runs.values()))

    def running(self, conversation_id: str) -> Run | None:
        """The run that a conversation waits for, the latest if there are several."""
        return next(reversed(self._in_flight(conversation_id)), None)

    def _in_flight(self, conversation_id: str) -> list[Run]:
        runs = tuple(self._runs.values())  # at once: other threads may ask meanwhile
        return [run for run in runs if run.conversation_id == conversation_id and not run.is_finished]

    async def _carry_out(self, run: Run, execution: Execution, person: str, suggests: bool) -> None:
        begun, budget = time.monotonic(), self._budget()
        fork = execution.fork
        reused = fork.reused_seconds if fork else 0.0

        def clock() -> float:
            return reused + time.monotonic() - begun

        def emit(event: Event) -> None:
            try:
                self.history.save(run.id, event)
            except (NotSaved, SQLAlchemyError):  # a full disk, say: whoever waits for the answer still gets it
                log.exception("Run %s can't be saved", run.id)
            run.append(event)

        def keep_calls(step: str, attempt: int, calls: Sequence[Call]) -> None:
            try:
                self.history.save_calls(run.id, step, attempt, calls)
            except (NotSaved, SQLAlchemyError):  # as above
                log.exception("The prompts of run %s can't be saved", run.id)

        async def take_turn() -> tuple[RunStatus, PlainError | None]:
            nonlocal begun
            try:
                async with self._admission.turn(person, run.wait_behind):
                    begun = time.monotonic()
                    kept = keep_calls if self.settings.keep_prompts else None
                    attempts = fork.attempts if fork else Counter[str]()
                    recorder = Recorder(emit, clock, budget, attempts, keep_calls=kept)
                    return await execution.work(recorder, person)
            except asyncio.CancelledError:  # while it waited
                execution.keep_attachments()
                return "stopped", None

        work = asyncio.ensure_future(take_turn())
        run.on_stop(partial(self._loop.call_soon_threadsafe, work.cancel))
        status, error = await work
        await asyncio.to_thread(self._drop_removed, run.id)
        last = await asyncio.to_thread(summarize_run, run.events, status, error, clock() - reused)
        task = asyncio.current_task()
        if not (task and suggests and self.settings.suggest_follow_ups != "off" and is_worth_follow_ups(last)):
            emit(last)
            return
        self._suggesting[run] = task  # before the end is told: whoever hears of it knows that there is more to come
        try:
            emit(last)
            await self._suggest(run, last, budget, person)
        finally:
            del self._suggesting[run]

    async def _suggest(self, run: Run, last: RunFinished, budget: Budget, person: str) -> None:
        """In a turn of its own, behind the questions of others."""
        try:
            model = self._models.open()
            if not (model.suggests or self.settings.suggest_follow_ups == "always"):
                return
            async with self._admission.turn(person), asyncio.timeout(SUGGESTING_LIMIT):
                questions = await suggested(run.events, last, model, budget)
            self.history.save_suggestions(run.id, questions)
        except (PlainError, TimeoutError, SQLAlchemyError) as error:  # an answer is an answer without them
            log.warning("After run %s nothing is suggested: %s %s", run.id, type(error).__name__, error)

    def _drop_suggestions(self, conversation_id: str) -> None:
        """Those that are being made: the conversation goes on without them."""
        for run, task in tuple(self._suggesting.items()):
            if run.conversation_id == conversation_id:
                self._loop.call_soon_threadsafe(task.cancel)

    async def _end_suggestions(self) -> None:
        tasks = tuple(self._suggesting.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _on_removal(self) -> None:
        """In any thread: of the store's jobs, too."""
        with suppress(RuntimeError):  # the engine is closing: they stay noted for the next start
            self._blanking.submit(self._blank_removed)

    def _blank_removed(self) -> None:
        """Of documents that were removed, by an earlier process too, the traces keep no passage."""
        removed = self.store.removed()
        if not removed:
            return
        try:
            is_done = self.settings.keep_removed or self._blank(removed)
        except (NotSaved, SQLAlchemyError):  # the edge of the thread; they stay noted for the next time
            log.exception("The passages of removed documents can't be taken out of the history")
            return
        if not self.settings.keep_removed:
            self._forget_finished_runs()
        if is_done:
            self.store.forget_removed(removed)

    def _blank(self, removed: Sequence[str]) -> bool:
        """Whether it is gone from all files. Raises NotSaved, SQLAlchemyError."""
        is_dropped = True

        def drop(run_ids: set[str]) -> None:
            nonlocal is_dropped
            is_dropped = not self._checkpoints or self._checkpoints.delete(run_ids)

        return self.history.blank_documents(removed, drop) and is_dropped

    def _drop_removed(self, run_id: str) -> None:
        """Of a run that has read a document which was removed meanwhile no checkpoint stays."""
        try:
            if self._checkpoints and not self.settings.keep_removed and self.history.has_read_removed(run_id):
                self._checkpoints.delete([run_id])
            if time.time() - self._swept_at > DAY:
                self._sweep_checkpoints()
        except SQLAlchemyError:
            log.exception("The checkpoints of run %s can't be dropped", run_id)

    def _open_checkpoints(self) -> Checkpoints | None:
        folder = self.settings.data_dir
        if not self.settings.keep_checkpoints_days:
            with suppress(OSError):
                discard(folder)
            return None
        return asyncio.run_coroutine_threadsafe(Checkpoints.open(folder), self._loop).result()

    def _sweep_checkpoints(self) -> None:
        """Those of runs that were deleted, or have had their time."""
        self._swept_at = now = time.time()
        if not self._checkpoints:
            return
        try:
            kept = self._checkpoints.run_ids()
            since = now - self.settings.keep_checkpoints_days * DAY
            self._checkpoints.delete(kept - self.history.known_runs(kept, since=since))
        except SQLAlchemyError:
            log.exception("Checkpoints of runs that are gone can't be dropped")

    def _budget(self) -> Budget:
        return Budget(calls=self.settings.run_call_limit, tokens=self.settings.run_token_limit)

    def delete_conversation(self, conversation_id: str) -> None:
        """With its runs, and the forks of these; those in flight are stopped first."""
        for run in self._in_flight(conversation_id):
            run.stop()
            run.result()
        self._drop_suggestions(conversation_id)
        self.history.delete_conversation(conversation_id)
        self._sweep_checkpoints()

    def _forget_finished_runs(self, *, but: int = 0) -> None:
        """`but`: the latest of them, how many."""
        finished = [run.id for run in tuple(self._runs.values()) if run.is_finished]
        for run_id in finished[: len(finished) - but]:
            self._runs.pop(run_id, None)


def _storable(text: str) -> str:
    """A command line may hold bytes that are no text, which neither SQLite nor JSON takes."""
    return text.encode("utf-8", "replace").decode()
