"""Asks again in the same way as a past run, with the same index."""

from collections.abc import Sequence

from index_store.base.errors import EmptyQuestion
from pages.server.process import engine
from pages.widgets.chat.conversation.shown import choose_branch, go_on_with, shown_branch
from pages.widgets.index.asked_index import index_to_ask
from rag.runs.history.history import PastRun
from rag.runs.run.run import Run
from rag.trace.events import Event, RunStarted


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
        again=None if edits else run.id,
        suggests=True,
    )
    if edits:
        choose_branch(asked.id)
    go_on_with(asked)
    return asked
