"""The services of an engine as one person sees them. `UserEngine` (engine.py) provides them."""

from collections.abc import Callable, Sequence

from index_store.access.access import Access
from index_store.access.gate import CurrentPrincipal
from index_store.access.principal import Principal, Role
from index_store.base.errors import AdminNeeded
from rag.errors import UnknownRun
from rag.models.preload import Preload
from rag.runs.comparisons import Comparisons
from rag.runs.export.export import Export
from rag.runs.export.exports import ExportFormat, Exports
from rag.runs.fork.edits import Edit
from rag.runs.fork.plan import ChangedDocuments
from rag.runs.forks import Forks
from rag.runs.history.conversations.comparison import Comparison
from rag.runs.history.for_people.user_history import UserHistory
from rag.runs.history.ownership import Ownership
from rag.runs.in_flight.suggestions import Suggestions
from rag.runs.retention.personal_data import PersonalData, PersonalDataSummary
from rag.runs.run.asker import Asker
from rag.runs.run.options import RunOptions
from rag.runs.run.run import Run


class UserPreload:
    def __init__(self, preload: Preload, who: CurrentPrincipal) -> None:
        self._preload = preload
        self._who = who

    @property
    def since(self) -> float | None:
        self._who()
        return self._preload.since

    def begin(self) -> None:
        self._who()
        self._preload.begin()


class UserSuggestions:
    def __init__(self, suggestions: Suggestions, ownership: Ownership) -> None:
        self._suggestions = suggestions
        self._ownership = ownership

    def after(self, run_id: str) -> tuple[str, ...]:
        return self._suggestions.after(run_id) if self._ownership.has_run(run_id) else ()

    def are_coming(self, run_id: str) -> bool:
        return self._ownership.has_run(run_id) and self._suggestions.are_coming(run_id)


class UserExports:
    def __init__(self, exports: Exports, history: UserHistory, who: CurrentPrincipal) -> None:
        self._exports = exports
        self._history = history
        self._who = who

    def gather(self, of: str, form: ExportFormat, *, through: str | None = None) -> Export:
        return self._exports.gather(of, form, through=through, history=self._history, by=self._who())


class UserComparisons:
    def __init__(self, comparisons: Comparisons, ownership: Ownership, asker: Callable[[], Asker]) -> None:
        """`asker`: the person of `ownership`, as they are now."""
        self._comparisons = comparisons
        self._ownership = ownership
        self._asker = asker

    def begin(
        self, question: str, index: str, columns: Sequence[RunOptions], *, beside: str | None = None
    ) -> Comparison:
        """The question is checked before the run, as for a run that does not exist."""
        beside = beside if beside is None or self._ownership.has_run(beside) else NO_RUN
        return self._comparisons.begin(question, index, columns, beside=beside, asker=self._asker())

    def begin_again(self, comparison_id: str, run_id: str) -> Run | None:
        if not self._ownership.has_conversation(comparison_id):
            return None
        return self._comparisons.begin_again(comparison_id, run_id, asker=self._asker())

    def keep(self, run_ids: Sequence[str]) -> Comparison:
        own = self._ownership.runs(run_ids)
        its = [run_id if run_id in own else NO_RUN for run_id in run_ids]
        return self._comparisons.keep(its, asker=self._asker())

    def get(self, comparison_id: str) -> Comparison | None:
        return self._comparisons.get(comparison_id) if self._ownership.has_conversation(comparison_id) else None

    def latest(self, count: int) -> list[Comparison]:
        return self._comparisons.latest(count, principal=self._ownership.who())

    def of_runs(self, run_ids: Sequence[str]) -> Comparison | None:
        return self._comparisons.of_runs(run_ids, principal=self._ownership.who())

    def vote(self, comparison_id: str, run_id: str | None) -> None:
        if self._ownership.has_conversation(comparison_id):
            self._comparisons.vote(comparison_id, run_id)

    def votes(self, run_ids: Sequence[str]) -> dict[str, int]:
        return self._comparisons.votes(run_ids, principal=self._ownership.who())


class UserForks:
    def __init__(self, forks: Forks, ownership: Ownership, asker: Callable[[], Asker]) -> None:
        """`asker`: as above."""
        self._forks = forks
        self._ownership = ownership
        self._asker = asker

    def begin(self, run_id: str, step: str, attempt: int, changes: Sequence[Edit]) -> Run:
        if not self._ownership.has_run(run_id):
            raise UnknownRun()
        return self._forks.begin(run_id, step, attempt, changes, asker=self._asker())

    def changed_documents(self, run_id: str) -> ChangedDocuments:
        if not self._ownership.has_run(run_id):
            return ChangedDocuments((), ())
        return self._forks.changed_documents(run_id, asker=self._asker())


class UserPersonalData:
    """The data of the person; admins may also use it for others. Raises AdminNeeded, UnknownPerson."""

    def __init__(self, data: PersonalData, access: Access, who: CurrentPrincipal) -> None:
        self._data = data
        self._access = access
        self._who = who

    def of(self, person_id: str | None = None) -> PersonalDataSummary:
        """`person_id`: of another person."""
        return self._data.of(self._whose(self._who(), person_id))

    def delete(self, person_id: str | None = None) -> PersonalDataSummary:
        """`person_id`: of another person. Returns what there was."""
        by = self._who()
        return self._data.delete(self._whose(by, person_id), by=by)

    def erase(self, person_id: str) -> PersonalDataSummary:
        """For admins only."""
        by = self._who()
        if by.role is not Role.ADMIN:
            raise AdminNeeded()
        return self._data.erase(person_id, by=by)

    def _whose(self, asker: Principal, person_id: str | None) -> Principal:
        if person_id in (None, asker.id):
            return asker
        if asker.role is not Role.ADMIN:
            raise AdminNeeded()
        return self._access.people.find(person_id or "").principal


NO_RUN = ""
"""an id of no run, used in place of other people's runs"""
