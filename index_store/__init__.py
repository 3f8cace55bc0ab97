"""How documents are kept and found."""

from index_store.analysis import Analysis
from index_store.crawl import CrawlOptions
from index_store.embeddings import Embeddings, make_embeddings
from index_store.ingestion import Ingestion
from index_store.records import (
    Added,
    AddStatus,
    Chunk,
    Difference,
    Document,
    DocumentStatus,
    Hit,
    Index,
    Original,
    Place,
    Section,
    Site,
    WordCount,
)
from index_store.search import MODES, UNITS
from index_store.settings import Settings
from index_store.sources import FileSource, SiteSource, expand
from index_store.store import IndexStore

__all__ = [
    "MODES",
    "UNITS",
    "AddStatus",
    "Added",
    "Analysis",
    "Chunk",
    "CrawlOptions",
    "Difference",
    "Document",
    "DocumentStatus",
    "Embeddings",
    "FileSource",
    "Hit",
    "Index",
    "IndexStore",
    "Ingestion",
    "Original",
    "Place",
    "Section",
    "Settings",
    "Site",
    "SiteSource",
    "WordCount",
    "expand",
    "make_embeddings",
]
