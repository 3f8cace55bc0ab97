"""What the stages of a job share: the store's services and the job's data."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from index_store.base.errors import DatabaseAway, OriginalMissing, OriginalsAway, StoreFailed
from index_store.base.precedence import Precedence
from index_store.base.settings.settings import Settings
from index_store.catalogue.pending_versions import PendingVersion
from index_store.crawl import Paces
from index_store.ingestion.progress import Items
from index_store.ingestion.retry import Retry
from index_store.ingestion.stop import Stop
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
    """lets questions go first to a model on this machine"""
    paces: Paces = field(default_factory=Paces)
    """the pace per host, shared by all crawls"""

    @property
    def splitting(self) -> tuple[int, int, int]:
        """The values, besides the file, that decide which chunks a document has."""
        return VERSION, self.settings.chunk_size, self.settings.chunk_overlap


@dataclass(frozen=True)
class JobContext:
    """The context of one job."""

    services: Services
    items: Items = field(default_factory=Items)
    stop: Stop = field(default_factory=Stop)
    in_worker: bool = False
    """whether the queue delivers each item, and again if its work could not be done"""

    def is_redelivered(self, error: Exception) -> bool:
        """Whether the work that met this error must be left undone, without a result."""
        return self.in_worker and isinstance(error, DatabaseAway)

    @cached_property
    def originals(self) -> Retry:
        """Waits for the store of originals while it is away."""
        return Retry(OriginalsAway, self.stop)

    @contextmanager
    def original(self, version: PendingVersion) -> Iterator[Path]:
        """The original as a file of this machine. Raises OriginalMissing, OriginalsError, StoreFailed."""
        originals = self.services.library.originals
        with ExitStack() as fetched:
            try:
                path = self.originals.call(
                    lambda: fetched.enter_context(originals.local(version.document_id, version.revision))
                )
            except FileNotFoundError as error:
                raise OriginalMissing(name=version.name) from error
            except OSError as error:
                raise StoreFailed(name=version.name) from error
            yield path
