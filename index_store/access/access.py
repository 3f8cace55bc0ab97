"""People, their sign-ins, grants and limits, in the database of a data folder's catalogue; and who did what."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from sqlalchemy import Engine

from index_store.access.grants import Grants
from index_store.access.limits import Limits
from index_store.access.people import People
from index_store.access.sign_ins import SignIns
from index_store.audit.audit import Audit
from index_store.base.settings import Settings
from index_store.library.data_folder import open_catalogue


class Access:
    def __init__(self, database: Engine, settings: Settings) -> None:
        self.people = People(database, settings)
        self.sign_ins = SignIns(database)
        self.grants = Grants(database)
        self.limits = Limits(database)
        self.audit = Audit(settings)

    def close(self) -> None:
        self.people.close()


@contextmanager
def open_access(settings: Settings) -> Iterator[Access]:
    """While the app runs too: who is disabled here is out there with their next action.

    Raises DataFolderUnusable, DataFolderDamaged, DataFolderNewer; StoreInUse where an app of another version runs.
    """
    with open_catalogue(settings.data_dir) as catalogue, closing(Access(catalogue.database, settings)) as access:
        yield access
