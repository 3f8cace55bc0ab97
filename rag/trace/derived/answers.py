"""The answers that a run's steps have written: which step wrote one, and which one failed a check."""

from collections.abc import Sequence
from typing import NamedTuple

from rag.trace.derived.path import END
from rag.trace.details import AttemptsDetail, DeclineDetail, DraftDetail, GenerationDetail
from rag.trace.events import Decision, Event, StepFinished, StepStarted, Token


class DroppedAnswer(NamedTuple):
    """An answer that failed a check."""

    why: str
    """reason of the decision against it"""
    is_replaced: bool
    """whether another answer is being written or is finished"""


def written_by(step: StepFinished) -> str:
    """The text that the step itself wrote; empty if it wrote none, or used a speculative answer."""
    match step.detail:
        case GenerationDetail(drafted=False, text=text) | DraftDetail(kept=True, text=text) | DeclineDetail(text=text):
            return text
    return ""


def writer_of(events: Sequence[Event], step: StepFinished) -> StepFinished:
    """The step whose call wrote the answer of `step`. A speculative answer was written before `step` used it."""
    written = step
    for event in events:
        match event:
            case StepFinished(detail=DraftDetail(kept=True)):
                written = event
        if event is step:
            break
    return step if step.model_calls else written


def dropped_answer(events: Sequence[Event]) -> DroppedAnswer | None:
    """The latest dropped answer; None if there is none."""
    writers: set[str] = set()
    is_written, shown = False, ""
    latest: DroppedAnswer | None = None
    for event in events:
        match event:
            case StepFinished(step=step, detail=GenerationDetail(text=text) | DeclineDetail(text=text)):
                writers.add(step)
                is_written, shown = True, text
                latest = latest and latest._replace(is_replaced=True)  # a stored run has no tokens
            case StepFinished(detail=AttemptsDetail(attempts=attempts, chosen=chosen)) if latest:
                is_shown = any(each.number == chosen and each.text == shown for each in attempts)
                latest = latest if is_shown else latest._replace(is_replaced=True)
            case Decision(to=to, why=why) if is_written and to != END:
                latest, is_written = DroppedAnswer(why, is_replaced=False), False
            case StepStarted(step=step) | Token(step=step) if latest and (step in writers or isinstance(event, Token)):
                latest = DroppedAnswer(latest.why, is_replaced=True)
    return latest
