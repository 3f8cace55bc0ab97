"""What the audit log records of a run: who has asked, and how it ended."""

from collections.abc import Iterable

from index_store.access.audit.audit import Actor, Audit
from index_store.access.audit.entry import Action
from rag.runs.history.history import InterruptedRun
from rag.trace.events import RunStarted, RunStatus


def note_asked(audit: Audit, by: Actor, started: RunStarted, *, status: RunStatus, tokens: int) -> None:
    """`tokens`: read and written, as far as known."""
    audit.note(
        Action.ASKED,
        by,
        index=started.index,
        pipeline=started.pipeline,
        model=started.model,
        tokens=tokens,
        status=status,
        run=started.run_id,
        question=started.question,
    )


def note_interrupted(audit: Audit, runs: Iterable[InterruptedRun]) -> None:
    """The process that worked on them has noted nothing."""
    for started, last, owner in runs:
        note_asked(audit, owner, started, status=last.status, tokens=last.totals.tokens)
