"""Helpers that find in a run's events what the run did."""

from collections.abc import Sequence
from typing import TypeVar

from rag.trace.events import Decision, Event, StepFinished, StepStarted, Token

T = TypeVar("T")


def of(kind: type[T], events: Sequence[Event]) -> list[T]:
    return [event for event in events if isinstance(event, kind)]


def started_steps(events: Sequence[Event]) -> list[str]:
    """Names of steps, in the order in which they began."""
    return [event.step for event in of(StepStarted, events)]


def decisions(events: Sequence[Event]) -> list[tuple[str, str]]:
    """For each decision, the next step and the reason."""
    return [(event.to, event.why) for event in of(Decision, events)]


def finished(events: Sequence[Event], step: str) -> list[StepFinished]:
    """All attempts of a step, in their order."""
    return [event for event in of(StepFinished, events) if event.step == step]


def tokens(events: Sequence[Event]) -> str:
    return "".join(event.text for event in of(Token, events))
