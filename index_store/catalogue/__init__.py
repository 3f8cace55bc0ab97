"""What there is, in SQL: the truth that vectors (vectors.py) and originals (originals.py) are held against.

    indexes       by name, with their embedding model and collection of vectors
    documents     what is known of each, and what is to go
    drafts        versions of documents on their way in
    passages      sections and chunks of the versions that are ready
    full_text     the terms of the chunks (keywords.py)
    sites         what was crawled, and what the crawler wants to know again
    leftovers     vectors and collections that are to go from Chroma

Every method of a room is one transaction; a function that takes a connection is part of its caller's. Several threads
read while one writes.
"""

from pathlib import Path

from index_store.catalogue.documents import Documents
from index_store.catalogue.drafts import Draft, Drafts
from index_store.catalogue.full_text import FullText
from index_store.catalogue.indexes import Indexes
from index_store.catalogue.leftovers import Leftover, Leftovers
from index_store.catalogue.passages import Passages
from index_store.catalogue.schema import open_catalogue
from index_store.catalogue.sites import Sites

__all__ = ["Catalogue", "Draft", "Leftover"]


class Catalogue:
    def __init__(self, file: Path) -> None:
        self._engine = open_catalogue(file)
        self.indexes = Indexes(self._engine)
        self.documents = Documents(self._engine)
        self.drafts = Drafts(self._engine)
        self.passages = Passages(self._engine)
        self.full_text = FullText(self._engine)
        self.sites = Sites(self._engine)
        self.leftovers = Leftovers(self._engine)

    def close(self) -> None:
        self._engine.dispose()

    def give_space_back(self) -> None:
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM")
