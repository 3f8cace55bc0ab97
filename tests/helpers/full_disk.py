"""A machine at its limits: a full disk, where no file can grow beyond a given number of bytes; too many open files."""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")

BYTES = 4096


@contextmanager
def full_disk(bytes_of_a_file: int = BYTES) -> Iterator[None]:
    """Limits this process. SQLite can't make a database or its log longer than this."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_of_a_file, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def too_many_open_files() -> Iterator[None]:
    """This process can open no file and no connection.

    Not even in place of one that another thread closes: only standard input, output and error are below the limit.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
