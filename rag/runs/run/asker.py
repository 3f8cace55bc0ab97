"""The person behind a run: the page may be closed by now, and the person's access may have been withdrawn."""

from dataclasses import dataclass

from index_store.access.gate import CurrentPrincipal, Gate
from index_store.access.principal import LOCAL, Principal
from index_store.access.rights import Right
from index_store.base.errors import EmptyIndex, UnknownIndex
from index_store.catalogue.records import IndexRecord
from index_store.store.user_store import UserStore
from rag.errors import IndexGone


@dataclass(frozen=True)
class Asker:
    principal: Principal
    """when the question was asked"""
    who: CurrentPrincipal
    """as they are now; may be called in any thread"""
    gate: Gate
    store: UserStore

    def party(self, conversation_id: str) -> str:
        """The party whose turns a run takes: the person, or the conversation if nobody signs in."""
        return conversation_id if self.principal == LOCAL else self.principal.id

    def index_id(self, name: str) -> str | None:
        """None if there is no such index that the person may read. Raises AccessWithdrawn."""
        try:
            return self.gate.index(name, Right.READ).id
        except (UnknownIndex, EmptyIndex):
            return None

    def index(self, name: str, id_: str | None) -> IndexRecord:
        """The index that a run has asked. Old runs have no index id, so their index is found by name.

        Raises AccessWithdrawn, UnknownIndex, EmptyIndex, IndexGone.
        """
        if id_ is None:
            return self.gate.index(name, Right.READ)
        found = self.gate.index_with_id(id_, Right.READ)
        if found is None:
            raise IndexGone(index=name)
        return found
