"""What the stages of a job share: services of the store, and data of the job."""

import threading
from dataclasses import dataclass, field

from index_store.base.precedence import Precedence
from index_store.base.settings import Settings
from index_store.crawl import Paces
from index_store.ingestion.progress import Items
from index_store.library.library import Library
from index_store.library.versions import Versions
from index_store.parsing.chunking.chunker import VERSION
from index_store.parsing.worker.parser import Parser
from index_store.vectors.embeddings import Embeddings


@dataclass(frozen=True)
class Services:
    """The services that all jobs of a store use."""

    settings: Settings
    library: Library
    versions: Versions
    parser: Parser
    embeddings: Embeddings
    precedence: Precedence = field(default_factory=Precedence)
    """of questions that a model of this machine answers"""
    paces: Paces = field(default_factory=Paces)
    """that crawls keep to each host, together"""

    @property
    def splitting(self) -> tuple[int, int, int]:
        """What, besides the file, decides which chunks a document has."""
        return VERSION, self.settings.chunk_size, self.settings.chunk_overlap


class Stop:
    """Whether a job must stop early, and what happens to the rest."""

    def __init__(self) -> None:
        self._cancelled = threading.Event()
        self._suspended = threading.Event()

    def cancel(self) -> None:
        """As if the rest had not been given."""
        self._cancelled.set()

    def suspend(self) -> None:
        """The rest stays pending, unless it was cancelled before."""
        if not self._cancelled.is_set():
            self._suspended.set()

    @property
    def is_set(self) -> bool:
        return self._cancelled.is_set() or self._suspended.is_set()

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    @property
    def is_suspended(self) -> bool:
        return self._suspended.is_set()


@dataclass(frozen=True)
class JobContext:
    """The context of one job."""

    services: Services
    items: Items = field(default_factory=Items)
    stop: Stop = field(default_factory=Stop)
