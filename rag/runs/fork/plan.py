"""Plans a fork: the overrides and the checkpoint for a run that continues from a changed step.

A fork is a run of its own and continues from the checkpoint before the changed step. It takes the trace before the step
from its origin. Steps that ran in parallel keep their outcomes. The changed step runs again with other inputs, or gets
another outcome without running.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from index_store.base.errors import DocumentGone, UnknownSection
from index_store.store.user_store import UserStore
from rag.errors import DocumentsGone, NoCheckpoint
from rag.graph.context import Override, StepOutcome
from rag.graph.state import State
from rag.runs.fork.checkpoints import Snapshot, Task
from rag.runs.fork.editing import Editing
from rag.runs.fork.edits import Edit
from rag.runs.run.summary import reused_seconds
from rag.trace.derived.answers import written_by
from rag.trace.details import DraftDetail, RetrievalDetail
from rag.trace.events import Change, Event, RunFinished, RunStarted, StepFinished, StepStarted, Token
from rag.trace.passages import Passage, Retrieval


@dataclass(frozen=True)
class Fork:
    """All that a run needs to continue another one."""

    upto: str
    """the checkpoint to continue from"""
    events: tuple[Event, ...]
    """taken from the origin"""
    retrieval: Retrieval | None
    """if it differs from the origin's"""
    overrides: Mapping[tuple[str, int], Override]
    changes: tuple[Change, ...]

    @property
    def attempts(self) -> Counter[str]:
        """How often each step has begun before."""
        return Counter(each.step for each in self.events if isinstance(each, StepStarted))

    @property
    def reused(self) -> tuple[tuple[str, int], ...]:
        """Steps that do not run again, by name and attempt."""
        beside = (key for key, each in self.overrides.items() if each.outcome)
        return (*((each.step, each.attempt) for each in self.events if isinstance(each, StepFinished)), *beside)

    @property
    def reused_seconds(self) -> float:
        """Where the new part begins on the time line of the trace."""
        beside = (each.outcome.finished for each in self.overrides.values() if each.outcome)
        return reused_seconds((*self.events, *beside))


def plan(
    snapshots: Sequence[Snapshot],
    events: Sequence[Event],
    *,
    step: str,
    attempt: int,
    edits: Sequence[Edit],
    index: str,
    retrieval: Retrieval,
    store: UserStore,
) -> Fork:
    """`snapshots`, `events`, `index`, `retrieval`: the origin's.

    Raises NoCheckpoint, BadChange, NothingChanged, DocumentsGone, UnknownMode, UnknownUnit, BadHitCount.
    """
    snapshot = next((each for each in snapshots if any(_is(task, step, attempt) for task in each.tasks)), None)
    if snapshot is None:
        raise NoCheckpoint()
    finished = {(each.step, each.attempt): each for each in events if isinstance(each, StepFinished)}
    task = next(task for task in snapshot.tasks if _is(task, step, attempt))
    if (step, attempt) not in finished:
        raise NoCheckpoint()
    editing = Editing(snapshot.state, task, finished[step, attempt], index, retrieval, store)
    for edit in edits:
        editing.apply(edit)
    overrides = {(step, attempt): editing.override()}
    for other in snapshot.tasks:
        if other is not task and (outcome := _outcome_beside(other, finished)):
            overrides[other.step, other.attempt] = outcome
    # An outcome has only what the step returned; the passages seen so far may be in the state before it.
    state: State = {**snapshot.state, **(editing.outcome or State())}
    return Fork(
        upto=snapshot.checkpoint_id,
        events=tuple(_before(snapshot, events)),
        retrieval=editing.retrieval,
        overrides=overrides,
        changes=(*editing.changes, *_newer_versions(state, store)),
    )


class ChangedDocuments(NamedTuple):
    """The titles of documents that were changed or removed after the run."""

    gone: tuple[str, ...]
    newer: tuple[str, ...]
    """they have another version now"""


def changed_documents(events: Sequence[Event], store: UserStore) -> ChangedDocuments:
    """Looks at the documents that the run has read."""
    gone, newer = dict[str, None](), dict[str, None]()
    for each in events:
        match each:
            case StepFinished(detail=RetrievalDetail(passages=found)):
                for passage in found:
                    if passage.removed or not _is_there(store, passage):
                        gone[passage.title] = None
                    elif not _is_current(store, passage):
                        newer[passage.title] = None
    return ChangedDocuments(tuple(gone), tuple(newer))


def _newer_versions(state: State, store: UserStore) -> Iterator[Change]:
    """Raises DocumentsGone."""
    found = [each for each in state.get("seen", {}).values() if each.origin == "documents"]
    if gone := dict.fromkeys(each.title for each in found if not _is_there(store, each)):
        raise DocumentsGone(names=", ".join(gone))
    for title in dict.fromkeys(each.title for each in found if not _is_current(store, each)):
        yield Change(what="newer_version", before=title, after="")


def _is_there(store: UserStore, passage: Passage) -> bool:
    try:
        store.document(passage.document_id)
    except DocumentGone:
        return False
    return True


def _is_current(store: UserStore, passage: Passage) -> bool:
    try:
        store.section(passage.section_id)
    except UnknownSection:
        return False
    return True


def _is(task: Task, step: str, attempt: int) -> bool:
    return (task.step, task.attempt) == (step, attempt)


def _before(snapshot: Snapshot, events: Sequence[Event]) -> Iterator[Event]:
    """The events before this step and its parallel steps; the trace of the fork begins with them. Tokens are
    not stored, so a step's text comes from its detail.
    """
    now = {(task.step, task.attempt) for task in snapshot.tasks}
    for event in events:
        match event:
            case StepStarted(step=step, attempt=attempt) if (step, attempt) in now:
                return
            case RunStarted() | RunFinished() | Token():
                continue
            case StepFinished():
                if written := written_by(event):
                    yield Token(step=event.step, attempt=event.attempt, text=written)
                yield event.model_copy(update={"reused": True})
            case _:
                yield event


def _outcome_beside(task: Task, finished: Mapping[tuple[str, int], StepFinished]) -> Override | None:
    """The outcome of a parallel step. No checkpoint contains a speculative answer, so it is dropped."""
    ended = finished.get((task.step, task.attempt))
    if ended is None:
        return None
    if isinstance(ended.detail, DraftDetail):
        dropped = ended.detail.model_copy(update={"kept": False, "text": ""})
        ended = ended.model_copy(update={"detail": dropped, "verdict": "no"})
        return Override(outcome=StepOutcome(ended.model_copy(update={"reused": True}), State()))
    if task.changes is None:
        return None
    return Override(outcome=StepOutcome(ended.model_copy(update={"reused": True}), task.changes))
