"""Which engine serves the model here, without loading one."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from index_store.base.process.child_process import environment
from index_store.base.process.processor import BYTE_PRODUCTS, instructions
from rag.models.embedded.engines.qwen2 import prepared


class PreparationFailed(Exception):
    """The reason, as text. Without a graph, the model works too."""


def engine_is_installed() -> bool:
    """xllamacpp has no build for some kinds of computers."""
    return find_spec("xllamacpp") is not None


def command(model: Path) -> list[str]:
    """The module that serves the model, and its arguments.

    llama.cpp serves every GGUF file, everywhere. The graph serves the model that was prepared for it.
    """
    module = "qwen2" if multiplies_bytes() and prepared.read(model) else "llama_cpp"
    return [f"rag.models.embedded.engines.{module}", str(model.resolve())]


def should_prepare(model: Path) -> bool:
    """True if the model would be read faster here after `prepare`."""
    return multiplies_bytes() and not prepared.read(model)


def left_behind(model: Path) -> int:
    """Bytes that `prepare` will free before it begins: of one that was killed, or of an older version."""
    return sum(each.stat().st_size for each in prepared.folder_of(model).glob("*"))


def prepare(model: Path) -> None:
    """Makes the graph of the model: half a minute and 2 GB on the disk, once.

    In another process, which has 2.6 GB of memory for a moment: a small machine may end it. Raises PreparationFailed.
    """
    made = subprocess.run(  # noqa: S603 - our own module; the path can't be an option
        [sys.executable, "-m", "rag.models.embedded.engines.qwen2.preparation.prepare", str(model.resolve())],
        cwd=Path(__file__).parents[4],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if made.returncode:
        said = made.stderr.strip().splitlines()
        raise PreparationFailed(said[-1] if said else f"exit status {made.returncode}")


def multiplies_bytes() -> bool:
    """True on Linux if the processor has instructions without which the graph would be slower than llama.cpp."""
    return not BYTE_PRODUCTS.isdisjoint(instructions())
