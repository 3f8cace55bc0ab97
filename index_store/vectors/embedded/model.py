"""Embeds texts with the embedded model."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np

from index_store.base.precedence import Precedence
from index_store.base.process.processor import cores
from index_store.vectors.embedded import weights
from index_store.vectors.embedded.encoder import Encoder
from index_store.vectors.embedded.language_bias import JapaneseAndEnglish
from index_store.vectors.embedded.tokenizer import Tokenizer
from index_store.vectors.embedded.weights import Weights
from index_store.vectors.embeddings import Vectors, embeddable, unit_vectors

PASSAGE = "passage: "
QUESTION = "query: "
"""The model was trained with these prefixes before its texts."""

CALL = 1024
"""tokens per call of the network, including padding. A call takes a fifth of a second, so no question waits longer.
Larger calls would not be faster."""

GIVE_WAY_SECONDS = 1.0
"""seconds that a call of passages waits for questions at most, so that many questions can't stop an import"""


class EmbeddedEmbeddings:
    """multilingual-e5-small, loaded at first use, once per process.

    Thread-safe. Questions go first: between two calls of the network, passages wait while a question is embedded.
    """

    id = "multilingual-e5-small-q4"
    dimension = 384

    batch = 64
    """takes about a second, which Ctrl-C has to wait. Texts of similar length share a call of the network."""

    language_bias = JapaneseAndEnglish()

    def __init__(self) -> None:
        self._questions = Precedence()

    def close(self) -> None:
        """Does nothing: the network stays loaded for later use."""

    def load(self) -> None:
        """Loads the network. Raises EmbeddedModelUnusable."""
        self._network()

    def passages(self, texts: Sequence[str]) -> Vectors:
        """A longer text than the model reads is split into windows; its vector is their mean, weighted by length."""
        network = self._network()
        windows: list[list[int]] = []
        owners: list[int] = []
        for number, text in enumerate(texts):
            own = network.windows(PASSAGE + embeddable(text))
            windows += own
            owners += [number] * len(own)
        sums = np.zeros((len(texts), self.dimension))
        for call in _calls(windows):
            self._questions.give_way(GIVE_WAY_SECONDS)
            means = network.encoder.means([windows[each] for each in call])
            lengths = np.array([_content(windows[each]) for each in call])
            np.add.at(sums, [owners[each] for each in call], means * lengths[:, None])
        return unit_vectors(sums)

    def query(self, text: str) -> Vectors:
        """If the text is longer than the model reads, only its beginning counts."""
        with self._questions.question():
            network = self._network()
            window = network.first_window(QUESTION + embeddable(text))
            vector: Vectors = unit_vectors(network.encoder.means([window]))[0]
            return vector

    def _network(self) -> "_Network":
        with _loading:
            return _network_of(weights.package_file())


_loading = threading.Lock()


@cache
def _network_of(file: Path) -> "_Network":
    """Takes a second of processor time."""
    return _Network(Weights(file))


class _Network:
    """Tokenizer and encoder."""

    def __init__(self, weights: Weights) -> None:
        self._begin, self._end = weights.begin, weights.end
        self._content = weights.sizes.positions - 2
        """tokens of a window, without those that mark beginning and end"""
        with ThreadPoolExecutor(1) as beside:  # each takes half a second, the encoder mostly outside Python
            encoder = beside.submit(Encoder, weights, cores())
            self._tokenizer = Tokenizer(weights)
            self.encoder = encoder.result()

    def windows(self, text: str) -> list[list[int]]:
        tokens = self._tokenizer.tokens(text)
        return [self._window(tokens[start : start + self._content]) for start in range(0, len(tokens), self._content)]

    def first_window(self, text: str) -> list[int]:
        return self._window(self._tokenizer.tokens(text, most=self._content))

    def _window(self, content: list[int]) -> list[int]:
        return [self._begin, *content, self._end]


def _calls(windows: list[list[int]]) -> Iterator[list[int]]:
    """Groups of windows, as indexes, to compute together: similar lengths, so little padding, the longest first."""
    call: list[int] = []
    for number in sorted(range(len(windows)), key=lambda each: -len(windows[each])):
        if call and (len(call) + 1) * len(windows[call[0]]) > CALL:
            yield call
            call = []
        call.append(number)
    if call:
        yield call


def _content(window: list[int]) -> int:
    return len(window) - 2
