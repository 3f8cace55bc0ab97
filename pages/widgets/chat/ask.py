"""Asks again in the same way as a past run, with the same index."""

from collections.abc import Sequence

import streamlit as st

from index_store.base.errors import EmptyQuestion
from pages.process import engine
from rag.runs.history.history import PastRun
from rag.runs.run.run import Run
from rag.trace.events import Event, RunStarted


def ask_like(
    run: PastRun, events: Sequence[Event], question: str, *, edits: str | None = None, pipeline: str | None = None
) -> Run:
    """In the branch that is shown; of a column of a comparison, in a new conversation.

    `events`: of the run, its first among them; `edits`: the run whose place it takes, so that another branch begins,
    which is shown from then on; `pipeline`: another than the run's. Raises PlainError.
    """
    if not question.strip():
        raise EmptyQuestion
    started = next(each for each in events if isinstance(each, RunStarted))
    is_column = started.origin is not None and started.origin.kind == "comparison"
    asked = engine().ask(
        question,
        index=run.index,
        pipeline_name=pipeline or run.pipeline,
        conversation_id=None if is_column else run.conversation_id,
        retrieval=started.retrieval,
        style=started.style,
        through=shown_branch(run.conversation_id) or run.id,
        edits=edits,
        suggests=True,
    )
    if edits:
        st.session_state.branch = asked.id
    return asked


def shown_branch(conversation_id: str | None) -> str | None:
    """The run that names it, where that conversation is the one in the chat; None for the latest one."""
    branch: str | None = st.session_state.get("branch")
    return branch if st.session_state.get("conversation") == conversation_id else None
