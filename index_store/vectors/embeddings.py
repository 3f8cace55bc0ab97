"""The interface of embedding models: texts to vectors."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embeddings(Protocol):
    """A model that turns texts into vectors; passages and questions may be treated differently."""

    @property
    def id(self) -> str: ...

    @property
    def batch(self) -> int:
        """Texts that are best given at once: more make a call long, and it can't be cancelled."""
        ...

    def load(self) -> None:
        """What would take time at the first text. Raises what that would."""
        ...

    def passages(self, texts: Sequence[str]) -> Vectors:
        """One row a text. Raises ServiceError."""
        ...

    def query(self, text: str) -> Vectors:
        """One vector. Raises ServiceError."""
        ...


def embeddable(text: str) -> str:
    """`text` as models take it: C strings end at NUL, lone surrogates have no UTF-8, and empty input is refused."""
    text = text.replace("\0", " ").encode("utf-8", "replace").decode()
    return text if text.strip() else "-"
