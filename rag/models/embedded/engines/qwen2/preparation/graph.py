"""The network: Qwen2 as a graph for OpenVINO.

Inputs: `tokens` (1, new); `cosines` and `sines` of their places (1, 1, new, head width); `mask` (1, 1, new, all), which
is added to the attention; `wanted`, the places of new tokens, (wanted). The keys and values of the tokens before are
states of a request. Output: the logits of what follows the wanted tokens, (wanted, words).
"""

from typing import TypeAlias

import numpy as np
import openvino as ov
from openvino import Node, Output
from openvino import opset13 as op
from openvino.op.util import Variable, VariableInfo

from rag.models.embedded.engines.qwen2.preparation.weights import Matrix, Weights

Value: TypeAlias = Node | Output
"""(1, tokens, width) unless a docstring says otherwise"""


class Graph:
    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._sizes = weights.sizes
        self._tokens = _input("tokens", [-1, -1], np.int64)
        self._cosines, self._sines = (
            _input(name, [1, 1, -1, self._sizes.head_width], np.float32) for name in ("cosines", "sines")
        )
        self._mask = _input("mask", [1, 1, -1, -1], np.float32)
        self._wanted = _input("wanted", [-1], np.int64)
        self._order = _input("order", [-1], np.int32)
        """always 0. OpenVINO joins a state with its attention only if it could hold several texts, in another order."""
        texts = op.gather(op.shape_of(self._tokens), np.array([0]), np.array(0))
        self._empty = op.concat([texts, np.array([self._sizes.kv_heads, 0, self._sizes.head_width])], 0)
        """the shape of a state before the first token"""
        self._states: list[Node] = []

    def model(self) -> ov.Model:
        x = self._embedded("token_embd.weight")
        for number in range(self._sizes.layers):
            x = self._layer(x, f"blk.{number}")
        wanted = op.gather(x, self._wanted, np.array(1))
        head = "output.weight" if "output.weight" in self._weights else "token_embd.weight"
        logits = op.squeeze(self._product(self._normalised(wanted, "output_norm"), head), np.array([0]))
        inputs = [self._tokens, self._cosines, self._sines, self._mask, self._wanted, self._order]
        return ov.Model([op.result(logits)], self._states, inputs, "qwen2")

    def _layer(self, x: Value, layer: str) -> Value:
        x = op.add(x, self._attention(self._normalised(x, f"{layer}.attn_norm"), layer))
        even = self._normalised(x, f"{layer}.ffn_norm")
        gate = op.swish(self._product(even, f"{layer}.ffn_gate.weight"))
        inner = op.multiply(gate, self._product(even, f"{layer}.ffn_up.weight"))
        return op.add(x, self._product(inner, f"{layer}.ffn_down.weight"))

    def _attention(self, x: Value, layer: str) -> Value:
        sizes = self._sizes
        heads = {"q": sizes.heads, "k": sizes.kv_heads, "v": sizes.kv_heads}
        query, key, value = (self._heads(self._biased(x, f"{layer}.attn_{each}"), heads[each]) for each in "qkv")
        keys = self._remembered(self._rotated(key), f"{layer}.keys")
        values = self._remembered(value, f"{layer}.values")
        attended = op.scaled_dot_product_attention(
            self._rotated(query), self._shared(keys), self._shared(values), self._mask
        )
        in_order = op.transpose(attended, np.array([0, 2, 1, 3]))
        joined = op.reshape(in_order, np.array([0, 0, sizes.width]), special_zero=True)
        return self._product(joined, f"{layer}.attn_output.weight")

    def _heads(self, x: Value, heads: int) -> Value:
        """(1, heads, tokens, width of a head)"""
        split = op.reshape(x, np.array([0, 0, heads, self._sizes.head_width]), special_zero=True)
        return op.transpose(split, np.array([0, 2, 1, 3]))

    def _rotated(self, heads: Value) -> Value:
        """With their places: rotary position embedding."""
        first, second = op.split(heads, np.array(3), 2).outputs()
        turned = op.concat([op.multiply(second, np.float32(-1)), first], 3)
        return op.add(op.multiply(heads, self._cosines), op.multiply(turned, self._sines))

    def _remembered(self, new: Value, name: str) -> Value:
        """The state with the new tokens at its end: (1, heads, all, width of a head)."""
        sizes = self._sizes
        info = VariableInfo()
        info.data_shape = ov.PartialShape([-1, sizes.kv_heads, -1, sizes.head_width])
        info.data_type, info.variable_id = ov.Type.f32, name
        state = Variable(info)
        nothing = op.broadcast(np.float32(0), self._empty)
        before = op.gather(op.read_value(nothing, state), self._order, np.array(0))
        whole = op.concat([before, new], 2)
        self._states.append(op.assign(whole, state))
        return whole

    def _shared(self, heads: Value) -> Value:
        """Each head of keys or values once for each head of queries."""
        sizes = self._sizes
        shares = sizes.heads // sizes.kv_heads
        apart = op.unsqueeze(heads, np.array(2))
        shape = np.array([1, 1, shares, 1, 1])
        repeated = op.broadcast(apart, shape, broadcast_spec="BIDIRECTIONAL")
        return op.reshape(repeated, np.array([0, sizes.heads, -1, sizes.head_width]), special_zero=True)

    def _normalised(self, x: Value, name: str) -> Value:
        """By the root of the mean square."""
        square = op.reduce_mean(op.power(x, np.float32(2)), np.array([-1]), keep_dims=True)
        root = op.sqrt(op.add(square, np.float32(self._sizes.epsilon)))
        even = op.multiply(x, op.divide(np.float32(1), root))
        return op.multiply(even, op.constant(self._weights.floats(f"{name}.weight")))

    def _embedded(self, name: str) -> Value:
        matrix = self._weights.matrix(name)
        rows = op.gather(op.constant(matrix.integers), self._tokens, np.array(0))
        scales = op.gather(op.constant(matrix.scales), self._tokens, np.array(0))
        floats = op.multiply(op.convert(rows, "f32"), scales)
        return op.reshape(floats, np.array([0, 0, self._sizes.width]), special_zero=True)

    def _biased(self, x: Value, name: str) -> Value:
        return op.add(self._product(x, f"{name}.weight"), op.constant(self._weights.floats(f"{name}.bias")))

    def _product(self, x: Value, name: str) -> Value:
        matrix = self._weights.matrix(name)
        return op.matmul(x, _floats(matrix), transpose_a=False, transpose_b=True)


def _floats(matrix: Matrix) -> Value:
    weights = op.multiply(op.convert(op.constant(matrix.integers), "f32"), op.constant(matrix.scales))
    return op.reshape(weights, np.array([len(matrix.integers), -1]), special_zero=False)


def _input(name: str, shape: list[int], kind: type[np.generic]) -> Node:
    value = op.parameter(shape, kind, name=name)
    value.output(0).set_names({name})
    return value
