"""Turns Python's garbage collector off where it finds nothing: while a command loads, and when it has ended."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


@contextmanager
def resting() -> Iterator[None]:
    """While modules are loaded. It saves a quarter of the time, and later searches leave them out."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def leave(status: int) -> NoReturn:
    """Ends the process. What is still there goes with it; to search that for garbage would take up to 1.5 s."""
    gc.freeze()
    sys.exit(status)
