"""The person behind a run: the page may be closed by now, and the person's access may have been withdrawn."""

from dataclasses import dataclass

from index_store.access.gate import CurrentPrincipal, Gate
from index_store.access.principal import LOCAL, Principal
from index_store.access.rights import Right
from index_store.base.errors import EmptyIndex, UnknownIndex
from index_store.catalogue.records import IndexRecord
from index_store.user_store.user_store import UserStore
from rag.errors import IndexGone


@dataclass(frozen=True)
class Asker:
    principal: Principal
    """as they were when they asked"""
    who: CurrentPrincipal
    """as they are, in any thread"""
    gate: Gate
    store: UserStore

    def party(self, conversation_id: str) -> str:
        """Whose turns a run takes: a person's; where nobody signs in, those of its conversation."""
        return conversation_id if self.principal == LOCAL else self.principal.id

    def index_id(self, name: str) -> str | None:
        """None where there is none that they may read. Raises AccessWithdrawn."""
        try:
            return self.gate.index(name, Right.READ).id
        except (UnknownIndex, EmptyIndex):
            return None

    def index(self, name: str, id_: str | None) -> IndexRecord:
        """That a run has asked; of runs of before there were ids, by its name.

        Raises AccessWithdrawn, UnknownIndex, EmptyIndex, IndexGone.
        """
        if id_ is None:
            return self.gate.index(name, Right.READ)
        found = self.gate.index_with_id(id_, Right.READ)
        if found is None:
            raise IndexGone(index=name)
        return found
