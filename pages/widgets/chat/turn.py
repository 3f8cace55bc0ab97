"""One question and its answer in a conversation: live while its run goes on, folded when it is over."""

import time
from collections.abc import Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Literal

import streamlit as st

from pages.process import engine, person
from pages.widgets.chat.answer import show_answer
from pages.widgets.chat.answer_status import show_answer_status, show_unconfirmed
from pages.widgets.chat.pace import OFTEN, look_every, pace
from pages.widgets.chat.share import show_share
from pages.widgets.documents.uploader import take_left
from pages.widgets.errors import run_as_callback, run_or_show_error, show_error
from pages.widgets.picker import fresh_key, renew
from pages.widgets.trace.graph import show_graph
from pages.widgets.trace.panel import headline, show_rows
from pages.words import counted, say
from rag.pipelines import PIPELINES
from rag.runs.history import PastRun
from rag.runs.run import Run
from rag.runs.summary import answer_so_far, cited_so_far
from rag.trace.events import Event, RunFinished, RunStarted

PICTURES = Path(__file__).parents[2]
ASSISTANT, USER = PICTURES / "icon.svg", PICTURES / "user.svg"


def show_question(text: str) -> None:
    with st.chat_message("user", avatar=str(USER)):
        st.html(f'<div class="question">{_lines(text)}</div>')


@st.fragment(run_every=OFTEN)
def show_live(run: Run) -> None:
    take_left()
    events = run.events
    if isinstance(events[-1], RunFinished):
        st.rerun()
    look_every(pace(time.time() - run.changed_at, engine().runs_in_flight))
    now = time.time() - run.begun_at
    with st.chat_message("assistant", avatar=str(ASSISTANT)):
        if run.before:
            st.caption(counted("chat.queue", run.before))
        else:
            with st.expander(headline(events, now), expanded=True, key=f"live-{run.id}"):
                show_graph(events, f"live-{run.id}", usual=None)  # it would push the answer out of sight
                show_rows(events, now, key=f"live-{run.id}")
            _show_draft(events, f"live-{run.id}")
        # A callback runs before the fragment is drawn again, so the click is not lost to the next refresh.
        st.button(f"■ {say('chat.stop')}", key=f"stop-{run.id}", on_click=run.stop)


def _show_draft(events: Sequence[Event], key: str) -> None:
    text, _ = answer_so_far(events)
    if not text:
        st.caption(say("chat.waiting"))
        return
    show_answer_status(events)
    show_answer(text, cited_so_far(events), engine().store, key)


@st.fragment
def show_past(run: PastRun, outline: Sequence[Event]) -> None:
    """The fragment keeps opening a trace from redrawing the conversation. Only then are all events of the run read."""
    take_left()
    if isinstance(outline[-1], RunFinished):
        with st.chat_message("assistant", avatar=str(ASSISTANT)):
            show_answered(run, outline)
            _show_actions(run, outline)


def show_answered(run: PastRun, outline: Sequence[Event]) -> None:
    """Trace and answer of a run that is over, with nothing that changes it."""
    last = outline[-1]
    if isinstance(last, RunFinished):
        panel = st.expander(headline(outline, last.totals.seconds), key=f"trace-{run.id}", on_change="rerun")
        if panel.open:
            with panel:
                events = engine().history.events(run.id)
                show_graph(events, f"past-{run.id}", usual="drawn")
                show_rows(events, last.totals.seconds, key=f"past-{run.id}")
        if last.answer:
            show_answer_status(outline)
            is_no_answer = last.outcome == "not_in_documents"
            show_answer(last.answer, last.citations, engine().store, f"past-{run.id}", is_no_answer=is_no_answer)
        _show_ending(last)


def _show_ending(last: RunFinished) -> None:
    if last.error:
        show_error(last.error)
    elif last.status == "stopped":
        st.caption(say("chat.stopped"))
    elif last.outcome in ("unconfirmed", "not_in_documents", "from_model"):
        st.info(say(f"outcome.{last.outcome}_note"))
    show_unconfirmed(last)


def _show_actions(run: PastRun, outline: Sequence[Event]) -> None:
    started = _started(outline)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        key = f"feedback-{run.id}"
        st.feedback(
            "thumbs",
            key=key,
            default=None if run.feedback is None else int(run.feedback == 1),
            on_change=lambda: run_as_callback(engine().history.rate, run.id, _thumb(st.session_state[key])),
        )
        if st.button(f"↻ {say('chat.again')}", key=f"again-{run.id}", type="tertiary"):
            _ask_again(run, started, run.pipeline)
        others = f"others-{run.id}"
        with st.popover(say("chat.with_another"), key=fresh_key(others), type="tertiary"):
            for name in PIPELINES:
                label = say(f"pipeline.{name}")
                if name != run.pipeline and st.button(label, key=f"again-{run.id}-{name}", type="tertiary"):
                    renew(others)
                    _ask_again(run, started, name)
        show_share(run.id, run.question, "share.help_run")


def _ask_again(run: PastRun, started: RunStarted, pipeline: str) -> None:
    again = partial(
        engine().ask,
        run.question,
        index=run.index,
        pipeline_name=pipeline,
        conversation_id=run.conversation_id,
        retrieval=started.retrieval,
        style=started.style,
        person=person(),
    )
    if run_or_show_error(again):  # a question of before may be longer than is taken today
        st.rerun()


def _started(events: Sequence[Event]) -> RunStarted:
    return next(each for each in events if isinstance(each, RunStarted))


def _thumb(chosen: int | None) -> Literal[-1, 1] | None:
    return None if chosen is None else 1 if chosen else -1


def _lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")
