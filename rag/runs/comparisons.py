"""Comparisons: runs of one question side by side, begun together, and kept with the vote for the best of them."""

import threading
from collections.abc import Sequence

from index_store.base.errors import EmptyQuestion, PlainError
from rag.models.offered import OfferedModels
from rag.runs.history.comparison import Column, Comparison, StoredComparisons, check_column_count
from rag.runs.history.history import History
from rag.runs.history.schema import storable
from rag.runs.in_flight import Begun, RunsInFlight
from rag.runs.run import Run
from rag.trace.events import Origin, RunStarted


class Comparisons(StoredComparisons):
    def __init__(self, history: History, models: OfferedModels, runs: RunsInFlight) -> None:
        super().__init__(history.database)
        self._history = history
        self._models = models
        self._runs = runs
        self._asking_again = threading.Lock()

    def begin(
        self, question: str, index: str, columns: Sequence[Column], *, beside: str | None = None, person: str
    ) -> Comparison:
        """Begins a run for each column, and returns at once.

        `beside`: a stored run that becomes the first column as it is. `person`: who asks, and whose turns the runs
        take. Raises EmptyQuestion, BadColumnCount, ModelNotOffered, UnknownRun, and what `Engine.ask` does; it has
        begun nothing then.
        """
        question, index = storable(question).strip(), storable(index)
        if not question:
            raise EmptyQuestion()
        check_column_count(len(columns) + (beside is not None))
        for column in columns:
            self._runs.check(question, column)
        if beside:
            self._history.stored_run(beside)
        conversation_id = self._history.conversations.new(question, "comparison").id
        begun: list[Begun] = []
        try:
            for column in columns:
                begun.append(self._begin(question, index, column, conversation_id, person))
            run_ids = [*([beside] if beside else []), *(each.run.id for each in begun)]
            comparison = self.add(conversation_id, question, index, run_ids, person=person)
        except PlainError:
            for each in begun:
                self._runs.forget(each.run)
            self._history.conversations.delete(conversation_id)
            raise
        for each in begun:
            self._runs.send_off(each)
        return comparison

    def begin_again(self, comparison_id: str, run_id: str, *, person: str) -> Run | None:
        """A column anew, in the place of its run, which is over; None where there is another one in its place already.

        `person`: who asks. Raises what `begin` does.
        """
        with self._asking_again:
            comparison = self.get(comparison_id, person=person)
            started = next((each for each in self._history.events(run_id) if isinstance(each, RunStarted)), None)
            if not comparison or run_id not in comparison.run_ids or not started:
                return None
            column = Column(
                pipeline=started.pipeline,
                retrieval=started.retrieval,
                style=started.style,
                model=self._models.still_offered(started.model),
            )
            begun = self._begin(comparison.question, comparison.index, column, comparison.id, person)
            self.replace(comparison.id, run_id, by=begun.run.id, person=person)
        self._runs.send_off(begun)
        return begun.run

    def keep(self, run_ids: Sequence[str], *, person: str) -> Comparison:
        """Of stored runs of anywhere, in the name of the first one's question. `person`: who compares.

        Raises BadColumnCount, UnknownRun, NotSaved.
        """
        check_column_count(len(run_ids))
        first, *_ = [self._history.stored_run(run_id) for run_id in run_ids]
        conversation_id = self._history.conversations.new(first.question, "comparison").id
        return self.add(conversation_id, first.question, first.index, run_ids, person=person)

    def _begin(self, question: str, index: str, column: Column, conversation_id: str, person: str) -> Begun:
        origin = Origin(kind="comparison")
        return self._runs.begin(question, index, column, conversation_id, origin=origin, person=person)
