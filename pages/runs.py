"""Runs: all past questions, to find, read, play back, ask again and compare."""

import streamlit as st

from pages.widgets.controls.top import begin_at_top
from pages.widgets.runs.one_run import show_run
from pages.widgets.runs.run_list import RUN_LIST
from pages.widgets.runs.table import show_table
from pages.words.say import say


def current_run() -> str | None:
    """The run in the address, unless one was opened just now."""
    if opened := st.session_state.pop("opened run", None):
        st.query_params["run"] = opened
    return st.query_params.get("run")


RUN_LIST.follow_address()
with st.container(key="runs-page"):
    if run_id := current_run():
        RUN_LIST.leave()
        show_run(run_id)
    else:
        begin_at_top("", of="runs")
        st.header(say("app.runs"), anchor=False)
        show_table()
