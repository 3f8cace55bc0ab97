"""A server in a process of its own: in the benchmark's, its threads would take turns with what is measured."""

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def serving(serve: Callable[..., None], *arguments: object) -> Iterator[str]:
    """The address that `serve(pipe, *arguments)` sends; it is to end when the pipe is closed, or this process dies."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours.recv()
    finally:
        ours.close()
        process.join()
