"""Scrolls to the latest question when it is asked, and to the one that the address names, or else the latest, when a
conversation is opened. Another wording of a question takes the place of the one before. A new chat starts at its top.
Of a long question, such as a mail, only the end is in view, so that there is room for the answer.

Also gives the field for questions the focus back after an answer: it can't be used while a run is in flight, and so the
browser takes the focus from it.

Streamlit keeps the end of a page in view only if `st.chat_input` is alone below the page, not inside `st.bottom`.
"""

import streamlit as st

from pages.widgets.controls.script import show_script


def keep_in_view(conversation_id: str | None, running: str | None, sought: str | None) -> None:
    """Call this first, so that the element keeps its position in the page. `running`: the latest run, if it is in
    flight. `sought`: the run that the address names.
    """
    with st.container(key="in-view"):
        show_script("keep_in_view", conversation=conversation_id or "", running=running or "", sought=sought or "")
