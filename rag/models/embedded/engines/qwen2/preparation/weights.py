"""Reads the sizes and weights of a GGUF file, and rounds its matrices to bytes."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFReader, GGUFValueType, dequantize
from numpy.typing import NDArray

from index_store.base.process.processor import cores
from rag.models.embedded.engines.qwen2.prepared import GROUP, Sizes

ARCHITECTURE = "qwen2"

ROWS = 2048
"""rows of a matrix that are rounded at once: as floats, all words would take 930 MB"""

Floats = NDArray[np.float32]
Integers = NDArray[np.int8]


@dataclass(frozen=True)
class Matrix:
    integers: Integers
    """from -127 to 127: (rows, groups, GROUP)"""
    scales: Floats
    """of the groups: (rows, groups, 1)"""


class Weights:
    """Raises ValueError if the file is no model of this architecture, and OSError."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = GGUFReader(path)
        except (ValueError, IndexError, KeyError) as error:  # what the package raises if the file ends too early
            raise ValueError(f"{path.name} is not a whole GGUF file ({error})") from error
        architecture = self.value("general.architecture")
        if architecture != ARCHITECTURE:
            raise ValueError(f"{path.name} is a model of the kind {architecture}, not {ARCHITECTURE}")
        self._tensors = {tensor.name: tensor for tensor in self._file.tensors}
        self.sizes = Sizes(
            layers=self.value(f"{ARCHITECTURE}.block_count"),
            width=self.value(f"{ARCHITECTURE}.embedding_length"),
            heads=self.value(f"{ARCHITECTURE}.attention.head_count"),
            kv_heads=self.value(f"{ARCHITECTURE}.attention.head_count_kv"),
            rotation=self.value(f"{ARCHITECTURE}.rope.freq_base"),
            epsilon=self.value(f"{ARCHITECTURE}.attention.layer_norm_rms_epsilon"),
        )

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def value(self, key: str) -> Any:
        field = self._file.get_field(key)
        if field is None:
            raise ValueError(f"the file does not say {key}")
        if field.types == [GGUFValueType.ARRAY, GGUFValueType.STRING]:
            # The package's own way takes ten times as long: 10 s for the words of a tokenizer.
            return [bytes(field.parts[each]).decode("utf-8") for each in field.data]
        return field.contents()

    def floats(self, name: str) -> Floats:
        tensor = self._tensors[name]
        return _floats(tensor.data, tensor.tensor_type)

    def matrix(self, name: str) -> Matrix:
        tensor = self._tensors[name]
        parts = (tensor.data[start : start + ROWS] for start in range(0, len(tensor.data), ROWS))
        with ThreadPoolExecutor(cores()) as pool:
            rounded = pool.map(lambda part: _rounded(_floats(part, tensor.tensor_type)), parts)
            integers, scales = zip(*rounded, strict=True)
        return Matrix(np.concatenate(integers), np.concatenate(scales))


def _floats(data: NDArray[Any], kind: Any) -> Floats:
    floats: Floats = dequantize(data, kind).astype(np.float32, copy=False)
    return floats


def _rounded(rows: Floats) -> tuple[Integers, Floats]:
    groups = rows.reshape(len(rows), -1, GROUP)
    scales = np.abs(groups).max(axis=2, keepdims=True) / 127
    steps = groups / np.where(scales == 0, 1, scales)
    return np.rint(steps).astype(np.int8), scales.astype(np.float32)
