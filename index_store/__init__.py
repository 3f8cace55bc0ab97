"""How documents are kept and found."""

from index_store.embeddings import Embeddings, make_embeddings
from index_store.records import Added, AddStatus, Document, DocumentStatus, Hit, Index, Section
from index_store.settings import Settings
from index_store.store import IndexStore, expand

__all__ = [
    "AddStatus",
    "Added",
    "Document",
    "DocumentStatus",
    "Embeddings",
    "Hit",
    "Index",
    "IndexStore",
    "Section",
    "Settings",
    "expand",
    "make_embeddings",
]
