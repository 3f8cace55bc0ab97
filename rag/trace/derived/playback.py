"""Plays a run back: its events at their original times, with the answers typed again.

Stored events have no tokens. For each step that wrote an answer, tokens are made from its final text, spread over the
later part of its time. If the run was stopped or failed meanwhile, they are made from the half answer that was kept.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rag.trace.derived.answers import written_by
from rag.trace.details import AttemptsDetail, CandidatesDetail, DeclineDetail
from rag.trace.events import Event, RunFinished, StepFinished, StepStarted, Token

READING = 0.4
"""the share of a writing step's time before its first word, while the model reads its passages"""

PIECE = 6
"""characters of an answer per event: about three tokens"""

LONGEST_WAIT = 1.5
"""the longest pause, in seconds, in a playback faster than the run"""


class Moment(NamedTuple):
    seconds: float
    """since the run began"""
    event: Event


def moments(events: Sequence[Event]) -> list[Moment]:
    """All events in order, with tokens in place of those that were not stored."""
    own = list(_timed(events))
    typed = [] if any(isinstance(event, Token) for event in events) else list(_typed(events))
    typed += _typed_half(events, typed)
    # Sorting is stable: events of one time keep their order, tokens before the end of their step.
    return sorted([*own[:1], *typed, *own[1:]], key=lambda moment: moment.seconds)


def at(played: Sequence[Moment], seconds: float) -> list[Event]:
    """The events so far; at least the first one."""
    return [moment.event for moment in played[:1]] + [each.event for each in played[1:] if each.seconds <= seconds]


def advanced(played: Sequence[Moment], position: float, elapsed: float, pace: float) -> float:
    """The new position of a playback that was at `position` (seconds of the run) and played for `elapsed` seconds.

    `pace`: 1 is the run's own speed. At a higher one, no pause is longer than LONGEST_WAIT.
    """
    for begin, end in pairwise(sorted({0.0, *(moment.seconds for moment in played)})):
        if end <= position:
            continue
        speed = pace if pace <= 1 else max(pace, (end - begin) / LONGEST_WAIT)
        reached = max(position, begin) + elapsed * speed
        if reached <= end:
            return reached
        elapsed -= (end - max(position, begin)) / speed
        position = end
    return position


def _timed(events: Sequence[Event]) -> Iterator[Moment]:
    """An event without a time, such as a decision, gets the time of the event before it."""
    now = 0.0
    for event in events:
        match event:
            case StepStarted(start=start):
                now = max(now, start)
            case StepFinished():
                now = max(now, event.end)
            case RunFinished(totals=totals):
                now = max(now, totals.seconds)
        yield Moment(now, event)


def _typed(events: Sequence[Event]) -> Iterator[Moment]:
    candidates: CandidatesDetail | None = None
    for step in events:
        if not isinstance(step, StepFinished):
            continue
        match step.detail:
            case DeclineDetail(text=text) if not step.model_calls:  # the text appears at once
                yield _whole(step, text)
            case AttemptsDetail(attempts=attempts, chosen=chosen):
                yield from (_whole(step, each.text) for each in attempts if each.number == chosen)
            case CandidatesDetail():
                candidates = step.detail
            case _ if candidates and candidates.candidates and step.step == "choose_candidate":
                yield _whole(step, candidates.candidates[0].text)
            case _:
                yield from _spread(step, written_by(step))


def _typed_half(events: Sequence[Event], typed: Sequence[Moment]) -> Iterator[Moment]:
    """The answer that a run had half written when it ended too early. Only its last event has it: the step that wrote
    it has no detail.
    """
    last = events[-1]
    if not isinstance(last, RunFinished) or last.status == "finished":
        return
    written: defaultdict[tuple[str, int], str] = defaultdict(str)
    for _, event in typed:
        if isinstance(event, Token):
            written[event.step, event.attempt] += event.text
    broken = [
        each
        for each in events
        if isinstance(each, StepFinished) and each.verdict in ("stopped", "failed") and each.model_calls
    ]
    if broken and last.answer not in written.values():
        yield from _spread(max(broken, key=lambda step: step.start), last.answer)


def _spread(step: StepFinished, text: str) -> Iterator[Moment]:
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    seconds = step.milliseconds / 1000
    for number, piece in enumerate(pieces):
        share = READING + (1 - READING) * number / len(pieces)
        yield Moment(step.start + share * seconds, Token(step=step.step, attempt=step.attempt, text=piece))


def _whole(step: StepFinished, text: str) -> Moment:
    return Moment(step.end, Token(step=step.step, attempt=step.attempt, text=text))
