"""What the jobs of a store share."""

from dataclasses import dataclass

from index_store.base.settings import Settings
from index_store.library.library import Library
from index_store.library.versions import Intake
from index_store.parsing.chunking.splitter import VERSION
from index_store.parsing.worker.parser import Parser
from index_store.vectors.embeddings import Embeddings


@dataclass(frozen=True)
class Workshop:
    settings: Settings
    library: Library
    intake: Intake
    parser: Parser
    embeddings: Embeddings

    @property
    def splitting(self) -> tuple[int, int, int]:
        """What, besides the file, decides which chunks a document has."""
        return VERSION, self.settings.chunk_size, self.settings.chunk_overlap
