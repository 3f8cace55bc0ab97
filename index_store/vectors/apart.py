"""Moves vectors apart before they are stored: HNSW finds little among a thousand that are equal."""

from zlib import crc32

import numpy as np
from numpy.typing import NDArray

APART = 0.01
"""how far a vector is moved, as a share of its length: this changes a cosine by 0.00005"""


def apart(vectors: NDArray[np.float32], seed: str) -> NDArray[np.float32]:
    """The same vectors, each moved very little. Among a thousand equal vectors, each has only equal ones as neighbours,
    and a search that reaches them never leaves them (docs/decisions/search/hnsw-graph.md). `seed`: another one for
    other vectors of the same collection, which may be equal to these.
    """
    random = np.random.default_rng(crc32(seed.encode()))
    somewhere = random.standard_normal(vectors.shape, np.float32) / np.sqrt(vectors.shape[1])
    moved: NDArray[np.float32] = vectors + APART * np.linalg.norm(vectors, axis=1, keepdims=True) * somewhere
    return moved
