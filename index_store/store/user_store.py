"""The store in the name of one person."""

from index_store.access.gate import CurrentPrincipal
from index_store.store.store import Store, StoreParts


class UserStore(Store):
    """The store in the name of the person that `who` returns at each call; `IndexStore.as_user` makes it. The store of
    the process is not a UserStore, so that it can't be passed where a person's store belongs.
    """

    def __init__(self, parts: StoreParts, who: CurrentPrincipal) -> None:
        super().__init__(parts, who)
        self.access = parts.access.as_user(who)
        """people and grants"""
