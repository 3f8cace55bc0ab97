"""Asks: what a person has typed, or again in the same way as a past run, with the same index."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from index_store.base.errors import EmptyQuestion
from index_store.ingestion.sources import FileSource
from pages.server.process import engine
from pages.widgets.chat.conversation.shown import (
    choose_branch,
    current_conversation,
    go_on_with,
    open_conversation,
    shown_branch,
)
from pages.widgets.controls.errors import show_warning
from pages.widgets.controls.uploader import keep, release
from pages.widgets.index.asked_index import index_to_ask
from rag.runs.history.history import PastRun
from rag.runs.run.run import Run
from rag.trace.events import Event, RunStarted, Style
from rag.trace.passages import Retrieval


@dataclass(frozen=True)
class Picked:
    """What is picked for the next question."""

    index: str
    pipeline: str
    retrieval: Retrieval | None = None
    """None: the pipeline's own"""
    style: Style | None = None
    """None: the usual one"""


def ask(question: str, picked: Picked, attachments: Sequence[FileSource] = ()) -> NoReturn:
    """Asks in the conversation on the page, and opens it. Raises PlainError."""
    conversation_id = current_conversation()
    run = engine().ask(
        question,
        index=picked.index,
        pipeline_name=picked.pipeline,
        conversation_id=conversation_id,
        attachments=attachments,
        retrieval=picked.retrieval,
        style=picked.style,
        through=shown_branch(conversation_id),
        suggests=True,
    )
    go_on_with(run)
    open_conversation(run.conversation_id)


def take_said(question: str, files: Sequence[UploadedFile], picked: Picked) -> None:
    """Asks a question, adds files, or both. Files of a question that is refused are added too. Raises PlainError."""
    try:
        attached = keep(files)
    finally:
        release(files)
    if question:
        ask(question, picked, attached)
    if not attached:
        show_warning(EmptyQuestion())
        return
    engine().store.ingest(picked.index, attached)
    st.rerun()


def ask_like(
    run: PastRun, events: Sequence[Event], question: str, *, edits: str | None = None, pipeline: str | None = None
) -> Run:
    """Asks in the branch that is shown; in the run's own if that is another one. For a column of a comparison, it asks
    in a new conversation.

    `events`: events of the run, including the first. `edits`: a run that the new one replaces: a new branch begins and
    is shown from then on. `pipeline`: another pipeline than the run's. Raises PlainError.
    """
    if not question.strip():
        raise EmptyQuestion
    started = next(each for each in events if isinstance(each, RunStarted))
    is_column = started.origin is not None and started.origin.kind == "comparison"
    shown = shown_branch(run.conversation_id)
    if run.id not in engine().history.branch(run.conversation_id, through=shown).runs:
        shown = run.id  # it was opened in Runs
    asked = engine().ask(
        question,
        index=index_to_ask(run),
        pipeline_name=pipeline or run.pipeline,
        conversation_id=None if is_column else run.conversation_id,
        retrieval=started.retrieval,
        style=started.style,
        through=shown or run.id,
        edits=edits,
        again=run.id if question == run.question and not edits else None,  # a follow-up follows the run itself
        suggests=True,
    )
    if edits:
        choose_branch(asked.id)
    go_on_with(asked)
    return asked
