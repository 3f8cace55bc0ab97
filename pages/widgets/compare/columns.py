"""Runs side by side: live while one of them runs, with their differences at the end."""

import re
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.server.process import engine
from pages.widgets.answer.answer import Cards
from pages.widgets.chat.pace import OFTEN, look_every, pace
from pages.widgets.chat.turn.turn import show_draft, show_end
from pages.widgets.compare.differences import show_differences
from pages.widgets.compare.head import LETTERS, head_html, question_html
from pages.widgets.controls.errors import run_as_callback
from pages.widgets.index.asked_index import asked_index
from pages.widgets.trace.fork.change import offer_change
from pages.widgets.trace.graph import land_on, row_key, show_graph
from pages.widgets.trace.panel import headline, seconds_so_far, show_rows
from pages.words.say import counted, say
from rag.runs.history.conversations.comparison import Comparison
from rag.runs.run.run import Run
from rag.trace.derived.standalone import understood_question
from rag.trace.events import Event, RunFinished, RunStarted

STEP = re.compile(r"([a-z_]+)-([0-9]{1,4})")


class ShownComparison(NamedTuple):
    """The runs that are shown side by side."""

    comparison: Comparison | None
    """None: stored runs that are not saved as a comparison"""
    run_ids: tuple[str | None, ...]
    best: str | None


class ShownColumn(NamedTuple):
    number: int
    """number of the column, from 0"""
    run_id: str
    events: Sequence[Event]
    live: Run | None
    """set while the run is in flight or waits"""

    @property
    def started(self) -> RunStarted:
        return next(each for each in self.events if isinstance(each, RunStarted))

    @property
    def key(self) -> str:
        """The same during the run and afterwards, so that open parts stay open."""
        return f"column-{self.number}-{self.run_id}"


class Differing(NamedTuple):
    """What the columns differ in; then each of them says its own."""

    questions: bool
    indexes: bool


def of_comparison(comparison: Comparison) -> ShownComparison:
    return ShownComparison(comparison, comparison.run_ids, comparison.best)


def of_runs(run_ids: Sequence[str]) -> ShownComparison:
    """The comparison of exactly these runs, if there is one."""
    kept = engine().comparisons.of_runs(run_ids)
    return of_comparison(kept) if kept else ShownComparison(None, tuple(run_ids), None)


def show_columns(shown: ShownComparison, step: str) -> None:
    """`step`: the step of the last column to scroll to, NAME-ATTEMPT as in an address; or empty."""
    columns = _columns(shown)
    asked = _asked(columns) or ([shown.comparison.question] if shown.comparison else [])
    if len(asked) == 1:
        st.html(question_html(asked[0]))
    if any(each and each.live for each in columns):
        known = {each.run_id: each.events for each in columns if each and not each.live}
        _show_live(shown, known, defaultdict(dict))
    else:
        _show_past(shown)
    if columns[-1] and (named := STEP.fullmatch(step)):
        land_on(row_key(columns[-1].key, named[1], int(named[2])))


def _as_it_is_now(shown: ShownComparison) -> ShownComparison:
    """Includes columns that were asked again and votes, from this tab or another one."""
    if not shown.comparison:
        return of_runs([each for each in shown.run_ids if each])
    comparison = engine().comparisons.get(shown.comparison.id)
    return of_comparison(comparison) if comparison else shown


def _columns(shown: ShownComparison, known: Mapping[str, Sequence[Event]] | None = None) -> list[ShownColumn | None]:
    """None for runs that were deleted. `known`: events of finished runs, which need not be read again."""
    columns: list[ShownColumn | None] = []
    for number, run_id in enumerate(shown.run_ids):
        events = (known or {}).get(run_id) or engine().events(run_id) if run_id else ()
        run = engine().run(run_id) if run_id else None
        is_over = not events or isinstance(events[-1], RunFinished)
        columns.append(ShownColumn(number, run_id, events, None if is_over else run) if run_id and events else None)
    return columns


def _asked(columns: Sequence[ShownColumn | None]) -> list[str]:
    """The different questions of the columns."""
    return list(dict.fromkeys(understood_question(each.events) for each in columns if each))


def _differing(columns: Sequence[ShownColumn | None]) -> Differing:
    indexes = {each.started.index_id or each.started.index for each in columns if each}
    return Differing(questions=len(_asked(columns)) > 1, indexes=len(indexes) > 1)


@st.fragment(run_every=OFTEN)
def _show_live(shown: ShownComparison, known: Mapping[str, Sequence[Event]], cards: defaultdict[str, Cards]) -> None:
    """One fragment for all columns: one each would cost the server as many redraws, at different times.

    `cards`: by column, as in `show_live`.
    """
    shown = _as_it_is_now(shown)
    columns = _columns(shown, known)
    live = [each for each in columns if each and each.live]
    if not live:
        st.rerun()
    quiet = time.time() - max(each.live.changed_at for each in live if each.live)
    look_every(pace(quiet, engine().runs_in_flight), at_once=[each.live for each in live if each.live])
    _show_turns(live)
    differing = _differing(columns)
    for place, column in zip(_places(len(columns)), columns, strict=True):
        with place:
            if column and column.live:
                _show_live_column(column, column.live, cards[column.key], differing)
            else:
                _show_past_column(shown, column, differing)


