"""Executes one run: attachments, the model, the standalone question, then the pipeline's graph."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from langchain_core.runnables import RunnableConfig

from index_store.base.errors import PlainError
from index_store.ingestion.results import IngestResult
from index_store.ingestion.sources import FileSource, discard_uploads
from index_store.store.user_ingestion import UserIngestion
from index_store.store.user_store import UserStore
from rag.errors import IndexGone, RunLimit, RunTimeLimit, Unexpected
from rag.graph.concurrency import uninterrupted
from rag.graph.context import Assessment, GraphLimits, Recorder, RunContext
from rag.graph.state import State
from rag.graph.step import Step
from rag.models.chat_model import ChatModel, ModelSource
from rag.nodes.condense_question import condense_question
from rag.pipelines.pipeline import Pipeline
from rag.runs.fork.checkpoints import Checkpoints, thread
from rag.runs.fork.plan import Fork
from rag.settings import Settings
from rag.text.language import language_in_conversation
from rag.text.question.small_talk import is_small_talk
from rag.trace.details import DocumentsDetail, ModelDetail, StandaloneDetail, Turn
from rag.trace.events import RunStarted, RunStatus, StepFinished
from rag.web import WebSearch

log = logging.getLogger(__name__)

LOOK = 0.2
"""seconds between two checks of the documents that are being added"""

RECURSION_LIMIT = 100
"""steps of a graph; the pipelines' own limits are much lower"""


@dataclass(frozen=True)
class ExecutionServices:
    """What all executions of an engine use."""

    settings: Settings
    web: WebSearch | None
    search_threads: Executor
    answering: Callable[[], AbstractContextManager[None]]
    """held while the embedded model is at work"""
    checkpoints: Checkpoints | None


@dataclass(frozen=True)
class Execution:
    started: RunStarted
    pipeline: Pipeline
    turns: Sequence[Turn]
    """earlier turns of the conversation"""
    attachments: Sequence[FileSource]
    """uploads, added to the index before anything else"""
    store: UserStore
    """the facade of the person who asks"""
    source: ModelSource
    services: ExecutionServices
    fork: Fork | None = None
    """the run has its checkpoints already and continues from it"""

    async def work(self, recorder: Recorder) -> tuple[RunStatus, PlainError | None]:
        """Runs to the end, good or bad. The recorder gets every event except `run_finished`."""
        try:
            async with asyncio.timeout(self.services.settings.run_time_limit) as limit:
                await self._work(recorder)
        except asyncio.CancelledError:
            return "stopped", None
        except RunLimit as error:
            return "limited", error
        except PlainError as error:
            return "failed", error
        except Exception as error:  # the edge of a run: our own bug must end it with a message, not hang its readers
            if isinstance(error, TimeoutError) and limit.expired():
                return "limited", RunTimeLimit(seconds=self.services.settings.run_time_limit)
            log.exception("Run %s failed", self.started.run_id)
            return "failed", Unexpected(kind=type(error).__name__)
        return "finished", None

    async def _work(self, recorder: Recorder) -> None:
        if self.attachments:
            await self._add_documents(recorder)
        model = await self._open_model(recorder)
        beginning: State | None = None
        language = language_in_conversation(self.started.question, self._asked_before())
        if not self.fork:
            question = self.started.question
            # A follow-up is never about a greeting or thanks.
            if turns := [turn for turn in self.turns if not is_small_talk(turn.question)]:
                question = await condense_question(question, turns, model, recorder, language=language)
            beginning = State(question=question)
        settings, web = self.services.settings, self.services.web
        context = RunContext(
            model=model,
            store=self.store,
            index=self.started.index,
            present_index=self._present_index,
            retrieval=self.started.retrieval or self.pipeline.retrieval,
            limits=GraphLimits(
                rewrites=settings.max_rewrites,
                generations=settings.max_generations,
                web=web is not None,
                regenerates=model.regenerates,
                speculates=model.speculates,
            ),
            language=language,
            style=self.started.style,
            recorder=recorder,
            search_threads=self.services.search_threads,
            web=web,
            assessment=Assessment(rule=settings.corrective_rule, lower=settings.crag_lower, upper=settings.crag_upper),
            overrides=self.fork.overrides if self.fork else {},
        )
        config = RunnableConfig(recursion_limit=RECURSION_LIMIT)
        checkpoints = self.services.checkpoints
        with self.services.answering() if self.source.is_in_app else nullcontext():
            if checkpoints is None:
                await self.pipeline.compiled.ainvoke(beginning, config, context=context)
                return
            graph, config = checkpoints.graph(self.pipeline), config | thread(self.started.run_id)
            # Save each checkpoint before the next step. With "async", a step may change the data before it is saved.
            await graph.ainvoke(beginning, config, context=context, durability="sync")

    def _asked_before(self) -> list[str]:
        """Questions by which a question that only names something can be read. A fork knows none of the conversation,
        but the question that was made of it.
        """
        if not self.fork:
            return [turn.question for turn in self.turns]
        details = (event.detail for event in self.fork.events if isinstance(event, StepFinished))
        return [detail.after for detail in details if isinstance(detail, StandaloneDetail)]

    def keep_attachments(self) -> None:
        """Adds the attachments of a run that was stopped before its turn, if possible."""
        try:
            if self.attachments:
                self._ingest()
        except PlainError as error:
            log.warning("Attachments of run %s can't be added: %s", self.started.run_id, error)
            discard_uploads(self.attachments)

    def _ingest(self) -> UserIngestion:
        """Begins to add the attachments. Raises IndexGone, and the errors of `ingest`; then they are discarded."""
        try:
            index = self._present_index()
        except PlainError:
            discard_uploads(self.attachments)
            raise
        return self.store.ingest(index, self.attachments)

    def _present_index(self) -> str:
        """The name of the index, which may have been renamed since the question was asked. Another index may have its
        old name now, or would be made under it. Raises IndexGone, AccessWithdrawn.
        """
        asked = self.started
        if asked.index_id is None:  # there was none of this name
            return asked.index
        name = self.store.index_name(asked.index_id)
        if name is None:
            raise IndexGone(index=asked.index)
        return name

    async def _add_documents(self, recorder: Recorder) -> None:
        """If the run ends early, the job continues and the store lists it, because the handed-in file exists nowhere
        else.
        """
        step = Step("add_documents", recorder)

        async def add() -> None:
            job = await uninterrupted(asyncio.to_thread(self._ingest))
            while True:
                is_finished, results = await asyncio.to_thread(_progress, job)
                step.detail = DocumentsDetail(added=results)
                if is_finished:
                    break
                await asyncio.sleep(LOOK)
            if failure := await asyncio.to_thread(self._dismiss, job):
                raise failure
            step.verdict = "no" if any(each.error for each in results) else "yes"

        await step.run(add())

    def _dismiss(self, job: UserIngestion) -> PlainError | None:
        """Takes a finished job off the list. Returns why nothing at all could be added. Raises ChangeFailed."""
        self.store.dismiss(job)
        return job.failure

    async def _open_model(self, recorder: Recorder) -> ChatModel:
        if self.source.is_ready():
            return self.source.open()
        # Load the embedding model at the same time. If it can't be loaded, the search reports why.
        self.services.search_threads.submit(self.store.load_embeddings)
        step = Step("start_model", recorder)
        step.detail = ModelDetail(name=self.source.name)
        return await step.run(asyncio.to_thread(self.source.open))


def _progress(job: UserIngestion) -> tuple[bool, tuple[IngestResult, ...]]:
    """Whether it is finished, and the results so far: all of them if it is."""
    is_finished = job.is_finished  # first, because results may come in between
    return is_finished, job.results
