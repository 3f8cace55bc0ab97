"""Chooses the next token from the logits, and says how likely it was."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.models.embedded.engines.qwen2.network import Floats

TOP_SHARE = 0.95
"""with a temperature, the least likely tokens, which together have the rest, are not chosen"""


@dataclass(frozen=True)
class Chosen:
    token: int
    logprob: float
    top: Sequence[tuple[int, float]]
    """the likeliest tokens with their log-probabilities, the likeliest first"""


def chosen(logits: Floats, temperature: float, top: int, random: np.random.Generator) -> Chosen:
    """`top`: how many of the likeliest are told. Log-probabilities are those without a temperature."""
    logprobs = _log_softmax(logits.astype(np.float64))
    token = int(logprobs.argmax()) if temperature == 0 else _drawn(logprobs / temperature, random)
    likeliest = np.argpartition(-logprobs, top)[:top] if top else np.array([], np.int64)
    ordered = sorted(((int(each), float(logprobs[each])) for each in likeliest), key=lambda pair: -pair[1])
    return Chosen(token, float(logprobs[token]), ordered)


def _drawn(logits: NDArray[np.float64], random: np.random.Generator) -> int:
    shares = np.exp(_log_softmax(logits))
    order = np.argsort(-shares)
    summed = np.cumsum(shares[order])
    kept = order[: int(np.searchsorted(summed, TOP_SHARE)) + 1]
    return int(random.choice(kept, p=shares[kept] / shares[kept].sum()))


def _log_softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    shifted = logits - logits.max()
    normalised: NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum())
    return normalised
