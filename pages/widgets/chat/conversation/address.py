"""The address of what the chat shows: a conversation (?c=) and a run of its branch (?b=).

The address keeps both through a reload. While the chat is open, the session counts, unless the browser goes back or
forward: the refresh of a fragment, or a press, may still be on its way with the previous address.
"""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.widgets.chat.conversation.shown import chosen_branch, opened_conversation, show
from pages.words.reader import language

IS_OPEN = "chat is open"
"""in the session: whether the page that was drawn last is the chat"""


def follow_conversation(*, is_chat: bool) -> None:
    """Opens what the address names if the person has just come to it: with the browser's Back and Forward, or to the
    chat by a link or in a new tab. A link without a conversation leaves open what was open. Call it on every page.
    """
    context = get_script_run_ctx()
    goes_back = context is not None and context.is_history_navigation
    named = st.query_params.get("c")
    if is_chat and (goes_back or (named and not st.session_state.get(IS_OPEN))):
        show(named, st.query_params.get("b"))
    st.session_state[IS_OPEN] = is_chat  # last: if another request ends this one, the next one follows the address


def chat_address() -> dict[str, str]:
    """Parameters of the address at which the chat shows what it shows now."""
    shown = {"c": opened_conversation(), "b": chosen_branch(), "lang": language()}
    return {name: value for name, value in shown.items() if value}
