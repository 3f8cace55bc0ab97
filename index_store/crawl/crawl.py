"""A crawl for its caller: yields pages one by one while the next ones are fetched.

The crawl runs in an event loop in its own thread. The number of pages that it is ahead of its reader is limited. So a
slow reader slows the crawl, and the disk holds only these pages.
"""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue

from index_store.base.settings.settings import Settings
from index_store.crawl.crawler import Crawler
from index_store.crawl.records import CrawledPage, CrawlOptions, KnownPage
from index_store.crawl.requests.fetch import Fetcher
from index_store.crawl.requests.guard import AddressGuard, GuardedConnections, Resolve, resolve_by_system
from index_store.crawl.requests.politeness import Paces

AHEAD = 2
"""pages for each parallel request: one that is being fetched, and one that waits for the reader"""


class Crawl:
    """One pass over a site. Iterate over it once; leaving the loop ends the crawl.

    Each file that was handed over belongs to the reader; the others are deleted at the end.
    Raises OSError if `folder` can't be written to, InvalidSetting for CRAWL_ALLOWED.
    """

    def __init__(
        self,
        options: CrawlOptions,
        settings: Settings,
        known: Mapping[str, KnownPage],
        folder: Path,
        *,
        resolve: Resolve = resolve_by_system,
        paces: Paces | None = None,
    ) -> None:
        """`paces`: shared with other crawls; by default this crawl has its own."""
        self._options = options
        self._settings = settings
        self._known = known
        self._folder = folder
        self._connections = GuardedConnections(AddressGuard(settings.crawl_allowed), resolve)
        self._paces = paces or Paces()
        self._pages: SimpleQueue[CrawledPage | None] = SimpleQueue()
        self._crawler: Crawler | None = None
        self._lock = threading.Lock()
        self._task: Future[None] | None = None
        self._is_stopped = False

    @property
    def waiting(self) -> int:
        """Known addresses that are not fetched yet."""
        return len(self._crawler.frontier) if self._crawler else 0

    @property
    def gave_up(self) -> bool:
        """Whether it ended early because the site stopped answering."""
        return self._crawler is not None and self._crawler.gave_up

    def stop(self) -> None:
        """Ends the crawl at once, whatever it waits for. From any thread; does nothing if it has ended."""
        with self._lock:
            self._is_stopped = True
            if self._task:
                self._task.cancel()

    def __iter__(self) -> Iterator[CrawledPage]:
        if self._is_stopped:
            return
        at_once = self._settings.crawl_at_once
        fetcher = Fetcher(self._connections, self._folder, at_once=at_once, seconds=self._settings.crawl_timeout)
        slots = asyncio.Semaphore(AHEAD * at_once)
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=_serve, args=(loop,), name="crawl", daemon=True)
        thread.start()
        try:
            with self._lock:
                task = asyncio.run_coroutine_threadsafe(self._run(fetcher, slots), loop)
                task.add_done_callback(lambda _: self._pages.put(None))
                self._task = task
                if self._is_stopped:
                    task.cancel()
            while (page := self._pages.get()) and not self._is_stopped:
                if page.path:
                    fetcher.files.discard(page.path)
                yield page
                loop.call_soon_threadsafe(slots.release)
            if not self._is_stopped:
                task.result()
        finally:
            self.stop()
            asyncio.run_coroutine_threadsafe(_others_end(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            for path in fetcher.files:
                path.unlink(missing_ok=True)

    async def _run(self, fetcher: Fetcher, slots: asyncio.Semaphore) -> None:
        async with fetcher:
            self._crawler = Crawler(
                self._options, self._settings, self._known, fetcher, self._pages.put, slots, self._paces
            )
            await self._crawler.run()


async def _others_end() -> None:
    """Waits until the cancelled task has cleaned up: a loop that cancels all tasks leaves some of anyio's undone."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop().run_forever()
