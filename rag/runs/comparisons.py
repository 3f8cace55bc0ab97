"""Comparisons: several runs of one question, started together and stored with the vote for the best."""

from collections.abc import Sequence

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from index_store.base.database.database import storable
from rag.errors import UnknownRun
from rag.models.offered import OfferedModels
from rag.runs.history.conversations.comparison import Comparison, StoredComparisons, check_column_count
from rag.runs.history.history import History
from rag.runs.in_flight.in_flight import RunsInFlight
from rag.runs.in_flight.new_run import NewRun
from rag.runs.in_flight.run_at_work import PendingRun
from rag.runs.run.asker import Asker
from rag.runs.run.options import RunOptions
from rag.runs.run.run import Run
from rag.trace.derived.standalone import understood_question
from rag.trace.events import Origin, started_of


class _AlreadyReplaced(Exception):
    """This column has another run by now: it was asked again at the same moment, here or in another app."""


class Comparisons(StoredComparisons):
    def __init__(self, history: History, models: OfferedModels, runs: RunsInFlight) -> None:
        super().__init__(history.database)
        self._history = history
        self._models = models
        self._runs = runs

    def begin(
        self, question: str, index: str, columns: Sequence[RunOptions], *, beside: str | None = None, asker: Asker
    ) -> Comparison:
        """Begins a run for each column and returns at once.

        `beside`: a stored run that becomes the first column unchanged. `asker`: the person who asks; the runs take this
        person's turns. Raises EmptyQuestion, BadColumnCount, ModelNotOffered, UnknownRun, and the errors of
        `Engine.ask`; then nothing has begun.
        """
        question, index = storable(question).strip(), storable(index)
        check_column_count(len(columns) + (beside is not None))
        for column in columns:
            self._runs.check(question, column)
        self._runs.allowance(asker)
        if beside is not None:
            self._history.stored_run(beside)
        pending: list[PendingRun] = []
        try:
            with self._history.together() as within:
                conversation_id = self._new(question, asker, within)
                for column in columns:
                    new = NewRun(question, index, column, asker, conversation_id, origin=Origin(kind="comparison"))
                    pending.append(self._runs.begin(new, within=within))
                run_ids = [*([] if beside is None else [beside]), *(each.run.id for each in pending)]
                comparison = self.add(conversation_id, question, index, run_ids, within=within)
        except IntegrityError as error:  # the run beside them was deleted meanwhile
            raise UnknownRun() from error
        for each in pending:
            self._runs.start(each)
        return comparison

    def begin_again(self, comparison_id: str, run_id: str, *, asker: Asker) -> Run | None:
        """Asks a column's own question again. The new run replaces the finished one. None if another run has already
        replaced it, and for a fork, whose change would be lost.

        `asker`: the person who asks. Raises IndexGone, UnknownIndex, EmptyIndex, and the errors of `begin`.
        """
        comparison = self.get(comparison_id)
        events = self._history.events(run_id)
        started = started_of(events)
        if not comparison or run_id not in comparison.run_ids or not started or started.is_fork:
            return None
        index = asker.index(started.index, started.index_id).name
        column = RunOptions(
            pipeline=started.pipeline,
            retrieval=started.retrieval,
            style=started.style,
            model=self._models.still_offered(started.model),
        )
        try:
            with self._history.together() as within:
                question = understood_question(events)
                new = NewRun(question, index, column, asker, comparison.id, origin=Origin(kind="comparison"))
                pending = self._runs.begin(new, within=within)
                self._replace(comparison.id, run_id, pending.run.id, within)
        except (IntegrityError, _AlreadyReplaced):  # deleted meanwhile, or replaced
            return None
        self._runs.start(pending)
        return pending.run

    def _replace(self, comparison_id: str, run_id: str, by: str, within: Connection) -> None:
        if not self.replace(comparison_id, run_id, by=by, within=within):
            raise _AlreadyReplaced

    def keep(self, run_ids: Sequence[str], *, asker: Asker) -> Comparison:
        """Makes a comparison of any stored runs, with the question of the first one. `asker`: the person who compares.

        Raises BadColumnCount, UnknownRun, NotSaved.
        """
        check_column_count(len(run_ids))
        first, *_ = [self._history.stored_run(run_id) for run_id in run_ids]
        question = understood_question(self._history.events(first.id))
        try:
            with self._history.together() as within:
                conversation_id = self._new(question, asker, within)
                return self.add(conversation_id, question, first.index, run_ids, within=within)
        except IntegrityError as error:  # one was deleted meanwhile
            raise UnknownRun() from error

    def _new(self, question: str, asker: Asker, within: Connection) -> str:
        """The id of a new conversation for the comparison."""
        conversations = self._history.conversations
        return conversations.new(question, "comparison", principal=asker.principal, within=within).id
