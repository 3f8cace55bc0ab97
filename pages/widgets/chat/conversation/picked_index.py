"""The index that is picked for the next question of the conversation on the page."""

import streamlit as st

from pages.widgets.controls.picker import renew

OPENED = "conversation of the picker"
"""in the session: the conversation that was on the page when the index was last looked at"""


def pick_index_of(conversation_id: str | None, asked: str | None) -> None:
    """When another conversation is opened, picks the index that it asked last. What a person picks later stays picked.
    `asked`: None if there is no such index.
    """
    is_opened = conversation_id != st.session_state.get(OPENED)
    if is_opened and asked and asked != st.session_state.get("picked_index"):
        st.session_state.picked_index = asked
        renew("index")
    st.session_state[OPENED] = conversation_id  # last: if another request ends this one, the next one picks the index
