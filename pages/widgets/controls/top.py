"""Shows one thing of a list from its top: the browser would keep the place to which the list was scrolled."""

from html import escape

import streamlit as st

TO_TOP = """<script>
document.querySelector("[data-testid=stMain]").scrollTo(0, 0);
</script>"""
"""Runs when its element is added, or names another thing."""


def begin_at_top(shown: str) -> None:
    """Call it first, so that the element keeps its position in the page. `shown`: the id of what is shown."""
    with st.container(key="top"):
        st.html(f'<i data-shown="{escape(shown)}"></i>{TO_TOP}', unsafe_allow_javascript=True)
