"""Saves what happens in a run, one thing after another, in a thread of its own.

A save may wait for another process, and the event loop serves all runs.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


class Saving:
    """Used in the event loop."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="saving")
        self._saves: deque[Future[None]] = deque()

    def add(self, save: Callable[..., None], *parts: object) -> None:
        """Saves it after what was added before. Returns at once."""
        self._saves.append(self._thread.submit(save, *parts))

    @property
    def is_idle(self) -> bool:
        """Raises what a save has raised."""
        while self._saves and self._saves[0].done():
            self._saves.popleft().result()
        return not self._saves

    async def all_saved(self) -> None:
        """Waits until everything is saved. Raises what a save has raised."""
        while not self.is_idle:
            await asyncio.wait([asyncio.wrap_future(self._saves[-1])])

    async def end(self) -> None:
        """Waits until everything is saved. Raises what a save has raised. Nothing is saved after this."""
        try:
            await self.all_saved()
        except BaseException:  # saves may be under way
            await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)
            raise
        self._thread.shutdown(wait=False)
