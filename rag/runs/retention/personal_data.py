"""The data of one person, and its deletion on request.

Theirs are: their conversations with all that hangs on them (runs, votes, links, forks, comparisons, checkpoints); what
they are adding just now; and the indexes that they own and of which nothing is granted to anybody, with documents and
originals. An index that others may use stays with all its documents, and is nobody's: admins decide about it. What they
have added to somebody else's index is that one's.
"""

from dataclasses import dataclass

from index_store.access.principal import LOCAL, Principal
from index_store.access.user_people import noted
from index_store.audit.entry import Action
from index_store.base.database.sqlite import DAMAGED, UPGRADED, drop_copies
from index_store.store import IndexStore
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
    """that are theirs alone"""
    shared_indexes: tuple[str, ...]
    """that they own, and others may use"""


NOTHING = PersonalDataSummary(0, (), ())


class PersonalData:
    """Safe from any thread."""

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

    def erase(self, person_id: str, *, by: Principal) -> PersonalDataSummary:
        """Who they are, and then what they have. What there was. Raises UnknownPerson, LastAdmin, and as `delete`."""
        access = self._store.access
        erased = noted(access.audit, Action.ERASED, by, access.people.erase(person_id))
        return self.delete(erased.principal, by=by)

    def delete_of_erased(self) -> None:
        """What is left of those whom the command line has erased, or in the midst of whom the app ended."""
        for person in self._store.access.people.erased():
            if self.of(person.principal) != NOTHING:
                self.delete(person.principal, by=LOCAL)

    def delete(self, whose: Principal, *, by: Principal) -> PersonalDataSummary:
        """What there was, none of which is in any file of the data folder then. Their account stays, and what they may
        do; so does the audit log, in which this is noted, for as long as it is kept.

        Copies of databases of before an upgrade, and damaged ones that were set aside, go whole, as nothing can be
        taken out of them. Raises NotSaved, ChangeFailed; what is left then goes when it is asked for again.
        """
        if whose != LOCAL:  # in whose name everybody's jobs go on after a restart
            self._store.cancel_jobs_of(whose.id)
        had = self.of(whose)
        self._store.delete_owned_by(whose.id, by=by)
        for id_ in self._history.conversations.ids_of(person_id(whose)):
            self._runs.stop(id_)
            self._suggestions.drop(id_)
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
