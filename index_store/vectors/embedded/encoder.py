"""The network: a BERT of twelve layers, as a graph that OpenVINO computes on the processor.

The graph is made at first use, in half a second, from the weights as they are in the file. So there is no second file
that could be damaged or be of another version.
"""

from collections.abc import Sequence
from queue import Empty, SimpleQueue
from typing import TypeAlias

import numpy as np
import openvino as ov
from numpy.typing import NDArray
from openvino import Node, Output
from openvino import opset13 as op

from index_store.base.process.processor import BYTE_PRODUCTS, instructions
from index_store.vectors.embedded.weights import BLOCK, Floats, Tensor, Weights, dequantised

Value: TypeAlias = Node | Output
"""a value in the graph: (texts, tokens, width) unless a docstring says otherwise"""

Parts: TypeAlias = Sequence[tuple[Tensor, Tensor]]
"""matrices, each with its bias"""

MASKED = -1e9
"""added to the attention to padding"""

AMX = "amx_bf16"
"""Linux's name for the instructions that multiply matrices of bfloat16"""


class Encoder:
    """Thread-safe."""

    def __init__(self, weights: Weights, threads: int) -> None:
        self._weights = weights
        self._places = _places(weights)
        # Nearly the same vectors in all three forms: docs/decisions/models/embedding-model.md. On a processor of which
        # nothing is known, OpenVINO sees itself whether it has dot products of bytes.
        known = instructions()
        in_bfloat16 = AMX in known
        in_floats = in_bfloat16 or (bool(known) and BYTE_PRODUCTS.isdisjoint(known))
        settings = {
            "INFERENCE_NUM_THREADS": threads,
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "bf16" if in_bfloat16 else "f32",
            # Where the processor has dot products of bytes, the input of a matrix is rounded to bytes in groups of this
            # size, each with its own scale, like the weights. So a text's vector does not depend on its batch.
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0 if in_floats else BLOCK,
        }
        model = Graph(weights, keeps_blocks=not in_floats).model()
        self._network = ov.Core().compile_model(model, "CPU", settings)
        self._idle: SimpleQueue[ov.InferRequest] = SimpleQueue()

    def means(self, windows: Sequence[Sequence[int]]) -> Floats:
        """The mean of the vectors of each window's tokens, not normalised: (windows, width).

        A window has at most `sizes.positions` tokens, including those of its beginning and end. Shorter windows are
        padded to the longest one, so put windows of similar length together.
        """
        lengths = np.array([len(each) for each in windows])
        longest = int(lengths.max())
        tokens = np.full((len(windows), longest), self._weights.padding)
        for row, window in zip(tokens, windows, strict=True):
            row[: len(window)] = window
        is_text = np.arange(longest) < lengths[:, None]
        embedded = self._words(tokens) + self._places[:longest]
        shares = (is_text / lengths[:, None]).astype(np.float32)
        mask = np.where(is_text, 0, MASKED).astype(np.float32)
        return self._run([embedded, mask[:, None, None], shares[:, :, None]])

    def _run(self, inputs: list[Floats]) -> Floats:
        try:
            request = self._idle.get_nowait()
        except Empty:
            request = self._network.create_infer_request()
        try:
            means: Floats = request.infer(inputs)[0].copy()
            return means
        finally:
            self._idle.put(request)

    def _words(self, tokens: NDArray[np.int64]) -> Floats:
        """Looked up here and not in the graph: as floats, all words would take 384 MB."""
        different, which = np.unique(tokens, return_inverse=True)
        vectors = dequantised(self._weights.words[different]).reshape(len(different), -1)
        return vectors[which.reshape(tokens.shape)]


def _places(weights: Weights) -> Floats:
    """The vector that is added to the word at each place: (places, width)."""
    width = weights.sizes.width
    places: Floats = weights.tensor("emb.pos").floats.reshape(-1, width) + weights.tensor("emb.type").floats[:width]
    return places


