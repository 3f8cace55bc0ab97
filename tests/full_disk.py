"""A disk that takes no more: nothing can be written beyond so many bytes of a file, as where the disk is full."""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")

BYTES = 4096


@contextmanager
def full_disk(bytes_of_a_file: int = BYTES) -> Iterator[None]:
    """Within this process. Files of SQLite that are longer, its log among them, take nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_of_a_file, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
