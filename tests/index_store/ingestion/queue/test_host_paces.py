import asyncio
import time

from sqlalchemy import text

from index_store.base.settings.settings import Settings
from index_store.crawl import Paces
from index_store.ingestion.queue.host_paces import HostPaces
from index_store.store.index_store import IndexStore

INTERVAL = 0.05
"""seconds between two requests to the host"""


async def turns(paces: Paces, count: int) -> None:
    for _ in range(count):
        await paces.of("example.com", INTERVAL).turn()


def test_crawls_of_several_processes_keep_one_pace_to_a_host(queued: Settings) -> None:
    with IndexStore(queued) as app:
        database = app.access.people._database
        first, second = HostPaces(database), HostPaces(database)

        async def crawl() -> None:
            await asyncio.gather(turns(first, 4), turns(second, 4))

        begun = time.monotonic()
        asyncio.run(crawl())
        assert time.monotonic() - begun >= 7 * INTERVAL

        begun = time.monotonic()
        asyncio.run(first.of("example.com", INTERVAL).pause(10 * INTERVAL))
        asyncio.run(turns(second, 1))
        assert time.monotonic() - begun >= 9 * INTERVAL


def test_a_host_that_asks_for_a_pause_stops_no_other_crawl_while_the_database_is_slow(queued: Settings) -> None:
    with IndexStore(queued) as app:
        database = app.access.people._database
        pace = HostPaces(database).of("example.com", INTERVAL)

        async def crawl() -> None:
            with database.begin() as connection:
                connection.execute(text("LOCK TABLE crawled_hosts"))
                pausing = asyncio.create_task(pace.pause(INTERVAL))
                await asyncio.sleep(INTERVAL)  # another crawl in the same loop
            await pausing

        asyncio.run(crawl())