class Graph:
    """The layers, from the words' vectors to the mean of their outputs.

    Inputs: words with their places; the number added to the attention to each token, (texts, 1, 1, tokens); each
    token's share in the mean, (texts, tokens, 1).
    """

    def __init__(self, weights: Weights, keeps_blocks: bool) -> None:
        """`keeps_blocks`: matrices stay integers with scales, as products of bytes need them. Else they are floats."""
        self._weights = weights
        self._sizes = weights.sizes
        self._keeps_blocks = keeps_blocks

    def model(self) -> ov.Model:
        width = self._sizes.width
        words = op.parameter([-1, -1, width], np.float32)
        mask = op.parameter([-1, 1, 1, -1], np.float32)
        shares = op.parameter([-1, -1, 1], np.float32)
        x = self._normalised(words, "emb.ln")
        for number in range(self._sizes.layers):
            x = self._layer(x, mask, f"l{number}")
        mean = op.reduce_sum(op.multiply(x, shares), np.array([1]), keep_dims=False)
        return ov.Model([mean], [words, mask, shares], "multilingual-e5-small")

    def _layer(self, x: Value, mask: Value, layer: str) -> Value:
        attended = self._linear(self._attention(x, mask, layer), layer, "ao")
        x = self._normalised(op.add(x, attended), f"{layer}.aln")
        inner = op.gelu(self._linear(x, layer, "fi"), "erf")
        return self._normalised(op.add(x, self._linear(inner, layer, "fo")), f"{layer}.oln")

    def _attention(self, x: Value, mask: Value, layer: str) -> Value:
        together = op.split(self._linear(x, layer, "q", "k", "v"), np.array(2), 3)
        query, key, value = (self._heads(each) for each in together.outputs())
        attended = op.scaled_dot_product_attention(query, key, value, mask)
        in_order = op.transpose(attended, np.array([0, 2, 1, 3]))
        return op.reshape(in_order, np.array([0, 0, self._sizes.width]), special_zero=True)

    def _heads(self, x: Value) -> Value:
        """Splits the width into heads: (texts, heads, tokens, width of a head)."""
        heads = self._sizes.heads
        split = op.reshape(x, np.array([0, 0, heads, self._sizes.width // heads]), special_zero=True)
        return op.transpose(split, np.array([0, 2, 1, 3]))

    def _normalised(self, x: Value, name: str) -> Value:
        scale, shift = (op.constant(self._weights.tensor(f"{name}.{part}").floats) for part in ("w", "b"))
        even = op.mvn(x, np.array([-1]), True, self._weights.epsilon, "inside_sqrt")
        return op.add(op.multiply(even, scale), shift)

    def _linear(self, x: Value, layer: str, *names: str) -> Value:
        """Several matrices at once, their outputs joined in this order."""
        tensor = self._weights.tensor
        parts = [(tensor(f"{layer}.{each}.w"), tensor(f"{layer}.{each}.b")) for each in names]
        biases = np.concatenate([bias.floats for _, bias in parts])
        matrix = _as_blocks(parts) if self._keeps_blocks else _as_floats(parts)
        return op.add(op.matmul(x, matrix, transpose_a=False, transpose_b=True), op.constant(biases))


def _as_blocks(parts: Parts) -> Value:
    """The matrices on top of each other, (all rows, columns), whose numbers stay integers with scales."""
    matrices = [matrix.quantised(rows=bias.count) for matrix, bias in parts]
    integers, scales = (np.concatenate(part) for part in zip(*matrices, strict=True))
    weights = op.multiply(op.convert(op.constant(integers), "f32"), op.constant(scales))
    return op.reshape(weights, np.array([len(integers), -1]), special_zero=False)


def _as_floats(parts: Parts) -> Value:
    return op.constant(np.concatenate([matrix.floats.reshape(bias.count, -1) for matrix, bias in parts]))
