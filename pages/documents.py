"""The documents of an index: add, watch, inspect and remove them."""

import streamlit as st

from index_store.base.errors import DocumentGone
from index_store.catalogue.records import Index
from pages import samples
from pages.server.process import engine
from pages.widgets.controls.errors import show_warning
from pages.widgets.controls.top import begin_at_top
from pages.widgets.documents.add_form import show_adding, show_samples_button
from pages.widgets.documents.document import show_document
from pages.widgets.documents.document_list import DOCUMENT_LIST
from pages.widgets.documents.index_picker import show_indexes
from pages.widgets.documents.jobs import jobs, show_jobs
from pages.widgets.documents.sites import show_sites
from pages.widgets.documents.table import show_table
from pages.widgets.index.label import size
from pages.widgets.index.picked_index import pick_index, picked_index_gone
from pages.widgets.index.rights import may_add_to, nothing_here
from pages.words.say import say


def follow_index() -> None:
    """Shows the index that the address names. Other pages then show it too."""
    if DOCUMENT_LIST.follow_address() and (index := DOCUMENT_LIST.value("index")):
        pick_index(index)


def current_document() -> str | None:
    """The document in the address, unless one was opened or closed just now."""
    if "opened document" in st.session_state:
        opened = st.session_state.pop("opened document")
        if opened:
            st.query_params["doc"] = opened
        else:
            st.query_params.pop("doc", None)
        st.query_params.pop("section", None)
    return st.query_params.get("doc")


def show_one(document_id: str) -> None:
    begin_at_top(document_id, of="documents")
    DOCUMENT_LIST.leave()
    st.page_link(HERE, label=f"← {say('document.back')}", query_params=DOCUMENT_LIST.address())
    show_jobs(jobs())
    try:
        document = engine().store.document(document_id)
    except DocumentGone as error:
        show_warning(error)
        return
    pick_index(document.index)
    show_document(document, st.query_params.get("section"))


def show_all() -> None:
    begin_at_top("", of="documents")
    st.header(say("app.documents"), anchor=False)
    known_jobs = jobs()
    indexes = {index.name: index for index in engine().store.indexes()}
    if gone := picked_index_gone(indexes):
        show_warning(gone)
    index = show_indexes(indexes)
    name = index.name if index else engine().store.free_name(say("index.default"))
    if may_add := may_add_to(name):
        with st.container(border=True, key="adding"):
            show_adding(name)
    # Each part has a container of its own, so that none moves when another grows. Streamlit would draw a moved part
    # again, for a moment next to the old one, and without the text that was being typed.
    coming, listed = st.container(), st.container()
    with coming:
        show_jobs(known_jobs)
    is_busy = any(job.index == name and not each.is_finished for job, each in known_jobs.items())
    count = size(index) if index else 0
    with listed:
        if count or is_busy:
            show_table(name, count, is_busy)
        elif not may_add:
            st.info(nothing_here("documents.empty", name))
        elif not known_jobs:
            show_next_step(indexes)
    if index:
        show_sites(index)


def show_next_step(indexes: dict[str, Index]) -> None:
    st.info(say("documents.empty"))
    if any(index.documents for index in indexes.values()):
        return
    if may_add_to(samples.INDEX) and show_samples_button():
        st.rerun()


HERE = "documents.py"

follow_index()
with st.container(key="documents-page"):
    if document_id := current_document():
        show_one(document_id)
    else:
        show_all()
