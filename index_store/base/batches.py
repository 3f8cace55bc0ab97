"""Splits values into batches. Python 3.12 has this as itertools.batched."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batches(values: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(values)
    return iter(lambda: list(islice(left, size)), [])
