"""Whether the code that runs the embedded model is installed: it has no build for every kind of computer."""

from importlib.util import find_spec


def engine_is_installed() -> bool:
    return find_spec("xllamacpp") is not None
