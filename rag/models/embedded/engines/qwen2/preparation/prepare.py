"""Makes the graph and the tokenizer of a GGUF file.

python -m rag.models.embedded.engines.qwen2.preparation.prepare MODEL.gguf   (run by rag.models.embedded.engines.choice)
"""

import json
import os
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

import openvino as ov
from filelock import FileLock
from gguf import TokenType

from rag.models.embedded.engines.qwen2 import tokenizer
from rag.models.embedded.engines.qwen2.preparation.graph import Graph
from rag.models.embedded.engines.qwen2.preparation.weights import Weights
from rag.models.embedded.engines.qwen2.prepared import BYTES, GRAPH, NOTE, TOKENIZER, folder_of, origin, read


def make(model: Path) -> None:
    """A second process waits for the first.

    Raises OSError, and ValueError if the file is not a model that the graph can compute.
    """
    folder = folder_of(model)
    with FileLock(folder.with_suffix(".graph.lock")):
        if read(model):
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            _make(model, folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _make(model: Path, folder: Path) -> None:
    weights = Weights(model)
    words, kinds = weights.value("tokenizer.ggml.tokens"), weights.value("tokenizer.ggml.token_type")
    marks = [word for word, kind in zip(words, kinds, strict=True) if kind == TokenType.CONTROL]
    tokenizer.save(folder / TOKENIZER, words, weights.value("tokenizer.ggml.merges"), marks)
    try:
        ov.save_model(Graph(weights).model(), folder / GRAPH, compress_to_fp16=False)
    except RuntimeError as error:  # OpenVINO's only kind: here, the disk is full
        raise OSError(str(error)) from error
    size = (folder / BYTES).stat().st_size
    note = origin(model) | {"bytes": size, "sizes": asdict(weights.sizes)}
    for part in (GRAPH, BYTES, TOKENIZER):
        _keep(folder / part)
    # Last, because what has no note is not used.
    (folder / NOTE).write_text(json.dumps(note))


def _keep(file: Path) -> None:
    """Waits until the file is on the disk: a sudden end of the machine must not leave a note beside half a file."""
    with file.open("rb") as opened:
        os.fsync(opened.fileno())


def main() -> int:
    try:
        make(Path(sys.argv[1]))
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
