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

    `set_picked(name, value)` lets it show another one.
    """
    chosen = st.session_state.get(_kept(name), default)
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
    st.session_state[_kept(name)] = picked
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
        value=st.session_state.get(_kept(name)),
        step=step,
        format="%.1f",
        placeholder=usual,
        help=help_text,
        key=key,
        on_change=_keep,
        args=(name, key),
    )
    st.session_state[_kept(name)] = picked
    return picked


def _keep(name: str, key: str) -> None:
    """Before the page is drawn: if a text has changed since it was last drawn, the field now has another key."""
    st.session_state[_kept(name)] = st.session_state[key]


def picked_in(name: str) -> str | None:
    """What was picked last; None if nothing was."""
    chosen: str | None = st.session_state.get(_kept(name))
    return chosen


def set_picked(name: str, value: str) -> None:
    """Picks it for the reader."""
    if picked_in(name) != value:
        st.session_state[_kept(name)] = value
        renew(name)


def forget_picked(name: str) -> None:
    st.session_state.pop(_kept(name), None)


def _kept(name: str) -> str:
    """The key in the session. The picker's own lasts only until a page is drawn without it."""
    return f"picked_{name}"


def fresh_key(name: str) -> str:
    """The key of a widget that `renew` creates again: closed or empty."""
    return f"{name}-{st.session_state.get(f'turn of {name}', 0)}"


def renew(name: str) -> None:
    st.session_state[f"turn of {name}"] = st.session_state.get(f"turn of {name}", 0) + 1
