"""Files that people drop: each is taken once, and put on disk."""

from dataclasses import replace

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from index_store import FileSource, uploads
from index_store.loaders import KINDS
from pages.process import engine
from pages.widgets.picker import fresh_key, renew
from pages.words import say


def show_uploader(index: str, place: str) -> None:
    """`place` tells the uploaders of the app apart."""
    files = st.file_uploader(
        say("sidebar.add_documents"),
        accept_multiple_files=True,
        key=fresh_key(f"uploader {place}"),
        help=say("sidebar.upload_help", kinds=", ".join(sorted(KINDS))),
        label_visibility="visible" if place == "sidebar" else "collapsed",
    )
    if files:
        engine().store.ingest(index, take(files))
        renew(f"uploader {place}")
        st.rerun()


def take(files: list[UploadedFile], name: str | None = None) -> list[FileSource]:
    """Moves them out of the server's memory. `name`: the document's, where it isn't the file's."""
    return [_take(file, name) for file in files]


def _take(file: UploadedFile, name: str | None) -> FileSource:
    kept = uploads.keep(engine().settings.data_dir, file.name, file)
    # Streamlit would keep it in memory for as long as the page stays open.
    if context := get_script_run_ctx():
        context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)
    return replace(kept, name=name) if name else kept
