"""Work that waits for nothing but itself, done at once."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def side_by_side(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Their results, in order. One that fails ends the others, and their requests; its error is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            begun = [group.create_task(work) for work in works]
    except ExceptionGroup as failed:
        first = failed.exceptions[0]
        raise first from first.__cause__
    return [task.result() for task in begun]
