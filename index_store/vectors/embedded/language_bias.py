"""Corrects what draws a question to passages in its own language.

The model puts texts of one language together, whatever they are about. So a Japanese question is nearer to many
Japanese passages about other things than to the English one that answers it. The vectors of passages stay as they are;
only that of the question is moved along the axis on which English and Japanese passages differ.

`python -m benchmarks.across_languages` measures the effect, and makes `language_axis.npy` with --fit.
docs/decisions/search/across-languages.md has the figures.
"""

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

AXIS = Path(__file__).with_name("language_axis.npy")
"""from the mean of Japanese passages to that of English ones, of length 1: (width,)"""

STRENGTH = 0.75
"""share of a question's place on the axis that is removed. With all of it, passages of the other language that are only
about the same subject come before the right one too often."""


def corrected(questions: NDArray[np.floating]) -> NDArray[np.floating]:
    """`questions`: (questions, width). The results are not normalised."""
    return questions - STRENGTH * np.outer(questions @ _axis(), _axis())


@cache
def _axis() -> NDArray[np.float32]:
    axis: NDArray[np.float32] = np.load(AXIS)
    return axis
