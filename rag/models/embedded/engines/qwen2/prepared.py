"""What is made of a GGUF file, once: the graph with its weights as bytes, and the tokenizer."""

import json
from dataclasses import dataclass
from pathlib import Path

LAYOUT = 1
"""of the folder and of the graph; what has another one is made again"""

GROUP = 256
"""weights that share a scale. With 32, they are nearer to the file, and are read a third more slowly
(docs/decisions/models/embedded-chat-model.md)."""

GRAPH, BYTES, TOKENIZER, NOTE = "graph.xml", "graph.bin", "tokenizer.json", "prepared.json"


@dataclass(frozen=True)
class Sizes:
    layers: int
    width: int
    heads: int
    kv_heads: int
    """heads of keys and values; each serves heads / kv_heads heads of queries"""
    rotation: float
    """base of the wavelengths of the rotary position embedding"""
    epsilon: float
    """added to a variance before its root is taken"""

    @property
    def head_width(self) -> int:
        return self.width // self.heads


@dataclass(frozen=True)
class Prepared:
    graph: Path
    tokenizer: Path
    sizes: Sizes


def folder_of(model: Path) -> Path:
    return model.with_suffix(".graph")


def read(model: Path) -> Prepared | None:
    """None if it was not made, or is not whole, or was made of another file."""
    folder = folder_of(model)
    try:
        note = json.loads((folder / NOTE).read_text())
        sizes = Sizes(**note.pop("sizes"))
        if note != origin(model) | {"bytes": (folder / BYTES).stat().st_size}:
            return None
    except (OSError, ValueError, KeyError, TypeError):  # missing, or damaged
        return None
    return Prepared(folder / GRAPH, folder / TOKENIZER, sizes)


def origin(model: Path) -> dict[str, int]:
    """The same for all copies of a file. Raises OSError."""
    return {"layout": LAYOUT, "group": GROUP, "size": model.stat().st_size}
