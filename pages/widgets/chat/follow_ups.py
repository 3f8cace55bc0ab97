"""Suggested questions below the last answer: one press asks one of them."""

from collections.abc import Sequence

import streamlit as st

from pages.server.process import engine
from pages.widgets.chat.ask import ask_like
from pages.widgets.chat.conversation.shown import open_conversation
from pages.widgets.chat.pace import OFTEN, stop_looking
from pages.widgets.controls.errors import run_or_show_error
from pages.widgets.controls.uploader import take_left
from pages.words.names import plain
from pages.words.say import say
from rag.runs.history.history import PastRun
from rag.trace.events import Event


def show_follow_ups(run: PastRun, events: Sequence[Event]) -> None:
    """The suggestions of the run; each is asked with the run's settings. Shows nothing until they are there."""
    if engine().suggestions.are_coming(run.id):
        _wait_for(run, events)
    else:
        _show(run, events)


@st.fragment(run_every=OFTEN)
def _wait_for(run: PastRun, events: Sequence[Event]) -> None:
    take_left()
    if not engine().suggestions.are_coming(run.id):
        stop_looking()
        _show(run, events)


def _show(run: PastRun, events: Sequence[Event]) -> None:
    questions = engine().suggestions.after(run.id)
    if not questions:
        return
    with st.container(key="follow-ups", gap="xsmall"):
        st.caption(say("chat.follow_ups"))
        for number, question in enumerate(questions):
            if st.button(plain(question), key=f"follow-up-{run.id}-{number}", width="stretch"):
                run_or_show_error(_ask, run, events, question)


def _ask(run: PastRun, events: Sequence[Event], question: str) -> None:
    open_conversation(ask_like(run, events, question).conversation_id)
