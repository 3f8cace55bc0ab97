"""The trace panel: one row per step in order, each of which opens its detail."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape

import streamlit as st

from pages.widgets.controls.fold import show_fold
from pages.widgets.index.asked_index import asked_index
from pages.widgets.trace import detail
from pages.widgets.trace.calls import show_calls
from pages.widgets.trace.graph import attempt_text, decision_text, row_key
from pages.widgets.trace.option_labels import picked_labels
from pages.words.amounts import thousands
from pages.words.names import plain
from pages.words.say import counted, say
from rag.runs.history.for_people.user_history import Traces
from rag.runs.run.run import Run
from rag.runs.run.summary import reused_seconds
from rag.trace.events import (
    Decision,
    Event,
    Origin,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    Totals,
    UnknownEvent,
    started_of,
)

BAR_WIDTH = 12
"""characters of the bar that shows when a step ran"""

DRAWN_CLOSED = 30
"""steps: in a finished run of more of them, a step's detail is drawn when its row is opened. A browser draws closed
rows too: of a run of 200 steps, for many seconds. The usual limits of a run keep it below.
"""

Below = Callable[[Sequence[Event], StepFinished, str], None]
"""(events of the run, one of its steps, key of the trace)"""

_SIGNS = {
    "yes": ":green[✓]",
    "no": ":orange[✗]",
    "unknown": ":orange[?]",
    "stopped": "■",
    "failed": ":red[✗]",
    None: "✓",
}


@dataclass
class StepRow:
    """A step of the run, with the decision that followed it."""

    started: StepStarted
    finished: StepFinished | None = None
    decisions: list[Decision] = field(default_factory=list)
    is_cut_off: bool = False
    """the run has ended, and the step never did: its app was killed"""

    @property
    def told_unfinished(self) -> str:
        return say("summary.stopped" if self.is_cut_off else "step.running")


def rows(events: Sequence[Event]) -> list[StepRow]:
    found: dict[tuple[str, int], StepRow] = {}
    for event in events:
        if isinstance(event, StepStarted):
            found[event.step, event.attempt] = StepRow(event)
        elif isinstance(event, StepFinished):
            # Its start may be an event that only a newer version knows.
            begun = StepStarted(step=event.step, attempt=event.attempt, start=event.start)
            found.setdefault((event.step, event.attempt), StepRow(begun)).finished = event
        elif isinstance(event, Decision):
            latest = max((attempt for step, attempt in found if step == event.from_step), default=None)
            if latest:
                found[event.from_step, latest].decisions.append(event)
        elif isinstance(event, RunFinished):
            for row in found.values():
                row.is_cut_off = row.finished is None
    return list(found.values())


def seconds_so_far(run: Run, events: Sequence[Event]) -> float:
    """Of a live run, on the time line of its trace. Not before its latest step: the clock may have been set back, or be
    that of another app.
    """
    begun = (each.start for each in events if isinstance(each, StepStarted))
    return max(0.0, time.time() - run.begun_at + reused_seconds(events), *begun)


def headline(events: Sequence[Event], now: float) -> str:
    """`Self-RAG · 14.2 s · 7 calls · 2.1k tokens · 1 rewrite · grounded`

    `now`: seconds since the start of a live run.
    """
    first, last = events[0], events[-1]
    name = _name(first) if isinstance(first, RunStarted) else ""
    if not isinstance(last, RunFinished):
        return f"{name} · {say('status.running')} · {say('total.seconds', seconds=f'{now:.0f}')}"
    end = say(f"outcome.{last.outcome}") if last.outcome else say(f"status.{last.status}")
    return " · ".join([name, *_costs(last.totals), end])


def _name(started: RunStarted) -> str:
    picked = picked_labels(started)
    return say(f"pipeline.{started.pipeline}") + (f" ({' · '.join(picked)})" if picked else "")


def _costs(totals: Totals) -> list[str]:
    costs = [say("total.seconds", seconds=f"{totals.seconds:.1f}"), counted("total.calls", totals.model_calls)]
    if totals.tokens:  # services tell them at the end of a reply, if at all
        costs.append(say("total.tokens", count=thousands(totals.tokens)))
    if totals.reused_calls:
        costs.append(counted("total.reused", totals.reused_calls))
    if totals.rewrites:
        costs.append(counted("total.rewrites", totals.rewrites))
    if totals.generations > 1:
        costs.append(say("total.answers", count=totals.generations))
    return costs


def show_rows(
    events: Sequence[Event], now: float, key: str, below: Below | None = None, traces: Traces | None = None
) -> None:
    """`now`: seconds since the start of the run, for the bars of live steps. `below`: draws more below the detail of a
    finished step. `traces`: as in `show_calls`.
    """
    begun = started_of(events)
    run_id, index, origin = (begun.run_id, asked_index(begun), begun.origin) if begun else ("", None, None)
    steps = rows(events)
    # The titles of a live run change, and a fold that is known to the server is another one with each title.
    is_drawn_closed = len(steps) <= DRAWN_CLOSED or not isinstance(events[-1], RunFinished)
    for row in steps:
        started = row.started
        title, named = label(row, now, note_of_fork(row, origin)), row_key(key, started.step, started.attempt)
        fold = st.expander(title, key=named) if is_drawn_closed else show_fold(title, named)
        if is_drawn_closed or fold.open:
            with fold:
                if row.finished:
                    detail.show_detail(row.finished, index or "")
                    show_calls(run_id, row.finished, key, traces)
                    if below:
                        below(events, row.finished, key)
                else:
                    st.caption(row.told_unfinished)
        for decision in row.decisions:
            st.caption(decision_text(decision.why, decision.to))
    for event in events:
        if isinstance(event, UnknownEvent):
            with st.expander(f"`{'▁' * BAR_WIDTH}` :orange[?] **{say('step.unknown')}** {plain(event.named)}"):
                st.html(f'<div class="detail"><pre>{escape(event.stored)}</pre></div>')


def note_of_fork(row: StepRow, origin: Origin | None) -> str:
    """The note of a fork in the row of its step; empty for other runs."""
    if origin and (row.started.step, row.started.attempt) == (origin.step, origin.attempt):
        return f"✎ {say('step.changed')}"
    return f"↺ {say('step.reused')}" if row.finished and row.finished.reused else ""


def label(row: StepRow, now: float, note: str = "") -> str:
    """`note`: Markdown, after the name of the step."""
    started, finished = row.started, row.finished
    end = finished.end if finished else now
    sign = _SIGNS["stopped"] if row.is_cut_off else "◌"
    parts = [f"`{_bar(started.start, end, now)}`", _SIGNS[finished.verdict] if finished else sign]
    parts += [f"**{say(f'step.{started.step}')}**", attempt_text(started.attempt)]
    if note:
        parts.append(f":gray[{note}]")
    parts.append(detail.summary(finished) if finished else f":gray[{row.told_unfinished}]")
    cost = [say("total.seconds", seconds=f"{end - started.start:.1f}")]
    if finished and finished.tokens_in + finished.tokens_out:
        cost.append(say("total.tokens", count=thousands(finished.tokens_in + finished.tokens_out)))
    return " ".join([*filter(None, parts), f":gray[· {' · '.join(cost)}]"])


def _bar(start: float, end: float, whole: float) -> str:
    """When the step ran in the time of the run, as characters: ▁▁███▁▁▁"""
    per_second = BAR_WIDTH / whole if whole else 0
    first = min(int(start * per_second), BAR_WIDTH - 1)
    length = max(1, min(round((end - start) * per_second), BAR_WIDTH - first))
    return "▁" * first + "█" * length + "▁" * (BAR_WIDTH - first - length)
