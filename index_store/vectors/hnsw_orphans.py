"""Orphans: vectors that Chroma's HNSW graph no longer reaches, so that Chroma's search does not find them.

HNSW goes from neighbour to neighbour. When vectors are added and deleted, a few end up as nobody's neighbour. They are
compared with each question one by one: docs/decisions/search/hnsw-graph.md.
"""

import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from index_store.base.batches import batches
from index_store.vectors.embeddings import unit_vectors

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

BATCH = 5000
"""records per call"""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Orphans:
    ids: Sequence[str]
    document_ids: Sequence[str]
    units: NDArray[np.float32]
    """(orphans, dimensions), each row of length 1"""

    @classmethod
    def none(cls) -> Self:
        return cls((), (), np.empty((0, 0), np.float32))

    @classmethod
    def of(cls, collection: "Collection", most: int) -> Self | None:
        """Finds the orphans: one search for all vectors shows which it misses. Takes 2 ms for 1,000 vectors, 0.2 s for
        50,000. None if there are more than `most` vectors.
        """
        if most < sys.maxsize and collection.count() > most:  # takes a tenth of the time needed to get all ids
            return None
        every = collection.get(include=[])["ids"]
        lost: list[str] = []
        somewhere = collection.get(limit=1, include=["embeddings"])["embeddings"]
        if len(every) and somewhere is not None and len(somewhere):  # another thread may delete at the same time
            found = collection.query(query_embeddings=somewhere, n_results=len(every), include=[])["ids"][0]
            lost = sorted(set(every).difference(found))
        ids: list[str] = []
        document_ids: list[str] = []
        units = [np.empty((0, 0), np.float32)]
        for some in batches(lost, BATCH):
            records = collection.get(ids=list(some), include=["embeddings", "metadatas"])
            ids += records["ids"]
            document_ids += (str(each["document_id"]) for each in records["metadatas"] or ())
            units.append(unit_vectors(np.asarray(records["embeddings"], np.float32)))
        if lost:
            log.info(
                "%d of %d vectors of %s are not reachable in Chroma's graph", len(lost), len(every), collection.name
            )
        return cls(ids, document_ids, np.concatenate(units[1:] or units))

    def cosines(self, vector: NDArray[np.float32], within: Sequence[str] | None) -> dict[str, float]:
        """By id; only of the documents `within`, if given."""
        if not self.ids:
            return {}
        allowed = None if within is None else set(within)
        of_each = zip(self.ids, self.document_ids, self.units @ unit_vectors(vector), strict=True)
        return {id_: float(cosine) for id_, owner, cosine in of_each if allowed is None or owner in allowed}
