"""A substitute for an embedding model, for indexes that would take hours to embed."""

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from index_store.vectors.embedded.model import EmbeddedEmbeddings
from index_store.vectors.embeddings import Embeddings, Vectors


class Clustered:
    """A substitute for an embedding model: the same text always gets the same unit vector; its meaning does not matter.

    Distances are like those of multilingual-e5-small, measured on 400 paragraphs of JSQuAD: cosine 0.77 for two
    articles, 0.82 inside one, 0.89 to the nearest. Chroma's search graph must distinguish these.
    """

    id = "stand-in"
    batch = 1000
    language_bias = EmbeddedEmbeddings.language_bias
    dimension = EmbeddedEmbeddings.dimension

    SHARES = (0.77, 0.05, 0.07, 0.11)
    """parts of the square of a vector: common to all, of an article, of a subject, its own"""
    ARTICLES, SUBJECTS = 1000, 20_000

    def __init__(self, file: Path | None = None, reader: Embeddings | None = None) -> None:
        """`file`: where vectors of passages are also written, as float32. `reader`: a model that embeds each question
        too, so that its time is included.
        """
        self._file = file
        self._reader = reader
        self._asked: dict[str, Vectors] = {}
        """questions; each is made once, before its searches are timed"""

    def load(self) -> None:
        """Does nothing."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.stack([self._vector(text) for text in texts])
        if self._file:
            with self._file.open("ab") as file:
                vectors.tofile(file)
        return vectors

    def read(self, text: str) -> None:
        """Takes as long as embedding a question."""
        if self._reader:
            self._reader.query(text)

    def prepare(self, text: str) -> None:
        """Makes the vector of a question in advance, because that takes longer than with a real model."""
        if text not in self._asked:
            self._asked[text] = self._vector(text)

    def query(self, text: str) -> Vectors:
        self.read(text)
        self.prepare(text)
        return self._asked[text]

    def drawn(self, count: int, chance: np.random.Generator) -> Vectors:
        """`count` vectors without texts, among the same articles and subjects: a hundredth of the work."""
        own = self.SHARES[-1]
        subjects = _centres()[chance.integers(self.SUBJECTS, size=count)]
        noise = chance.standard_normal((count, self.dimension), np.float32)
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
        vectors: Vectors = subjects + np.float32(np.sqrt(own)) * noise
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def _vector(self, text: str) -> Vectors:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
        subject = seed % self.SUBJECTS
        levels = ("all", f"article {subject % self.ARTICLES}", f"subject {subject}", f"own {seed}")
        vector = sum(np.sqrt(share) * _direction(level) for share, level in zip(self.SHARES, levels, strict=True))
        return (vector / np.linalg.norm(vector)).astype(np.float32)


def _direction(name: str) -> Vectors:
    generator = np.random.default_rng(list(name.encode()))
    direction = generator.standard_normal(Clustered.dimension)
    return direction / np.linalg.norm(direction)


@cache
def _centres() -> Vectors:
    """One row per subject."""
    common, article, subject, _ = (np.sqrt(share) for share in Clustered.SHARES)
    articles = np.stack([_direction(f"article {number}") for number in range(Clustered.ARTICLES)])
    subjects = np.stack([_direction(f"subject {number}") for number in range(Clustered.SUBJECTS)])
    of_subject = articles[np.arange(Clustered.SUBJECTS) % Clustered.ARTICLES]
    return (common * _direction("all") + article * of_subject + subject * subjects).astype(np.float32)
