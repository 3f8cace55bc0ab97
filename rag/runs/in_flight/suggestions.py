"""Follow-ups that the chat model suggests after a run.

They are not part of the run: its totals and its end do not wait for them. Their errors go only to the log. They count
against the run's budget.
"""

import asyncio
import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from index_store.base.errors import PlainError
from rag.models.calls.admission import Admission
from rag.models.calls.budget import Budget
from rag.models.calls.usage import Usage
from rag.models.chat_model import LONGEST_FOLLOW_UP, MOST_FOLLOW_UPS, ChatModel, ModelSource
from rag.runs.history.history import History
from rag.runs.history.suggestions import StoredSuggestions
from rag.runs.run.run import Run
from rag.settings import Settings
from rag.text.citations import without_markers
from rag.text.language import Language, is_written_in, language_in_conversation
from rag.text.repetition import repeats
from rag.text.reply.written_line import written_line
from rag.trace.derived.standalone import understood_question
from rag.trace.events import Event, RunFinished, started_of

log = logging.getLogger(__name__)

SUGGESTING_LIMIT = 60
"""seconds: people who have read an answer for a minute have already asked the next question"""


class Suggestions(StoredSuggestions):
    """Stored suggestions, and those in progress as tasks of the engine's event loop."""

    def __init__(
        self,
        settings: Settings,
        history: History,
        source: ModelSource,
        admission: Admission,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__(history.database, history.redaction)
        self._settings = settings
        self._source = source
        self._admission = admission
        self._loop = loop
        self._tasks: dict[Run, asyncio.Task[Any]] = {}
        """suggestions for finished runs"""

    def are_coming(self, run_id: str) -> bool:
        """True if more suggestions may come."""
        return any(run.id == run_id for run in tuple(self._tasks))

    def are_worth_making(self, last: RunFinished) -> bool:
        """True if the settings and the end of the run allow suggestions."""
        return self._settings.suggest_follow_ups != "off" and is_worth_follow_ups(last)

    @contextmanager
    def coming(self, run: Run) -> Iterator[None]:
        """Registers the current task as making suggestions for the run; `drop` and `end` cancel it."""
        if task := asyncio.current_task():
            self._tasks[run] = task
        try:
            yield
        finally:
            self._tasks.pop(run, None)

    async def make(self, run: Run, last: RunFinished, budget: Budget, party: str) -> None:
        """Makes and saves them in a turn of its own, after the questions of others. `party`: the run's."""
        if not (self._source.suggests or self._settings.suggest_follow_ups == "always"):
            return
        try:
            model = await asyncio.to_thread(self._source.open)
            async with self._admission.turn(party), asyncio.timeout(SUGGESTING_LIMIT):
                asked = await asyncio.to_thread(self._asked_in, run.conversation_id)
                questions = await suggested(run.events, last, asked, model, budget)
            await asyncio.to_thread(self.save, run.id, questions)
        except (PlainError, TimeoutError, SQLAlchemyError) as error:  # the answer is complete without them
            log.warning("Run %s has no suggested questions: %s %s", run.id, type(error).__name__, error)

    def drop(self, conversation_id: str) -> None:
        """Cancels suggestions in progress, because the conversation has continued."""
        for run, task in tuple(self._tasks.items()):
            if run.conversation_id == conversation_id:
                self._loop.call_soon_threadsafe(task.cancel)

    async def end(self) -> None:
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def is_worth_follow_ups(last: RunFinished) -> bool:
    """True if the run ended with an answer from sources: without sources there is nothing to suggest from."""
    return last.status == "finished" and last.outcome != "not_in_documents" and bool(last.citations)


async def suggested(
    events: Sequence[Event], last: RunFinished, before: Collection[str], model: ChatModel, budget: Budget
) -> tuple[str, ...]:
    """Suggestions after a run that `is_worth_follow_ups`. `events`: all of the run; `before`: what its conversation has
    asked. Raises ServiceError, ModelError, RunLimit.
    """
    started, question = started_of(events), understood_question(events)
    asked = started.question if started else ""
    language = language_in_conversation(asked, (last.answer, question))
    found = await model.suggest_follow_ups(question, last.answer, last.citations, Usage(budget), language=language)
    return _usable(found, (asked, question, *before), language)


def _usable(questions: Iterable[str], asked: Collection[str], language: Language) -> tuple[str, ...]:
    """Short and new questions in the language of the conversation only: a model may repeat a question, write an essay,
    or take the language of the documents.
    """
    usable: list[str] = []
    for each in questions:
        line = written_line(" ".join(without_markers(each).split()))
        is_new = line and not repeats(line, (*asked, *usable))
        if is_new and len(line) <= LONGEST_FOLLOW_UP and is_written_in(line, language):
            usable.append(line)
    return tuple(usable[:MOST_FOLLOW_UPS])
