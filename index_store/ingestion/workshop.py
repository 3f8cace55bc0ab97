"""What the jobs of a store share."""

from dataclasses import dataclass

from index_store.embeddings import Embeddings
from index_store.intake import Intake
from index_store.library import Library
from index_store.loaders.parser import Parser
from index_store.settings import Settings
from index_store.split import VERSION


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
