"""Shows one thing of a list from its top, and the list again at the place where it was left."""

import streamlit as st

from pages.widgets.controls.script import show_script


def begin_at_top(shown: str, of: str = "") -> None:
    """Call it first, so that the element keeps its position in the page. `shown`: the id of what is shown; empty for
    the list. `of`: the name of the list, which begins where it was left for one of its things.
    """
    with st.container(key="top"):
        show_script("begin_at_top", list=of, shown=shown)
