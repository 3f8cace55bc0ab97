"""Answers questions: each in a run that streams its events, can be stopped, and is saved as it goes.

The runs live in a thread of the engine's own, as tasks of one event loop, so that a page that reruns, reloads or closes
loses none. Stopping cancels the task, which closes the connection to the model in the midst of a word.
"""

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from functools import partial

from sqlalchemy.exc import SQLAlchemyError

from index_store.base.errors import PlainError
from index_store.ingestion.sources import FileSource, discard_all_uploads, discard_uploads
from index_store.search.searcher import check_length
from index_store.store import IndexStore
from rag.errors import NotSaved
from rag.graph.context import Recorder
from rag.models.admission import Admission
from rag.models.chat_model import ModelSource
from rag.models.registry import model_source
from rag.models.usage import Budget
from rag.pipelines import pipeline
from rag.runs.execution import Execution
from rag.runs.export import Export, gather
from rag.runs.history import History
from rag.runs.options import check_retrieval
from rag.runs.run import Run
from rag.runs.shares import NewShare, Share, Shared, Shares
from rag.runs.summary import summarize_run
from rag.settings import Settings
from rag.trace.calls import Call
from rag.trace.events import Event, RunStarted, RunStatus, Style
from rag.trace.passages import Retrieval
from rag.web import WebSearch, web_search

log = logging.getLogger(__name__)

KEPT_RUNS = 50
"""finished runs that stay in memory, tokens and all, for pages that are still reading them. When a document is removed
all of them go, and the history alone tells of them."""

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
            self.history.close_interrupted_runs()
            discard_all_uploads(self.settings.data_dir)
            self.store.resume()
            self._models = models or model_source(self.settings)
            self._web = web or web_search(self.settings)
            self._opened = opened.pop_all()
            """what is closed with the engine, or at once where it can't be made"""
        self._shares = Shares(self.history)
        self._runs: dict[str, Run] = {}
        self._admission = Admission(
            self._models.runs_at_once or self.settings.runs_at_once, self.settings.runs_per_person
        )
        self._searching = ThreadPoolExecutor(SEARCH_THREADS, thread_name_prefix="search")
        self._blanking = ThreadPoolExecutor(1, "blanking")
        self.store.watch_removals(self._on_removal)
        self._on_removal()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="engine", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops what runs, and gives everything back."""
        for run in self._runs.values():
            run.stop()
        for run in self._runs.values():
            run.result()
        asyncio.run_coroutine_threadsafe(self._models.close(), self._loop).result()
        if self._web:
            asyncio.run_coroutine_threadsafe(self._web.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._searching.shutdown()
        self.store.watch_removals(lambda: None)
        self._blanking.shutdown()
        self._opened.close()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def model_name(self) -> str:
        return self._models.name

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
    ) -> Run:
        """Begins a run and returns at once; without a conversation it begins one. Attachments are loaded first.

        `retrieval`: another than the pipeline has; `style`: another than the settings have; `person`: who asks, so
        that others get their turns, the conversation where it is not known. Raises UnknownPipeline, UnknownMode,
        UnknownUnit, BadHitCount, QuestionTooLong, NotSaved, and has begun nothing then. All that goes wrong later ends
        the run, in its `run_finished`.
        """
        try:
            run, execution = self._begin(question, index, pipeline_name, conversation_id, attachments, retrieval, style)
        except PlainError:
            discard_uploads(attachments)
            raise
        self._forget_finished_runs(but=KEPT_RUNS)
        asyncio.run_coroutine_threadsafe(self._carry_out(run, execution, person or run.conversation_id), self._loop)
        return run

    def _begin(
        self,
        question: str,
        index: str,
        pipeline_name: str,
        conversation_id: str | None,
        attachments: Sequence[FileSource],
        retrieval: Retrieval | None,
        style: Style | None,
    ) -> tuple[Run, Execution]:
        question, index = _storable(question).strip(), _storable(index)
        check_length(question)
        flow = pipeline(pipeline_name)
        if retrieval:
            check_retrieval(retrieval)
        if conversation_id is None or not self.history.conversation_exists(conversation_id):
            conversation_id = self.history.new_conversation(question).id
        started = RunStarted(
            run_id=uuid.uuid4().hex,
            conversation_id=conversation_id,
            question=question,
            index=index,
            pipeline=flow.name,
            model=self.model_name,
            retrieval=retrieval,
            style=style or self.settings.style,
            at=time.time(),
        )
        turns = self.history.turns(conversation_id, before=question)
        execution = Execution(
            started=started,
            pipeline=flow,
            turns=turns,
            attachments=tuple(attachments),
            store=self.store,
            models=self._models,
            settings=self.settings,
            web=self._web,
            search_threads=self._searching,
        )
        run = Run(started)
        self.history.save(run.id, started)
        self._runs[run.id] = run
        return run, execution

    def run(self, run_id: str) -> Run | None:
        """A run that this process began and still remembers; `history` has the others."""
        return self._runs.get(run_id)

    def calls(self, run_id: str, step: str, attempt: int, *, person: str) -> tuple[Call, ...]:
        """What the chat model was asked in a step that is over, and replied, word for word; none where it is not kept.

        `person`: who wants to read it.
        """
        return self.history.calls(run_id, step, attempt)

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

    async def _carry_out(self, run: Run, execution: Execution, person: str) -> None:
        begun = time.monotonic()

        def clock() -> float:
            return time.monotonic() - begun

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
                    return await execution.work(Recorder(emit, clock, self._budget(), keep_calls=kept))
            except asyncio.CancelledError:  # while it waited
                execution.keep_attachments()
                return "stopped", None

        work = asyncio.ensure_future(take_turn())
        run.on_stop(partial(self._loop.call_soon_threadsafe, work.cancel))
        status, error = await work
        emit(await asyncio.to_thread(summarize_run, run.events, status, error, clock()))

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
            is_done = self.settings.keep_removed or self.history.blank_documents(removed)
        except (NotSaved, SQLAlchemyError):  # the edge of the thread; they stay noted for the next time
            log.exception("The passages of removed documents can't be taken out of the history")
            return
        if not self.settings.keep_removed:
            self._forget_finished_runs()
        if is_done:
            self.store.forget_removed(removed)

    def _budget(self) -> Budget:
        return Budget(calls=self.settings.run_call_limit, tokens=self.settings.run_token_limit)

    def delete_conversation(self, conversation_id: str) -> None:
        """With its runs, of which those in flight are stopped first."""
        for run in self._in_flight(conversation_id):
            run.stop()
            run.result()
        self.history.delete_conversation(conversation_id)

    def _forget_finished_runs(self, *, but: int = 0) -> None:
        """`but`: the latest of them, how many."""
        finished = [run.id for run in tuple(self._runs.values()) if run.is_finished]
        for run_id in finished[: len(finished) - but]:
            self._runs.pop(run_id, None)


def _storable(text: str) -> str:
    """A command line may hold bytes that are no text, which neither SQLite nor JSON takes."""
    return text.encode("utf-8", "replace").decode()
