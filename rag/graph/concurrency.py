"""Runs independent work at the same time.

Unlike asyncio.gather, a failure ends the other tasks and their requests. Unlike a bare TaskGroup, it raises the failure
itself.
"""

import asyncio
from collections.abc import Coroutine, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

A = TypeVar("A")
B = TypeVar("B")


async def gather(works: Iterable[Coroutine[Any, Any, A]]) -> list[A]:
    """The results, in order."""
    with _first_failure():
        async with asyncio.TaskGroup() as group:
            begun = [group.create_task(work) for work in works]
    return [task.result() for task in begun]


async def both(one: Coroutine[Any, Any, A], other: Coroutine[Any, Any, B]) -> tuple[A, B]:
    with _first_failure():
        async with asyncio.TaskGroup() as group:
            first, second = group.create_task(one), group.create_task(other)
    return first.result(), second.result()


async def uninterrupted(work: Coroutine[Any, Any, A]) -> A:
    """The result. A cancel comes when the work has ended."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


@contextmanager
def _first_failure() -> Iterator[None]:
    try:
        yield
    except ExceptionGroup as failed:
        first = failed.exceptions[0]
        raise first from first.__cause__
