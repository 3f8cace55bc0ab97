"""Compare: one question through several pipelines side by side, or past runs, with their differences."""

import streamlit as st

from index_store.base.errors import PlainError
from pages.server.process import engine
from pages.widgets.compare.columns import of_comparison, of_runs, show_columns
from pages.widgets.compare.form import show_form, show_latest
from pages.widgets.controls.address import tell_address
from pages.widgets.controls.errors import run_or_show_error, show_error
from pages.widgets.controls.other_page import show_link_to
from pages.widgets.controls.top import begin_at_top
from pages.words.say import say
from rag.runs.history.conversations.comparison import LEAST_COLUMNS, MOST_COLUMNS, Comparison


def show_page() -> None:
    tell_address()
    st.header(say("app.compare"), anchor=False)
    if "runs" in st.query_params:
        if show_runs(st.query_params["runs"]):
            return
    elif named := st.query_params.get("c"):
        comparison = engine().comparisons.get(named)
        if comparison:
            show_comparison(comparison)
            return
        st.warning(say("compare.unknown"))
    show_form(None)
    show_latest()


def show_comparison(comparison: Comparison) -> None:
    begin_at_top(comparison.id)
    show_way_back()
    show_columns(of_comparison(comparison), step="")
    with st.popover(say("compare.delete"), type="tertiary"):
        st.caption(say("compare.delete_help"))
        if st.button(say("compare.delete_really"), type="primary", key="danger-delete-comparison") and (
            run_or_show_error(engine().delete_conversation, comparison.id)
        ):
            st.query_params.pop("c", None)
            st.rerun()


def show_runs(named: str) -> bool:
    """Returns whether any of them exists. `named`: ids, separated by commas."""
    wanted = list(dict.fromkeys(each.strip() for each in named.split(",") if each.strip()))
    found = [each for each in wanted[: MOST_COLUMNS * 2] if engine().history.run(each)]
    if len(found) < len(wanted[: MOST_COLUMNS * 2]) or not found:
        st.warning(say("compare.runs_gone"))
    if len(found) > MOST_COLUMNS:
        st.warning(say("compare.too_many", most=MOST_COLUMNS))
    if not found:
        return False
    if len(found) < LEAST_COLUMNS:
        show_form(found[0])
    else:
        show_way_back()
        show_columns(of_runs(found[:MOST_COLUMNS]), step=st.query_params.get("step", ""))
    return True


def show_way_back() -> None:
    show_link_to("compare.py", f"+ {say('compare.new')}")


with st.container(key="compare-page"):
    try:
        show_page()
    except PlainError as error:
        show_error(error)
