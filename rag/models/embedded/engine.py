"""Facts about the engine of the embedded model, without loading it."""

from importlib.util import find_spec

CONTEXT = 4096
"""tokens per slot, question and answer together"""


def engine_is_installed() -> bool:
    """xllamacpp has no build for some kinds of computers."""
    return find_spec("xllamacpp") is not None
