"""A choice among names that outlives its words, and a popover that its own button can close."""

from typing import Literal

import streamlit as st


def pick(
    name: str,
    title: str,
    labels: dict[str, str],
    default: str,
    label_visibility: Literal["visible", "collapsed"] = "collapsed",
) -> str:
    """A picker that keeps its choice when its words change, with the language or a count; Streamlit's own loses it."""
    chosen = st.session_state.get(f"picked_{name}", default)
    names = list(labels)
    picked = st.selectbox(
        title,
        names,
        index=names.index(chosen if chosen in labels else default),
        format_func=labels.__getitem__,
        key=f"{name}: {', '.join(labels.values())}",
        label_visibility=label_visibility,
    )
    st.session_state[f"picked_{name}"] = picked
    return picked


def fresh_key(name: str) -> str:
    """Of a widget that `renew` makes anew: closed, or empty."""
    return f"{name}-{st.session_state.get(f'turn of {name}', 0)}"


def renew(name: str) -> None:
    st.session_state[f"turn of {name}"] = st.session_state.get(f"turn of {name}", 0) + 1
