"""Shows the start of the embedded model."""

import time

import streamlit as st

from pages.server.process import engine
from pages.widgets.controls.uploader import take_left
from pages.words.say import say


def show_start() -> None:
    """Shows nothing unless an embedded model is starting before the first question."""
    if engine().preload.since is not None:
        _show_start()


@st.fragment(run_every=1.0)
def _show_start() -> None:
    take_left()
    since = engine().preload.since
    if since is None:
        st.rerun()
    st.caption(say("chat.starting_model", seconds=round(time.monotonic() - since)))
