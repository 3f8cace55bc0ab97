"""A choice among names or of a number that survives a change of its texts, and a popover that code can close."""

from typing import Literal

import streamlit as st


def pick(
    name: str,
    title: str,
    labels: dict[str, str],
    default: str,
    label_visibility: Literal["visible", "collapsed"] = "collapsed",
) -> str:
    """A picker that keeps its choice when its texts change, for example with the language. Streamlit's own loses it.

    `renew(name)` lets it show what the session says.
    """
    chosen = st.session_state.get(f"picked_{name}", default)
    names = list(labels)
    key = f"{fresh_key(name)}: {', '.join(labels.values())}"
    picked = st.selectbox(
        title,
        names,
        index=names.index(chosen if chosen in labels else default),
        format_func=labels.__getitem__,
        key=key,
        label_visibility=label_visibility,
        on_change=_keep,
        args=(name, key),
    )
    st.session_state[f"picked_{name}"] = picked
    return picked


def pick_number(
    name: str, title: str, bounds: tuple[float, float], *, step: float, usual: str, help_text: str
) -> float | None:
    """The same for a number; None if the field is empty. `usual`: the value that is then used."""
    least, most = bounds
    key = f"{name}: {title}"
    picked: float | None = st.number_input(
        title,
        least,
        most,
        value=st.session_state.get(f"picked_{name}"),
        step=step,
        format="%.1f",
        placeholder=usual,
        help=help_text,
        key=key,
        on_change=_keep,
        args=(name, key),
    )
    st.session_state[f"picked_{name}"] = picked
    return picked


def _keep(name: str, key: str) -> None:
    """Before the page is drawn: if a text has changed since it was last drawn, the field now has another key."""
    st.session_state[f"picked_{name}"] = st.session_state[key]


def fresh_key(name: str) -> str:
    """The key of a widget that `renew` creates again: closed or empty."""
    return f"{name}-{st.session_state.get(f'turn of {name}', 0)}"


def renew(name: str) -> None:
    st.session_state[f"turn of {name}"] = st.session_state.get(f"turn of {name}", 0) + 1
