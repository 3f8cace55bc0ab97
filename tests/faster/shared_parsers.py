"""Parser processes that the stores of later tests use again: starting one takes a quarter of a second."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from index_store.parsing.worker import process
from index_store.parsing.worker.parser import Parser
from tests.helpers import processes

_start, _close = process._start, Parser.close
_idle: list[process._Running] = []


@contextmanager
def shared() -> Iterator[None]:
    """Keeps processes that are idle when their store is closed; others end as usual."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "_start", _started)
        patch.setattr(Parser, "close", _closed)
        yield
    _end_idle()


@contextmanager
def of_its_own() -> Iterator[None]:
    """New processes for each store, as in the app: for a test that looks at processes."""
    _end_idle()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "_start", _start)
        patch.setattr(Parser, "close", _close)
        if sys.platform == "linux":
            patch.setattr(processes, "of_open_stores", processes.parsers_of(os.getpid()))
        yield


def _started() -> process._Running:
    while _idle:
        running = _idle.pop()
        if running.popen.poll() is None:
            return running
    return _start()


def _closed(parser: Parser) -> None:
    parser._is_closed.set()  # from now on, it uses no free process
    with parser._turn:
        for each in parser._free:
            if each._running:
                _idle.append(each._running)
                each._running = None
    _close(parser)


def _end_idle() -> None:
    while _idle:
        last = process.Process()
        last._running = _idle.pop()
        last.stop()
