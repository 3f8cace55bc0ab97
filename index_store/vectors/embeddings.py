"""The interface of embedding models: texts to vectors."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class LanguageBias(Protocol):
    """What draws the questions of a model to passages in their own language, for vectors of length 1."""

    def mirrored(self, question: Vectors) -> Vectors:
        """The question as if it were asked in the other language, to find the passages that are near it there:
        (dimensions,).
        """

    def gaps(self, question: Vectors, passages: Vectors) -> Vectors:
        """What the cosine of each passage lacks for its language: (passages,)."""


class Embeddings(Protocol):
    """A model that turns texts into vectors. It may treat passages and questions differently."""

    @property
    def id(self) -> str: ...

    @property
    def batch(self) -> int:
        """Texts per call: with more, a call takes long, and it can't be cancelled."""
        ...

    @property
    def language_bias(self) -> LanguageBias | None:
        """None if it is not known."""
        ...

    def load(self) -> None:
        """Loads the model now, so that the first text does not wait. Raises what that first text would raise."""
        ...

    def passages(self, texts: Sequence[str]) -> Vectors:
        """One row per text: (texts, dimensions). Raises ServiceError."""
        ...

    def query(self, text: str) -> Vectors:
        """One vector: (dimensions,). Raises ServiceError."""
        ...


def unit_vectors(vectors: NDArray[np.floating]) -> Vectors:
    """The same vectors with length 1: (dimensions,) or (vectors, dimensions). One of zeros stays as it is."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    divided: Vectors = (vectors / np.maximum(lengths, np.finfo(np.float32).tiny)).astype(np.float32, copy=False)
    return divided


def embeddable(text: str) -> str:
    """`text` as models accept it: without NUL, which ends C strings, without lone surrogates, and never empty."""
    text = text.replace("\0", " ").encode("utf-8", "replace").decode()
    return text if text.strip() else "-"
