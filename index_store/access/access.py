"""People, their sign-ins, grants and limits, in the database of a data folder's catalogue; and who did what."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from sqlalchemy import Engine

from index_store.access.gate import Gate, Who, as_local
from index_store.access.grants import Grants
from index_store.access.limits import Limits
from index_store.access.people import People
from index_store.access.principal import LOCAL, Principal
from index_store.access.rights import Rights
from index_store.access.sign_ins import SignIns
from index_store.access.user_people import UserAudit, UserLimits, UserPeople
from index_store.audit.audit import Audit
from index_store.base.errors import AccessWithdrawn
from index_store.base.settings import Settings
from index_store.library.data_folder import open_catalogue


class Access:
    """Of the process, which acts in the local person's name."""

    def __init__(self, database: Engine, settings: Settings) -> None:
        self._database = database
        self.people = People(database, settings)
        self.sign_ins = SignIns(database)
        self.limits = Limits(database)
        self.audit = Audit(settings)
        self.rights = Rights(database)
        self.grants = Grants(database, self.gate(as_local), self.audit)

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
        return UserAccess(self, self._database, self.gate(who))

    def gate(self, who: Who) -> Gate:
        return Gate(self.rights, who)


class UserAccess:
    """In somebody's name."""

    def __init__(self, access: Access, database: Engine, gate: Gate) -> None:
        self.people = UserPeople(access.people, gate, access.audit)
        self.grants = Grants(database, gate, access.audit)
        self.limits = UserLimits(access.limits, gate, access.audit)
        self.audit = UserAudit(access.audit, gate)


@contextmanager
def open_access(settings: Settings) -> Iterator[Access]:
    """While the app runs too: who is disabled here is out there with their next action.

    Raises DataFolderUnusable, DataFolderDamaged, DataFolderNewer; StoreInUse where an app of another version runs.
    """
    with open_catalogue(settings.data_dir) as catalogue, closing(Access(catalogue.database, settings)) as access:
        yield access
