"""Asks again in the same way as a past run, with the same index."""

from collections.abc import Sequence

import streamlit as st

from index_store.base.errors import EmptyQuestion
from pages.process import engine
from pages.widgets.asked_index import index_to_ask
from rag.runs.history.history import PastRun
from rag.runs.run.run import Run
from rag.trace.events import Event, RunStarted

DRAWN = "drawn branch"
"""in the session: conversation and chosen branch, and the last run that was drawn for them"""


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
        suggests=True,
    )
    if edits:
        st.session_state.branch = asked.id
    go_on_with(asked)
    return asked


def go_on_with(asked: Run) -> None:
    """Names the run that was just asked in the chosen branch, so that a reload finds the latest question. Without a
    choice, the chat shows the latest branch whatever is asked.
    """
    if st.session_state.get("branch"):
        st.session_state.branch = asked.id


def shown_branch(conversation_id: str | None) -> str | None:
    """The run that identifies the branch on the page, if that conversation is open in the chat. None means the latest
    branch.

    It is the last run that was drawn: the same question may have been edited in another tab since.
    """
    if st.session_state.get("conversation") != conversation_id:
        return None
    chosen: str | None = st.session_state.get("branch")
    of, end = st.session_state.get(DRAWN, (None, None))
    return end if of == (conversation_id, chosen) else chosen


def keep_drawn(conversation_id: str, end: str | None) -> None:
    """`end`: the last run of the branch that is drawn."""
    st.session_state[DRAWN] = (conversation_id, st.session_state.get("branch")), end
