"""What is chosen in the list of runs, in the address and in the session: filters, order and page.

The address keeps it through a reload, and for those who get a link. While the tab is open, the session counts, unless
the browser goes back or forward: see pages/widgets/chat/conversation/address.py.
"""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.widgets.controls.picker import fresh_key, renew
from pages.words import language

NAMES = ("q", "state", "why", "pipeline", "index", "order", "after")
"""of the parameters; a default is left out. `q`: the words; `after`: the last run of the page before"""

_FIELDS = "fields of the runs"
_CHOSEN = "chosen runs"


def follow_address() -> None:
    """Chooses what the address says, if the person has just come to it. Call it first."""
    context = get_script_run_ctx()
    if _CHOSEN not in st.session_state or (context and context.is_history_navigation):
        st.session_state[_CHOSEN] = _told()
        renew(_FIELDS)


def field(name: str) -> str:
    """The key of a field. It is another one when the address is followed: a field keeps its own value."""
    return f"{name} of the {fresh_key(_FIELDS)}"


def chosen(name: str) -> str:
    """Empty: the default."""
    kept: dict[str, str] = st.session_state[_CHOSEN]
    return kept.get(name, "")


def choose(**values: str) -> None:
    """Keeps these, in the address too, and no others."""
    st.session_state[_CHOSEN] = {name: value for name, value in values.items() if value}
    if _told() != st.session_state[_CHOSEN]:
        st.query_params.from_dict(list_address())  # at once: the browser has one step back for each change


def turn_to(after: str) -> None:
    choose(**{**st.session_state[_CHOSEN], "after": after})


def list_address() -> dict[str, str]:
    """Parameters of the address of the list as it was last shown."""
    return {**st.session_state[_CHOSEN], "lang": language()}


def _told() -> dict[str, str]:
    return {name: value for name in NAMES if (value := st.query_params.get(name))}
