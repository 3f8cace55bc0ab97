"""How often one host is asked."""

import asyncio


class Pace:
    """Turns of one host, `interval` seconds apart."""

    def __init__(self, interval: float) -> None:
        self.interval = interval
        self._next = 0.0
        self._pause = 0.0
        """seconds of the loop's clock, until which nobody has a turn"""

    async def turn(self) -> None:
        """Waits for the next one that is free."""
        loop = asyncio.get_running_loop()
        turn = max(loop.time(), self._next)
        self._next = turn + self.interval
        while (left := max(turn, self._pause) - loop.time()) > 0:
            await asyncio.sleep(left)

    def pause(self, seconds: float) -> None:
        """Nobody has a turn for so long."""
        now = asyncio.get_running_loop().time()
        self._pause = max(self._pause, now + seconds)
        self._next = max(self._next, self._pause)
