"""Beside every conversation: a new one, the earlier ones, and documents to add."""

import datetime

import streamlit as st

from index_store import uploads
from index_store.ingest import Ingestion
from index_store.loaders import KINDS
from index_store.records import AddStatus
from pages.conversation import open_conversation
from pages.process import engine
from pages.words import language, say

REFRESH = 0.5
"""seconds between two looks at what is being added"""


def show_conversations(current: str | None) -> None:
    if st.button(f"+ {say('sidebar.new_chat')}", width="stretch", key="new-chat"):
        open_conversation(None)
    today = datetime.date.today()
    shown: str | None = None
    for conversation in engine().history.conversations():
        day = datetime.date.fromtimestamp(conversation.updated_at)
        group = say("sidebar.today" if day == today else "sidebar.earlier")
        if group != shown:
            st.caption(group)
            shown = group
        with st.container(horizontal=True, wrap=False, gap=None, key=f"conversation-{conversation.id}"):
            kind = "secondary" if conversation.id == current else "tertiary"
            if st.button(conversation.title, key=f"open-{conversation.id}", type=kind, width="stretch"):
                open_conversation(conversation.id)
            if conversation.id == current and st.button(
                "×", key=f"delete-{conversation.id}", type="tertiary", help=say("sidebar.delete")
            ):
                engine().delete_conversation(conversation.id)
                open_conversation(None)


def show_uploader(index: str) -> None:
    # A new key empties the widget once its files are taken.
    turn = st.session_state.setdefault("uploads_taken", 0)
    files = st.file_uploader(
        say("sidebar.add_documents"),
        accept_multiple_files=True,
        key=f"uploader-{turn}",
        help=say("sidebar.upload_help", kinds=", ".join(sorted(KINDS))),
    )
    if files:
        kept = [uploads.keep(engine().settings.data_dir, file.name, file) for file in files]
        engine().add_documents(index, kept, uploaded=True)
        st.session_state.uploads_taken += 1
        st.rerun()


def ingestions() -> dict[Ingestion, bool]:
    """Each with whether it is finished. To be asked before the indexes are: what a page shows of both then agrees."""
    return {ingestion: ingestion.is_finished for ingestion in engine().ingestions}


def show_ingestions(known: dict[Ingestion, bool]) -> None:
    for ingestion, is_finished in known.items():
        if is_finished:
            _show_finished(ingestion)
        else:
            _show_running(ingestion)


@st.fragment(run_every=REFRESH)
def _show_running(ingestion: Ingestion) -> None:
    current = ingestion.current
    if current is None:
        st.rerun()
    done, total = len(ingestion.results), len(ingestion.sources)
    name = current.name or current.path.name
    st.progress(done / total, text=say("documents.adding", name=name, done=done, total=total))
    st.button(say("documents.cancel"), key=f"cancel-{id(ingestion)}", on_click=ingestion.cancel)


def _show_finished(ingestion: Ingestion) -> None:
    results = ingestion.results
    counts = {status.value: sum(each.status == status for each in results) for status in AddStatus}
    failed = [each for each in results if each.error]
    show = st.warning if failed else st.success
    show(say("documents.summary", **counts))
    for each in failed:
        st.error(each.error.sentence(language()))
    st.button(
        say("documents.dismiss"),
        key=f"dismiss-{id(ingestion)}",
        on_click=lambda: engine().ingestions.remove(ingestion),
    )
