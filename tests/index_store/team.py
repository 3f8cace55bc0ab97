"""People for tests, and the facade of the store that each of them has."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from index_store.access.grants import Grantee
from index_store.access.principal import Role
from index_store.access.rights import GranteeKind, Right
from index_store.base.errors import UnknownPerson
from index_store.base.settings.settings import Settings
from index_store.store.index_store import IndexStore
from index_store.store.user_store import UserStore
from tests.index_store.access.conftest import claim


class People:
    """`root` is an admin. People whose names end in "reader" are readers, all others are editors."""

    def __init__(self, store: IndexStore) -> None:
        self.store = store
        self._ids: dict[str, str] = {}
        self.id("root")

    def id(self, name: str) -> str:
        if name not in self._ids:
            people = self.store.access.people
            role = Role.ADMIN if name == "root" else Role.READER if name.endswith("reader") else Role.EDITOR
            with suppress(UnknownPerson):
                self._ids[name] = people.find(name).id
                return self._ids[name]
            self._ids[name] = people.signed_in(claim(name)).id
            people.set_role(self._ids[name], role)
        return self._ids[name]

    def __call__(self, name: str) -> UserStore:
        """The facade of the person with this name."""
        id_ = self.id(name)
        return self.store.as_user(lambda: self.store.access.principal(id_))

    def grantee(self, name: str) -> Grantee:
        return Grantee(GranteeKind.PERSON, self.id(name))

    def give(self, index: str, **rights: Right) -> None:
        for name, right in rights.items():
            self.store.access.grants.give(index, self.grantee(name), right)

    def disable(self, name: str) -> None:
        self.store.access.people.disable(self.id(name))


@contextmanager
def people_of(settings: Settings) -> Iterator[People]:
    with IndexStore(settings) as store:
        yield People(store)
