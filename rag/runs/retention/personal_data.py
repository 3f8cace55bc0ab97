"""The data of one person, and its deletion on request.

To a person belong: their conversations with everything that depends on them (runs, votes, links, forks, comparisons,
checkpoints); the documents that they are adding now; and the indexes that they own and have shared with nobody, with
documents and originals. An index that others may use stays with all its documents and has no owner; admins decide about
it. What a person has added to somebody else's index belongs to that index.
"""

from dataclasses import dataclass

from index_store.access.audit.entry import Action
from index_store.access.principal import LOCAL, Principal
from index_store.access.user_people import noted
from index_store.base.database.copies import DAMAGED, UPGRADED, drop_copies
from index_store.store.index_store import IndexStore
from rag.runs.history.daily_usage import DailyUsage
from rag.runs.history.history import History
from rag.runs.history.ownership import person_id
from rag.runs.in_flight.in_flight import RunsInFlight
from rag.runs.in_flight.suggestions import Suggestions
from rag.runs.removal import Removal
from rag.settings import Settings


@dataclass(frozen=True)
class PersonalDataSummary:
    conversations: int
    """of every kind"""
    indexes: tuple[str, ...]
    """not shared with anybody"""
    shared_indexes: tuple[str, ...]
    """owned by the person, and others may use them"""


NOTHING = PersonalDataSummary(0, (), ())


class PersonalData:
    """Safe in any thread."""

    def __init__(
        self,
        settings: Settings,
        store: IndexStore,
        history: History,
        usage: DailyUsage,
        *,
        runs: RunsInFlight,
        suggestions: Suggestions,
        removal: Removal,
    ) -> None:
        self._settings = settings
        self._store = store
        self._history = history
        self._usage = usage
        self._runs = runs
        self._suggestions = suggestions
        self._removal = removal

    def of(self, whose: Principal) -> PersonalDataSummary:
        conversations = self._history.conversations.ids_of(person_id(whose))
        alone, shared = self._store.owned_by(whose.id)
        return PersonalDataSummary(len(conversations), tuple(alone), tuple(shared))

    def erase(self, id_: str, *, by: Principal) -> PersonalDataSummary:
        """Erases the person's name and address, then deletes their data. Returns what there was. Raises UnknownPerson,
        LastAdmin, and the errors of `delete`.
        """
        access = self._store.access
        erased = noted(access.audit, Action.ERASED, by, access.people.erase(id_))
        return self.delete(erased.principal, by=by)

    def delete_of_erased(self) -> None:
        """Deletes data of people whom the command line has erased, or whose deletion was interrupted."""
        for person in self._store.access.people.erased():
            self._usage.forget(person.id)
            if self.of(person.principal) != NOTHING:
                self.delete(person.principal, by=LOCAL)

    def delete(self, whose: Principal, *, by: Principal) -> PersonalDataSummary:
        """Deletes the person's data from every file of the data folder, and returns what there was.

        Their account and rights stay. The audit log stays too, as long as it is kept, and records the deletion. Copies
        of databases made before an upgrade, and damaged databases that were set aside, are deleted whole, because
        nothing can be taken out of them. Raises NotSaved, ChangeFailed; ask again to delete the rest.
        """
        for id_ in self._history.conversations.ids_of(person_id(whose)):
            self._runs.stop(id_)
            self._suggestions.drop(id_)
        # After the runs: one that is stopped before its turn begins a job for its attachments.
        if whose != LOCAL:  # LOCAL is the name in which everybody's jobs continue after a restart
            self._store.cancel_jobs_of(whose.id)
        had = self.of(whose)
        self._store.delete_owned_by(whose.id, by=by)
        self._history.conversations.delete_all_of(person_id(whose))
        self._usage.forget(whose.id)
        self._runs.forget_finished()
        self._removal.clear_log()
        self._removal.sweep()
        for names in (UPGRADED, DAMAGED):
            drop_copies(self._settings.data_dir, names, days=0)
        self._store.access.audit.note(
            Action.DATA_DELETED,
            by,
            whose=whose.id,
            conversations=had.conversations,
            deleted=had.indexes,
            left=had.shared_indexes,
        )
        return had
