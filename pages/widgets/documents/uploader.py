"""Dropped files: takes each one once, and writes it to disk."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from index_store.ingestion.sources import keep_uploads
from index_store.parsing.loaders.formats import LOADABLE
from pages.process import engine
from pages.widgets.errors import run_or_show_error
from pages.words import say

PLACES = ("page", "sidebar")
"""tell the uploaders of the app apart"""


def show_uploader(index: str, place: str) -> None:
    """`place`: one of PLACES.

    The uploader is never made anew to empty it: a file that is dropped while others are being taken would go with the
    old one. What was taken is remembered, and hidden by the style sheet.
    """
    dropped = st.file_uploader(
        say("sidebar.add_documents"),
        accept_multiple_files=True,
        key=_key(place),
        help=say("sidebar.upload_help", kinds=", ".join(sorted(LOADABLE))),
        label_visibility="visible" if place == "sidebar" else "collapsed",
    )
    if (files := _left(dropped)) and run_or_show_error(take, files, index):
        st.rerun()


def take_left() -> None:
    """To be called by each fragment: of two changes that fall together the browser tells by one run, which may be a
    fragment's alone. A file that came with a change within a fragment would not be looked at until the next one.
    """
    context = get_script_run_ctx()
    is_fragment = context is not None and bool(context.fragment_ids_this_run)
    if is_fragment and any(_left(st.session_state.get(_key(place)) or ()) for place in PLACES):
        st.rerun()


def take(files: Sequence[UploadedFile], index: str, name: str | None = None) -> None:
    """Adds them to the index, and moves them out of the server's memory. `name`: the document's, where it isn't the
    file's. Raises StoreFailed.
    """
    # First: Streamlit may end a run wherever it is asked for something, and the files would be taken twice.
    taken = _taken()
    kept = keep_uploads(engine().settings.data_dir, [(file.name, file) for file in files])
    engine().store.ingest(index, [replace(each, name=name) for each in kept] if name else kept)
    taken.update(file.file_id for file in files)
    release(files)


def release(files: Sequence[UploadedFile]) -> None:
    """From the server's memory, where Streamlit would keep them for as long as the page stays open."""
    context = get_script_run_ctx()
    if context and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        for file in files:
            context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)


def _key(place: str) -> str:
    return f"uploader {place}"


def _left(files: Sequence[UploadedFile]) -> list[UploadedFile]:
    """Those that were not taken yet."""
    taken = _taken()
    return [each for each in files if each.file_id not in taken]


def _taken() -> set[str]:
    taken: set[str] = st.session_state.setdefault("taken files", set())
    return taken
