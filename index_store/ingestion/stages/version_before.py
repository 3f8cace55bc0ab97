"""The vectors of a document's ready version, used again for the texts that its new version has too."""

import logging
from collections import defaultdict
from collections.abc import Sequence

from index_store.base.errors import VectorServerError
from index_store.catalogue.pending_versions import PendingVersion
from index_store.library.library import Library
from index_store.parsing.chunking.chunker import ParsedChunk
from index_store.vectors.embeddings import Vectors

log = logging.getLogger(__name__)


class VersionBefore:
    """The ready version of a document whose new version is embedded. It may lend no vectors: if there is none, or if
    all texts must be embedded again.
    """

    def __init__(self, library: Library, version: PendingVersion) -> None:
        self._vectors = library.vectors
        self._collection = version.collection
        self._unused: dict[bytes, list[str]] = defaultdict(list)
        """ids of its chunks, by the digest of the text that was embedded: each is used once, since no two vectors of a
        collection may be equal"""
        if not (version.is_new or version.embeds_all):
            for id_, digest in library.catalogue.sections.embedded(version.document_id):
                self._unused[digest].append(id_)

    def vectors(self, chunks: Sequence[ParsedChunk]) -> list[Vectors | None]:
        """For each chunk the vector of the same text; None if there is none, or it can't be read."""
        ids = [self._use(chunk.digest) for chunk in chunks]
        wanted = [id_ for id_ in ids if id_]
        if not wanted:
            return [None] * len(chunks)
        try:
            found = self._vectors.vectors(self._collection, wanted)
        except (OSError, VectorServerError) as error:
            log.warning("Vectors can't be read, so their texts are embedded again: %s", error)
            found = {}
        return [found.get(id_) if id_ else None for id_ in ids]

    def _use(self, digest: bytes) -> str | None:
        unused = self._unused.get(digest)
        return unused.pop() if unused else None
