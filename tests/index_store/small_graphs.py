"""Chroma writes the graph of an index to its folder after a hundred changes instead of a thousand."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from index_store.vectors.backend import SPACE

GRAPH = 120
"""vectors: so many that Chroma writes their graph"""


@contextmanager
def small_graphs() -> Iterator[None]:
    """Of the indexes that are made meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SPACE["hnsw"], "sync_threshold", 100)
        yield
