"""The embedded model for tests that search: a text that one of them has embedded is not embedded again."""

from collections.abc import Sequence

import numpy as np

from index_store.vectors.embedded.model import EmbeddedEmbeddings
from index_store.vectors.embeddings import Vectors


class EmbeddedOnce(EmbeddedEmbeddings):
    """Keeps all vectors. Not for tests of the model itself."""

    def __init__(self) -> None:
        super().__init__()
        self._passages: dict[str, Vectors] = {}
        self._questions_asked: dict[str, Vectors] = {}

    def passages(self, texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in self._passages]
        if new:
            self._passages.update(zip(new, super().passages(new), strict=True))
        return np.array([self._passages[text] for text in texts], np.float32).reshape(-1, self.dimension)

    def query(self, text: str) -> Vectors:
        if text not in self._questions_asked:
            self._questions_asked[text] = super().query(text)
        return self._questions_asked[text]
