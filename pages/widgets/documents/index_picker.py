"""Chooses the index of a page; creates, renames, re-indexes and deletes indexes.

The key of each button names the index: a press on a page that shows an index which is gone must not reach the one that
is shown in its place.
"""

import unicodedata
from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from index_store.access.rights import Right
from index_store.catalogue.records import Index
from pages.server.process import engine
from pages.server.settings import server_settings
from pages.widgets.controls.errors import run_or_show_error
from pages.widgets.controls.picker import fresh_key, renew
from pages.widgets.documents.access import show_access
from pages.widgets.documents.document_list import DOCUMENT_LIST
from pages.widgets.index.label import index_label, size
from pages.widgets.index.picked_index import (
    ACCESS,
    DELETE,
    MANAGE,
    forget_picked_index,
    pick_index,
    show_index_picker,
)
from pages.widgets.index.rights import right_to
from pages.words.names import plain
from pages.words.say import counted, say

NEW = "new index"


def show_indexes(indexes: dict[str, Index]) -> Index | None:
    """The picker, and the actions on the picked index. Returns None if there is no index."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="indexes"):
        index = _choose(indexes) if indexes else None
        if engine().store.may_create_indexes:
            with _popover(NEW, say("index.new")):
                _show_new()
        right = right_to(index.name) if index else None
        if index and right and right >= Right.WRITE:
            with _popover(MANAGE, say("index.manage")):
                if right >= Right.MANAGE:
                    _show_rename(index)
                _show_glossary(index)
                _show_reindex(index)
        if index and right == Right.MANAGE:
            if server_settings().auth != "none":
                with _popover(ACCESS, say("access.title")):
                    show_access(index.name)
            with _popover(DELETE, say("index.delete")):
                _show_delete(index)
    return index


def _choose(indexes: dict[str, Index]) -> Index:
    labels = {name: index_label(index) for name, index in indexes.items()}
    name = show_index_picker(say("index.index"), labels, next(iter(labels)))
    if name == DOCUMENT_LIST.value("index"):
        DOCUMENT_LIST.choose(**DOCUMENT_LIST.values)
    else:
        DOCUMENT_LIST.start_with(index=name)
    return indexes[name]


def _popover(name: str, label: str) -> DeltaGenerator:
    return st.popover(label, key=fresh_key(name))


def _show_new() -> None:
    with st.form("new index form", border=False):
        name = _name_field(f"name of {fresh_key(NEW)}")
        is_asked = st.form_submit_button(say("index.create"), type="primary", key="create-index")
    if is_asked:
        _change(NEW, name, lambda: engine().store.create_index(name))


def _name_field(key: str, value: str = "") -> str:
    return unicodedata.normalize("NFC", st.text_input(say("index.name"), value, key=key)).strip()


def _show_rename(index: Index) -> None:
    with st.form(f"rename form of {index.name}", border=False):
        name = _name_field(f"rename of {index.name}", index.name)
        is_asked = st.form_submit_button(say("index.rename"), key=f"rename index {index.name}")
    if is_asked:
        _change(MANAGE, name, lambda: engine().store.rename_index(index.name, name))


def _show_glossary(index: Index) -> None:
    key, kept = f"glossary of {index.name}", engine().store.glossary(index.name)
    before: str = st.session_state.get(f"kept {key}", kept)
    if key not in st.session_state:
        st.session_state[key] = kept
    elif kept != before:  # somebody else has saved it: the field would not show this, and the next save take it back
        st.session_state[key] = both_changes(before, st.session_state[key], kept)
    st.session_state[f"kept {key}"] = kept
    glossary = st.text_area(say("index.glossary"), height=110, key=key)
    st.caption(say("index.glossary_help"))
    if st.button(say("index.glossary_save"), key=f"save glossary of {index.name}"):
        with st.spinner(say("index.glossary_saving")):
            _change(MANAGE, index.name, lambda: engine().store.set_glossary(index.name, glossary))


def both_changes(before: str, typed: str, kept: str) -> str:
    """A glossary with what a person has changed and not saved, and with what somebody else has saved meanwhile.
    `before`: what both began with.
    """
    old, mine, theirs = (set(each.splitlines()) for each in (before, typed, kept))
    stay = [term for term in kept.splitlines() if term in mine or term not in old]
    return "\n".join([*stay, *(term for term in typed.splitlines() if term not in theirs and term not in old)])


def _show_reindex(index: Index) -> None:
    st.caption(say("index.reindex_help", model=plain(index.embedding_model)))
    if st.button(say("index.reindex"), key=f"reindex {index.name}"):
        _change(MANAGE, index.name, lambda: engine().store.reindex(index.name))


def _show_delete(index: Index) -> None:
    documents = counted("index.documents", size(index))
    st.caption(say("index.delete_help", name=plain(index.name), documents=documents))
    if st.button(say("index.delete_really"), type="primary", key=f"danger-delete-index {index.name}"):
        _change(DELETE, None, lambda: engine().store.delete_index(index.name))


def _change(popover: str, picked: str | None, work: Callable[[], object]) -> None:
    """Does the work and closes the popover. An error is shown in the popover."""
    if not run_or_show_error(work):
        return
    if picked is None:
        forget_picked_index()
        DOCUMENT_LIST.start_with()
    else:
        pick_index(picked)
    renew(popover)
    st.rerun()
