"""One question and its answer in a conversation: live during the run, folded afterwards."""

import time
from base64 import b64encode
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import streamlit as st

from pages.server.process import engine
from pages.widgets.answer.answer import Cards, show_answer
from pages.widgets.answer.status import show_answer_status, show_end_notes, show_not_loaded, show_unconfirmed
from pages.widgets.chat.conversation.shown import open_conversation
from pages.widgets.chat.pace import OFTEN, look_every, pace
from pages.widgets.chat.turn.actions import show_actions
from pages.widgets.chat.turn.why import offer_why
from pages.widgets.controls.fold import show_fold
from pages.widgets.controls.uploader import take_left
from pages.widgets.trace.fork.change import offer_change
from pages.widgets.trace.fork.origin import origin_html
from pages.widgets.trace.graph import show_graph
from pages.widgets.trace.panel import headline, seconds_so_far, show_rows
from pages.words.say import counted, say
from rag.runs.history.for_people.user_history import Traces
from rag.runs.history.history import PastRun
from rag.runs.run.run import Run
from rag.runs.run.summary import answer_so_far, cited_so_far
from rag.trace.events import Event, RunFinished, RunStarted

PICTURES = Path(__file__).parents[3] / "assets"


def _as_url(picture: Path) -> str:
    return f"data:image/svg+xml;base64,{b64encode(picture.read_bytes()).decode()}"


# URLs, because Streamlit would read a file again for every drawing.
ASSISTANT, USER = _as_url(PICTURES / "icon.svg"), _as_url(PICTURES / "user.svg")


def show_question(text: str) -> None:
    with st.chat_message("user", avatar=USER):
        st.html(f'<div class="question">{_lines(text)}</div>')


def show_stop(run: Run) -> None:
    """In `st.bottom`, because the answer grows and the page below it scrolls."""
    with st.container(key="stop"):
        # A callback runs before anything is drawn, so the press is not lost to a refresh of the answer.
        st.button(f"■ {say('chat.stop')}", key=f"stop-{run.id}", on_click=run.stop)


@st.fragment(run_every=OFTEN)
def show_live(run: Run, cards: Cards) -> None:
    """`cards`: empty at first. The fragment passes the same dictionary each time, so each passage is read once."""
    take_left()
    look_every(pace(time.time() - run.changed_at, engine().runs_in_flight), at_once=[run])
    events = run.events
    if isinstance(events[-1], RunFinished):
        st.rerun()
    now = seconds_so_far(run, events)
    with st.chat_message("assistant", avatar=ASSISTANT):
        if run.before:
            st.caption(counted("chat.queue", run.before))
        else:
            _draw_so_far(events, now, f"live-{run.id}", None, cards)  # the graph would push the answer out of view


def show_so_far(events: Sequence[Event], now: float, key: str, usual: str | None) -> None:
    """A run at one moment, live or in a playback. `now`: seconds since it began. `usual`: as in `show_graph`."""
    with st.chat_message("assistant", avatar=ASSISTANT):
        _draw_so_far(events, now, key, usual)


def _draw_so_far(events: Sequence[Event], now: float, key: str, usual: str | None, cards: Cards | None = None) -> None:
    with st.expander(headline(events, now), expanded=True, key=key):
        show_graph(events, key, usual=usual)
        show_rows(events, now, key=key)
    show_draft(events, key, cards)


def show_draft(events: Sequence[Event], key: str, cards: Cards | None = None) -> None:
    """`cards`: as in `answer_html`."""
    text, _ = answer_so_far(events)
    if not text:
        st.caption(say("chat.waiting"))
        return
    show_answer_status(events)
    show_answer(text, cited_so_far(events), engine().store, key, cards=cards)


@st.fragment
def show_past(
    run: PastRun,
    outline: Sequence[Event],
    *,
    is_open: bool = False,
    go_to: Callable[[str], object] | None = None,
    beneath: Callable[[], object] | None = None,
) -> None:
    """A fragment, so that opening a trace does not redraw the conversation. `is_open`, `go_to`: as in `show_answered`
    and `show_actions`. `beneath`: draws what is redrawn together with it, in place of a fold with the cause.
    """
    take_left()
    if isinstance(outline[-1], RunFinished):
        with st.chat_message("assistant", avatar=ASSISTANT):
            show_answered(run, outline, engine().history, is_open=is_open, is_changeable=True)
            show_actions(run, outline, go_to or open_conversation)
            if not beneath:
                offer_why(run.id)
        if beneath:
            beneath()


def show_answered(
    run: PastRun, outline: Sequence[Event], traces: Traces, *, is_open: bool = False, is_changeable: bool = False
) -> None:
    """Trace and answer of a finished run. `traces`: where its trace is read. `is_open`: whether the trace is open at
    first. `is_changeable`: whether its steps can be changed to run on from them.

    All events of the run are read only when the trace is opened.
    """
    last = outline[-1]
    if not isinstance(last, RunFinished):
        return
    if told := origin_html(next(each for each in outline if isinstance(each, RunStarted))):
        st.html(told)
    panel = show_fold(headline(outline, last.totals.seconds), f"trace-{run.id}", is_open)
    if panel.open:
        with panel:
            events = traces.events(run.id)
            if not events:  # it was deleted in another tab, or is no longer shared
                st.rerun()
            show_graph(events, f"past-{run.id}", usual="drawn")
            below = offer_change if is_changeable else None
            show_rows(events, last.totals.until, key=f"past-{run.id}", below=below, traces=traces)
    show_end(last, outline, f"past-{run.id}")


def show_end(last: RunFinished, events: Sequence[Event], key: str) -> None:
    """The answer of a run, and how the run ended. `events`: those of the run, or their outline."""
    if last.answer:
        show_answer_status(events)
        is_no_answer = last.outcome == "not_in_documents"
        show_answer(last.answer, last.citations, engine().store, key, is_no_answer=is_no_answer)
    show_end_notes(last)
    show_not_loaded(events)
    show_unconfirmed(last)


def _lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")
