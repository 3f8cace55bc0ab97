"""Tells screen readers that an answer is being written, and how it ended."""

from collections.abc import Sequence

import streamlit as st

from pages.widgets.controls.script import show_script
from pages.words.say import say
from rag.runs.history.history import RunOutline
from rag.trace.events import RunFinished

TOLD = "run that was told of"
"""in the session: the latest run that was in flight while it was on the page"""


def announce(running: str | None, outlines: Sequence[RunOutline]) -> None:
    """`running`: the run in flight, if there is one; `outlines`: of the runs on the page."""
    if running:
        st.session_state[TOLD] = running
    ends = [events[-1] for run, events in outlines if run.id == st.session_state.get(TOLD)]
    with st.container(key="announced"):
        words = say("chat.told_running") if running else "".join(map(_words_of, ends))
        show_script("announce", announced=words)


def _words_of(end: object) -> str:
    if not isinstance(end, RunFinished):
        return ""
    match end.status:
        case "finished":
            return say("chat.told_finished")
        case "stopped":
            return say("chat.told_stopped")
        case _:
            return say("chat.told_failed")
