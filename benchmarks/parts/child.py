"""Work in another process: a server's threads would compete with the measured work, and memory is per process."""

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection


@contextmanager
def running(work: Callable[..., None], *arguments: object) -> Iterator[Connection]:
    """The pipe to `work(pipe, *arguments)`, which must end when the pipe is closed or this process dies."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=work, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        ours.close()
        process.join()


@contextmanager
def serving(serve: Callable[..., None], *arguments: object) -> Iterator[str]:
    """The address that `serve(pipe, *arguments)` sends."""
    with running(serve, *arguments) as pipe:
        yield pipe.recv()
