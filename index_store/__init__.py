"""How documents are kept and found.

What is imported from here is loaded when it is asked for: a parser's process (loaders/worker.py) needs none of it, and
would take three times as long to start with all of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_HOMES = {
    "analysis": ("Analysis",),
    "crawl": ("CrawlOptions",),
    "embeddings": ("Embeddings", "make_embeddings"),
    "ingestion": ("Ingestion",),
    "records": (
        "AddStatus",
        "Added",
        "Chunk",
        "Difference",
        "Document",
        "DocumentStatus",
        "Hit",
        "Index",
        "Original",
        "Place",
        "Section",
        "Site",
        "WordCount",
    ),
    "search": ("MODES", "UNITS"),
    "settings": ("Settings",),
    "sources": ("FileSource", "SiteSource", "expand"),
    "store": ("IndexStore",),
}
"""module -> what it has of these names"""


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"index_store.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
