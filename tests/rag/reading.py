"""What a run did, picked from its events."""

from collections.abc import Sequence
from typing import TypeVar

from rag.trace.events import Decision, Event, StepFinished, StepStarted, Token

T = TypeVar("T")


def of(kind: type[T], events: Sequence[Event]) -> list[T]:
    return [event for event in events if isinstance(event, kind)]


def started_steps(events: Sequence[Event]) -> list[str]:
    """The steps in the order in which they began."""
    return [event.step for event in of(StepStarted, events)]


def decisions(events: Sequence[Event]) -> list[tuple[str, str]]:
    """Each with where it led and why."""
    return [(event.to, event.why) for event in of(Decision, events)]


def finished(events: Sequence[Event], step: str) -> list[StepFinished]:
    """The attempts of a step, in their order."""
    return [event for event in of(StepFinished, events) if event.step == step]


def tokens(events: Sequence[Event]) -> str:
    return "".join(event.text for event in of(Token, events))
