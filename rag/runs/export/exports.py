"""Exports: gathers them from the history, and records them in the audit log."""

from typing import Literal, TypeAlias

from index_store.access.audit.audit import Audit
from index_store.access.audit.entry import Action
from index_store.access.principal import Principal
from rag.errors import NothingFinished, NothingOfThisName
from rag.runs.export.export import Export, ExportedRun, StepCalls
from rag.runs.history.conversations.comparison import StoredComparisons
from rag.runs.history.conversations.conversations import as_title
from rag.runs.history.for_people.user_history import UserHistory
from rag.runs.history.history import History, PastRun, following
from rag.trace.derived.standalone import STANDALONE_STEP, without_earlier_turns
from rag.trace.events import StepFinished

ExportFormat: TypeAlias = Literal["html", "markdown", "json"]


class Exports:
    def __init__(self, history: History, audit: Audit) -> None:
        self._history = history
        self._audit = audit

    def gather(
        self, of: str, form: ExportFormat, *, through: str | None = None, history: UserHistory, by: Principal
    ) -> Export:
        """Collects the data of one export.

        `of`: the id of a run or a conversation; of a conversation, only the finished runs of a branch are exported, of
        a comparison its columns. `form`: the file format, for the audit log. `through`: of a conversation, a run of the
        branch, as in `History.branch`. `history`: as the principal `by` sees it. Raises NothingOfThisName,
        NothingFinished.
        """
        run, conversation = history.run(of), history.conversations.get(of)
        if run:
            title, runs = as_title(run.question), [run]
        elif conversation:
            if columns := self._columns(of) if through is None else ():
                title, runs = conversation.title, [each for each in map(history.run, columns) if each]
            else:
                branch = history.branch(of, through=through)
                title = history.title(of, branch) or conversation.title
                runs = history.runs(of, branch=branch)
        else:
            raise NothingOfThisName(name=of)
        runs = [each for each in runs if each.status != "running"]
        if not runs:
            raise NothingFinished(name=of)
        with_turns = following(runs)
        exported = tuple(_exported(history, each, is_alone=each.id not in with_turns) for each in runs)
        kind = "run" if run else "conversation"
        self._audit.note(Action.EXPORTED, by, kind=kind, what=of, form=form, runs=len(exported))
        return Export.of(title, exported)

    def _columns(self, conversation_id: str) -> tuple[str, ...]:
        """The runs of a comparison, from left to right; some may be in other conversations. Empty if it is none."""
        if not self._history.conversations.is_comparison(conversation_id):
            return ()
        comparison = StoredComparisons(self._history.database).get(conversation_id)
        return tuple(filter(None, comparison.run_ids)) if comparison else ()


def _exported(history: UserHistory, run: PastRun, *, is_alone: bool) -> ExportedRun:
    """`is_alone`: what was said before the run is not in the file, as with a link to it."""
    found = tuple(history.events(run.id))
    asked = [each for each in found if isinstance(each, StepFinished) and each.model_calls]
    if is_alone:
        found = tuple(map(without_earlier_turns, found))
        asked = [each for each in asked if each.step != STANDALONE_STEP]
    kept = [
        StepCalls(step=each.step, attempt=each.attempt, calls=calls)
        for each in asked
        if (calls := history.calls.of_step(run.id, each.step, each.attempt))
    ]
    return ExportedRun(feedback=run.feedback, events=found, calls=tuple(kept))
