"""The catalogue, in SQL: all documents and indexes. Vectors and originals must agree with it.

    indexes            by name, with their embedding model and collection of vectors
    documents          their data, and which must be removed
    pending_versions   versions of documents that are being added
    sections           sections and chunks of the ready versions
    full_text          the terms of the chunks
    sites              crawled sites, and data for their next crawl
    leftovers          vectors and collections that must be deleted from Chroma
    removed_documents  removed documents, for those who have quoted them

The tables of people and grants are in the same database; access/ reads and changes them.

Each method of these is one transaction; a function that takes a connection is part of its caller's. Several threads
read while one writes. They return data (records.py), never a row of SQLAlchemy.
"""

from contextlib import ExitStack
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine

from index_store.base.database.backend import DatabaseLocation
from index_store.base.database.database import backend_of, open_database
from index_store.catalogue.documents import Documents
from index_store.catalogue.full_text import FullText
from index_store.catalogue.indexes import Indexes
from index_store.catalogue.leftovers import Leftovers
from index_store.catalogue.pending_versions import PendingVersions
from index_store.catalogue.removed_documents import RemovedDocuments
from index_store.catalogue.schema import SCHEMA
from index_store.catalogue.sections import Sections
from index_store.catalogue.sites import Sites

if TYPE_CHECKING:
    from index_store.base.replica import Replica


class Catalogue:
    def __init__(self, place: DatabaseLocation) -> None:
        self._engine = open_database(place, SCHEMA)
        self._owned: Connection | None = None
        self.replica: Replica | None = None
        """this app among those that share the database; None if there can be only one"""
        self.indexes = Indexes(self._engine)
        self.documents = Documents(self._engine)
        self.pending_versions = PendingVersions(self._engine)
        self.sections = Sections(self._engine)
        self.full_text = FullText(self._engine)
        self.sites = Sites(self._engine)
        self.leftovers = Leftovers(self._engine)
        self.removed_documents = RemovedDocuments(self._engine)

    @property
    def database(self) -> Engine:
        """For queries on other subjects in the same database."""
        return self._engine

    def own(self) -> None:
        """Makes this process the only owner, which changes vectors and originals too. Raises DatabaseInUse."""
        self._owned = backend_of(self._engine).own(self._engine)

    def share(self) -> None:
        """Makes this process one of several owners. Raises DatabaseInUse."""
        from index_store.base.replica import Replica

        self.replica = Replica(self._engine)

    def close(self) -> None:
        with ExitStack() as opened:
            opened.callback(self._engine.dispose)
            if self._owned:
                opened.callback(self._owned.close)
            if self.replica:
                opened.callback(self.replica.close)

    def give_space_back(self) -> None:
        backend_of(self._engine).give_space_back(self._engine)
