"""Facts about the engine of the embedded model, without loading it."""

from importlib.util import find_spec

CONTEXT = 4096
"""tokens a slot, question and answer together"""


def engine_is_installed() -> bool:
    """It has no build for every kind of computer."""
    return find_spec("xllamacpp") is not None
