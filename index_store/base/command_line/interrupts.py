"""Ctrl-C in the commands of `python -m index_store` and `python -m rag`."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED = 130
"""exit status after Ctrl-C, as in shells: 128 + SIGINT"""


@contextmanager
def ending_at_once() -> Iterator[None]:
    """While modules are loaded: nothing has to be closed yet, and a library could catch the KeyboardInterrupt."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # otherwise whoever began the process ignores Ctrl-C
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