def _show_turns(live: Sequence[ShownColumn]) -> None:
    waiting = [each for each in live if each.live and each.live.before]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="turns"):
        if len(live) > 1:
            st.button(f"■ {say('compare.stop_all')}", key="stop-all", on_click=partial(_stop, live))
        if waiting:
            working = [each for each in live if each not in waiting]
            st.caption(say("compare.turn", working=_names(working), waiting=_names(waiting)))


def _stop(columns: Sequence[ShownColumn]) -> None:
    for each in columns:
        if each.live:
            each.live.stop()


def _names(columns: Sequence[ShownColumn]) -> str:
    """A Naive, C Self-RAG"""
    named = (f"**{LETTERS[each.number]}** {say(f'pipeline.{each.started.pipeline}')}" for each in columns)
    return ", ".join(named) or "–"


def _show_live_column(column: ShownColumn, run: Run, cards: Cards, differing: Differing) -> None:
    now = seconds_so_far(run, column.events)
    _show_head(column, differing)
    if run.before:
        st.caption(counted("chat.queue", run.before))
    else:
        show_draft(column.events, column.key, cards)
        _show_trace(column, now)
    # A callback runs before the fragment is drawn again, so the click is not lost to the next refresh.
    st.button(f"■ {say('chat.stop')}", key=f"stop-{run.id}", on_click=run.stop)


def _show_head(column: ShownColumn, differing: Differing) -> None:
    index = asked_index(column.started) or column.started.index if differing.indexes else ""
    st.html(head_html(column.number, column.started, index=index))
    if differing.questions:
        st.html(question_html(understood_question(column.events)))


def _show_trace(column: ShownColumn, now: float) -> None:
    with st.expander(headline(column.events, now), expanded=True, key=f"trace-{column.key}"):
        show_graph(column.events, column.key, usual="drawn")
        show_rows(column.events, now, key=column.key, below=offer_change)


@st.fragment
def _show_past(drawn: ShownComparison) -> None:
    """A fragment, so that a vote does not redraw the page."""
    shown = _as_it_is_now(drawn)
    columns = _columns(shown)
    is_kept_now = shown.comparison and not drawn.comparison
    if is_kept_now or any(each and each.live for each in columns):
        st.rerun()
    differing = _differing(columns)
    for place, column in zip(_places(len(columns)), columns, strict=True):
        with place:
            _show_past_column(shown, column, differing)
    show_differences({each.number: each.events for each in columns if each})


def _show_past_column(shown: ShownComparison, column: ShownColumn | None, differing: Differing) -> None:
    if not column:
        st.info(say("compare.run_gone"))
        return
    last = column.events[-1]
    _show_head(column, differing)
    if not isinstance(last, RunFinished):  # its end could not be saved
        st.caption(say("status.stopped"))
        return
    show_end(last, column.events, column.key)
    _show_actions(shown, column, last)
    _show_trace(column, last.totals.until)


def _show_actions(shown: ShownComparison, column: ShownColumn, last: RunFinished) -> None:
    is_best = shown.best == column.run_id
    label = f"★ {say('compare.best')}" if is_best else f"☆ {say('compare.vote')}"
    with st.container(horizontal=True, gap="small"):
        st.button(
            label,
            key=f"vote-{column.run_id}",
            type="primary" if is_best else "secondary",
            on_click=run_as_callback,
            args=(_vote, shown, None if is_best else column.run_id),
        )
        if last.status != "finished" and shown.comparison and not column.started.is_fork:
            st.button(
                f"↻ {say('compare.again')}",
                key=f"again-{column.run_id}",
                on_click=run_as_callback,
                args=(_ask_again, shown.comparison.id, column.run_id),
            )


def _vote(shown: ShownComparison, run_id: str | None) -> None:
    run_ids = [each for each in shown.run_ids if each]
    comparison = _as_it_is_now(shown).comparison or engine().comparisons.keep(run_ids)
    engine().comparisons.vote(comparison.id, run_id)
    _lead_to(comparison.id)


def _ask_again(comparison_id: str, run_id: str) -> None:
    engine().comparisons.begin_again(comparison_id, run_id)
    _lead_to(comparison_id)


def _lead_to(comparison_id: str) -> None:
    """Changes an address of runs: it would no longer find the comparison when a column has another run."""
    if "runs" in st.query_params:
        st.query_params["c"] = comparison_id
        for each in ("runs", "step"):
            st.query_params.pop(each, None)


def _places(count: int) -> Sequence[DeltaGenerator]:
    with st.container(key=f"columns-{count}"):
        return st.columns(count, border=True)
