"""A follow-up as it was completed to stand alone, and its run without what was said before it in its conversation."""

from collections.abc import Iterable

from rag.trace.details import StandaloneDetail
from rag.trace.events import Event, RunStarted, StepFinished

STANDALONE_STEP = "standalone_question"
"""the only step that is given earlier turns, named after its result: rag/nodes/condense_question.py"""


def understood_question(events: Iterable[Event]) -> str:
    """The question of a run; for a follow-up, the standalone question."""
    question = ""
    for event in events:
        match event:
            case RunStarted():
                question = event.question
            case StepFinished(detail=StandaloneDetail(after=after)):
                question = after
    return question


def without_earlier_turns(event: Event) -> Event:
    """The question stays as it was completed, or joined to an earlier one, because the run searched for it. A refused
    rewrite does not: it may repeat an earlier question for nothing.
    """
    if not isinstance(event, StepFinished) or event.step != STANDALONE_STEP:
        return event
    detail = None  # of a newer version, it may have turns too
    if isinstance(event.detail, StandaloneDetail):
        detail = event.detail.model_copy(update={"turns": (), "refused": None})
    return event.model_copy(update={"detail": detail})
