"""The pace of all crawls at one host, in all processes: a row in the database, timed by its clock."""

import asyncio

from sqlalchemy import Engine, text

from index_store.crawl.requests.politeness import Pace, Paces

_TURN = text(
    """
    INSERT INTO crawled_hosts AS it (host, next_at) VALUES (:host, extract(epoch FROM clock_timestamp()) + :interval)
    ON CONFLICT (host) DO UPDATE
    SET next_at = greatest(it.next_at, extract(epoch FROM clock_timestamp())) + :interval
    RETURNING next_at - :interval - extract(epoch FROM clock_timestamp())
    """
)
_PAUSE = text(
    """
    INSERT INTO crawled_hosts AS it (host, next_at) VALUES (:host, extract(epoch FROM clock_timestamp()) + :seconds)
    ON CONFLICT (host) DO UPDATE
    SET next_at = greatest(it.next_at, extract(epoch FROM clock_timestamp()) + :seconds)
    """
)


class HostPaces(Paces):
    def __init__(self, database: Engine) -> None:
        super().__init__()
        self._database = database

    def of(self, host: str, interval: float) -> Pace:
        return self._paces.setdefault(host, _SharedPace(self._database, host, interval))


class _SharedPace(Pace):
    def __init__(self, database: Engine, host: str, interval: float) -> None:
        super().__init__(interval)
        self._database = database
        self._host = host

    async def turn(self) -> None:
        """Waits for the next free turn. Raises SQLAlchemyError."""
        await asyncio.sleep(await asyncio.to_thread(self._take))
        await self.paused()

    def _take(self) -> float:
        """Takes a turn and returns the seconds until it."""
        with self._database.begin() as connection:
            asked = {"host": self._host, "interval": self.interval}
            return max(0.0, float(connection.execute(_TURN, asked).scalar_one()))

    async def pause(self, seconds: float) -> None:
        """Gives no new turn for so long. Other processes keep turns that they have already taken. Raises
        SQLAlchemyError.
        """
        await super().pause(seconds)
        await asyncio.to_thread(self._note_pause, seconds)

    def _note_pause(self, seconds: float) -> None:
        with self._database.begin() as connection:
            connection.execute(_PAUSE, {"host": self._host, "seconds": seconds})
