"""What may be asked next: follow-ups that the chat model suggests once a run is over.

They are no part of the run: its totals and its end do not wait for them, and what goes wrong with them is told nobody
but the log. They count against the run's budget.
"""

from collections.abc import Iterable, Sequence

from rag.models.chat_model import LONGEST_FOLLOW_UP, MOST_FOLLOW_UPS, ChatModel
from rag.models.usage import Budget, Usage
from rag.text.citations import without_markers
from rag.text.language import language_of
from rag.trace.details import StandaloneDetail
from rag.trace.events import Event, RunFinished, RunStarted, StepFinished


def is_worth_follow_ups(last: RunFinished) -> bool:
    """Whether it ended with an answer from sources: without them there is nothing to suggest from."""
    return last.status == "finished" and last.outcome != "not_in_documents" and bool(last.citations)


async def suggested(events: Sequence[Event], last: RunFinished, model: ChatModel, budget: Budget) -> tuple[str, ...]:
    """After a run that is worth it, of these events, `last` among them. Raises ServiceError, ModelError, RunLimit."""
    asked = question = ""
    for event in events:
        match event:
            case RunStarted():
                asked = question = event.question
            case StepFinished(detail=StandaloneDetail(after=whole)):
                question = whole
    found = await model.suggest_follow_ups(
        question, last.answer, last.citations, Usage(budget), language=language_of(asked)
    )
    return _usable(found, {asked, question})


def _usable(questions: Iterable[str], asked: set[str]) -> tuple[str, ...]:
    """Those that are short and new: a model may repeat the question, or write an essay."""
    lines = dict.fromkeys(" ".join(without_markers(each).split()) for each in questions)
    return tuple(each for each in lines if each and each not in asked and len(each) <= LONGEST_FOLLOW_UP)[
        :MOST_FOLLOW_UPS
    ]
