"""Dropped files: takes each one once, and writes it to disk."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from index_store.base.errors import PlainError
from index_store.ingestion.sources import FileSource, keep_uploads
from index_store.parsing.loaders.formats import LOADABLE
from pages.server.process import engine
from pages.server.streamlit_fixes.messages import BEGUN_FOR, UPLOADS_FOR
from pages.widgets.controls.errors import run_or_show_error
from pages.words.say import say

PLACES = ("page", "sidebar")
"""keys of the app's uploaders"""


def show_uploader(index: str, place: str) -> None:
    """`place`: one of PLACES.

    The uploader is never created again to empty it: a file that is dropped while others are being taken would be lost.
    The files that were taken are remembered, and the style sheet hides them.
    """
    begun: dict[str, str] = st.session_state.setdefault(BEGUN_FOR, {})
    st.session_state[UPLOADS_FOR] = index
    dropped = st.file_uploader(
        say("sidebar.add_documents"),
        accept_multiple_files=True,
        key=_key(place),
        help=say("sidebar.upload_help", kinds=", ".join(sorted(LOADABLE))),
        label_visibility="visible" if place == "sidebar" else "collapsed",
    )
    if (files := _left(dropped)) and run_or_show_error(_take_each, files, index, begun):
        st.rerun()


def _take_each(files: Sequence[UploadedFile], index: str, begun: dict[str, str]) -> None:
    """Adds each to the index that was picked when it was dropped; to `index` if that is not known."""
    together: defaultdict[str, list[UploadedFile]] = defaultdict(list)
    for file in files:
        together[begun.get(file.file_id, index)].append(file)
    for name, each in together.items():
        try:
            if name != index:
                engine().store.right(name)  # raises UnknownIndex; `ingest` would create the index
        except PlainError:
            _taken().update(file.file_id for file in each)
            release(each)
            raise
        take(each, name)


def take_left() -> None:
    """Each fragment that has widgets must call this, if its page has an uploader. Streamlit's browser code sends the
    changes of one moment together (`scheduleFlush`), and if one of them is in a fragment, only that is run. Otherwise a
    file that came with such a change would wait until the next run.
    """
    context = get_script_run_ctx()
    is_fragment = context is not None and bool(context.fragment_ids_this_run)
    if is_fragment and any(_left(st.session_state.get(_key(place)) or ()) for place in PLACES):
        st.rerun()


def leave_dropped() -> None:
    """Takes none of the files that were dropped and are not taken yet."""
    for place in PLACES:
        files = _left(st.session_state.get(_key(place)) or ())
        _taken().update(file.file_id for file in files)
        release(files)


def take(files: Sequence[UploadedFile], index: str, name: str | None = None) -> None:
    """Adds the files to the index and removes them from the server's memory. `name`: name of the document if it differs
    from the file's. Raises StoreFailed.
    """
    # First, because Streamlit may end a run at any of its calls, and the files would be taken twice.
    taken = _taken()
    kept = keep(files)
    engine().store.ingest(index, [replace(each, name=name) for each in kept] if name else kept)
    taken.update(file.file_id for file in files)
    release(files)


def keep(files: Sequence[UploadedFile]) -> list[FileSource]:
    """Writes all of these files to disk, or none. Raises StoreFailed.

    Browsers send a quotation mark in a name as %22, and a per cent sign as it is.
    """
    return keep_uploads(engine().settings.data_dir, [(file.name.replace("%22", '"'), file) for file in files])


def release(files: Sequence[UploadedFile]) -> None:
    """Removes them from the server's memory. Streamlit would keep them as long as the page is open."""
    context = get_script_run_ctx()
    if context and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        for file in files:
            context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)


def forget_left() -> None:
    """Frees the memory of the files of a page that was left before it took them: nothing will take them any more."""
    context = get_script_run_ctx()
    if context and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        context.uploaded_file_mgr.remove_session_files(context.session_id)


def _key(place: str) -> str:
    return f"uploader {place}"


def _left(files: Sequence[UploadedFile]) -> list[UploadedFile]:
    """The files that are not taken yet."""
    taken = _taken()
    return [each for each in files if each.file_id not in taken]


def _taken() -> set[str]:
    taken: set[str] = st.session_state.setdefault("taken files", set())
    return taken
