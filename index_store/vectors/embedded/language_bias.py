"""Corrects what draws a question to passages in its own language.

The model puts texts of one language together, whatever they are about. So a Japanese question is nearer to many
Japanese passages about other things than to the English one that answers it. Vectors stay as the model makes them. On
one axis, Japanese and English texts differ; where a text is on it tells its language, whatever its letters.

`python -m benchmarks.across_languages` measures the effect, and makes `language_axis.npy` with --fit.
docs/decisions/search/across-languages.md has the figures.
"""

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from index_store.vectors.embeddings import Vectors

AXIS = Path(__file__).with_name("language_axis.npy")
"""from the mean of Japanese passages to that of English ones, of length 1: (width,)"""

JAPANESE, ENGLISH = -0.12, 0.0
"""places on the axis: nearly all Japanese texts are below the first one, and English ones above the second"""

GAP = 0.03
"""what the cosine lacks if question and passage differ in language. With more, passages of the other language that are
only about the same subject come first."""


class JapaneseAndEnglish:
    """The bias between these two languages."""

    def mirrored(self, question: Vectors) -> Vectors:
        return question - 2 * (question @ _axis()) * _axis()

    def gaps(self, question: Vectors, passages: Vectors) -> Vectors:
        gaps: Vectors = GAP * np.abs(_share_of_english(passages) - _share_of_english(question))
        return gaps


def _share_of_english(vectors: Vectors) -> NDArray[np.float32]:
    """0 for Japanese, 1 for English, and between them for what is neither, such as a code: (...)"""
    shares: NDArray[np.float32] = np.clip((vectors @ _axis() - JAPANESE) / (ENGLISH - JAPANESE), 0, 1)
    return shares


@cache
def _axis() -> NDArray[np.float32]:
    axis: NDArray[np.float32] = np.load(AXIS)
    return axis
