"""Computes the graph, in requests that remember the tokens that they have read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from rag.models.embedded.engines.qwen2.prepared import GROUP, Sizes

Floats = NDArray[np.float32]

MASKED = np.float32(-1e9)
"""added to the attention to tokens that come later"""


class Network:
    def __init__(self, graph: Path, sizes: Sizes, threads: int, context: int) -> None:
        """`context`: tokens that a request can remember."""
        settings = {
            "INFERENCE_NUM_THREADS": threads,
            "PERFORMANCE_HINT": "LATENCY",
            # The same grades on every processor: no half precision where a processor has it.
            "INFERENCE_PRECISION_HINT": "f32",
            "KV_CACHE_PRECISION": "f32",
            # The input of a matrix is rounded to bytes in groups of this size, each with its own scale.
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": GROUP,
        }
        self._compiled = ov.Core().compile_model(graph, "CPU", settings)
        wavelengths = sizes.rotation ** (np.arange(0, sizes.head_width, 2) / sizes.head_width)
        angles = np.tile(np.outer(np.arange(context), 1 / wavelengths), 2)[None, None]
        self._cosines: Floats = np.cos(angles).astype(np.float32)
        self._sines: Floats = np.sin(angles).astype(np.float32)

    def request(self) -> "Request":
        return Request(self._compiled.create_infer_request(), self._cosines, self._sines)


class Request:
    """Not thread-safe."""

    def __init__(self, request: ov.InferRequest, cosines: Floats, sines: Floats) -> None:
        self._request = request
        self._cosines, self._sines = cosines, sines
        self.tokens: list[int] = []
        """those that it has read and remembers"""
        self.entries: list[int] = []
        """where their keys and values are; others belong to forgotten tokens"""
        self._length = 0
        """keys and values, with those of forgotten tokens"""

    def read(self, tokens: Sequence[int], wanted: int = 1) -> Floats:
        """The logits of what follows each of the last `wanted` tokens: (wanted, words).

        If it fails, all is forgotten.
        """
        known, entries, length = self.tokens, self.entries, self._length
        count, start = len(tokens), len(known)
        mask = np.full((count, length + count), MASKED)
        mask[:, entries] = 0
        mask[:, length:] = np.triu(mask[:, length:], 1)
        inputs: dict[str, NDArray[np.generic]] = {
            "tokens": np.array([tokens], np.int64),
            "cosines": self._cosines[:, :, start : start + count],
            "sines": self._sines[:, :, start : start + count],
            "mask": mask[None, None],
            "wanted": np.arange(count - wanted, count),
            "order": np.zeros(1, np.int32),
        }
        try:
            logits: Floats = self._request.infer(inputs)[0].copy()
        except BaseException:
            self._request.reset_state()
            self._become([], [], 0)
            raise
        self._become([*known, *tokens], [*entries, *range(length, length + count)], length + count)
        return logits

    def forget(self, count: int) -> None:
        """The last `count` tokens. Their keys and values stay, because removing them takes a third of the time of a
        token, but no attention is paid to them.
        """
        left = len(self.tokens) - count
        self._become(self.tokens[:left], self.entries[:left], self._length)

    def remember(self, other: "Request", count: int) -> None:
        """Takes over the first `count` tokens that `other` remembers, and forgets its own."""
        if other is self and 0 < count == len(self.tokens):
            return
        entries = other.entries[:count]
        states = other.keys_and_values() if count else {}
        taken = {name: np.ascontiguousarray(state.state.data[:, :, entries]) for name, state in states.items()}
        tokens = other.tokens[:count]
        self._become([], [], 0)
        self._request.reset_state()
        mine = self.keys_and_values()
        for name, values in taken.items():
            mine[name].state = ov.Tensor(values)
        self._become(tokens, list(range(count)), count)

    def keys_and_values(self) -> dict[str, Any]:
        """By the name of the state: (1, heads, tokens, width of a head)."""
        return {state.name: state for state in self._request.query_state()}

    def _become(self, tokens: list[int], entries: list[int], length: int) -> None:
        self.tokens, self.entries, self._length = tokens, entries, length
