"""The index that is picked: one for all pages, so that each shows the index that another has shown."""

from typing import Literal

import streamlit as st

from index_store.access.gate import unknown
from index_store.base.errors import PlainError
from index_store.catalogue.records import Index
from pages.widgets.controls.picker import forget_picked, pick, picked_in, renew, set_picked
from pages.widgets.controls.uploader import leave_dropped

PICKER = "index"

OF_THE_PICKED = MANAGE, ACCESS, DELETE = "manage index", "access", "delete index"
"""the popovers about the picked index"""

OPENED = "conversation of the picker"
"""in the session: the conversation that was on the page when the index was last looked at"""


def show_index_picker(
    title: str, labels: dict[str, str], default: str, label_visibility: Literal["visible", "collapsed"] = "collapsed"
) -> str:
    """Returns the picked index. `labels`: by name; `default`: the name that is picked at first."""
    return pick(PICKER, title, labels, default, label_visibility)


def picked_index() -> str | None:
    """Its name. None if there was nothing to pick yet."""
    return picked_in(PICKER)


def pick_index(name: str) -> None:
    """Picks it for the reader, on all pages."""
    set_picked(PICKER, name)


def forget_picked_index() -> None:
    """Each page then picks its default."""
    forget_picked(PICKER)


def pick_index_of(conversation_id: str | None, asked: str | None) -> None:
    """When another conversation is opened, picks the index that it asked last. What a person picks later stays picked.
    `asked`: None if there is no such index.
    """
    is_opened = conversation_id != st.session_state.get(OPENED)
    if is_opened and asked:
        pick_index(asked)
    st.session_state[OPENED] = conversation_id  # last: if another request ends this one, the next one picks the index


def picked_index_gone(indexes: dict[str, Index]) -> PlainError | None:
    """The error if another tab has renamed or deleted the picked index, or the reader may not read it any more. Then
    another one is shown, or the one that their first document would make, and what was sent with this run was not meant
    for it: dropped files are not taken, and open popovers about it are closed.
    """
    named = picked_index()
    if named is None or named in indexes:
        return None
    forget_picked_index()
    leave_dropped()
    for popover in OF_THE_PICKED:
        renew(popover)
    return unknown(named, list(indexes))
