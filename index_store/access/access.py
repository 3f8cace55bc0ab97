"""People, their sign-ins and grants of a data folder, which stand in the database of its catalogue."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from sqlalchemy import Engine

from index_store.access.gate import Gate, Who, as_local
from index_store.access.grants import Grants
from index_store.access.people import People
from index_store.access.principal import LOCAL, Principal
from index_store.access.rights import Rights
from index_store.access.sign_ins import SignIns
from index_store.access.user_people import UserPeople
from index_store.base.errors import AccessWithdrawn
from index_store.base.settings import Settings
from index_store.library.data_folder import open_catalogue


class Access:
    """Of the process, which acts in the local person's name."""

    def __init__(self, database: Engine, settings: Settings) -> None:
        self._database = database
        self.people = People(database, settings)
        self.rights = Rights(database)
        self.sign_ins = SignIns(database)
        self.grants = Grants(database, self.gate(as_local))

    def close(self) -> None:
        self.people.close()

    def principal(self, person_id: str) -> Principal:
        """As they are now, for what goes on without them. `person_id`: as a principal had it, not as a browser says.

        Raises AccessWithdrawn.
        """
        principal = LOCAL if person_id == LOCAL.id else self.people.known(person_id)
        if principal is None:
            raise AccessWithdrawn()
        return principal

    def as_user(self, who: Who) -> "UserAccess":
        return UserAccess(self._database, self.people, self.gate(who))

    def gate(self, who: Who) -> Gate:
        return Gate(self.rights, who)


class UserAccess:
    """In somebody's name."""

    def __init__(self, database: Engine, people: People, gate: Gate) -> None:
        self.people = UserPeople(people, gate)
        self.grants = Grants(database, gate)


@contextmanager
def open_access(settings: Settings) -> Iterator[Access]:
    """While the app runs too: who is disabled here is out there with their next action.

    Raises DataFolderUnusable, DataFolderDamaged, DataFolderNewer; StoreInUse where an app of another version runs.
    """
    with open_catalogue(settings.data_dir) as catalogue, closing(Access(catalogue.database, settings)) as access:
        yield access
