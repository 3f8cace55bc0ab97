"""Fixtures for crawls: a web site, and a function that crawls it."""

import threading
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from index_store.crawl import Crawl, CrawlOptions, KnownPage
from index_store.crawl.requests.fetch import Fetcher, FetchResponse
from tests.index_store.crawl.crawled import Crawled, settings
from tests.servers.site_server import Misbehaviour, SiteServer

CrawlSite = Callable[..., Crawled]

PATIENCE = 60
"""seconds for a page that answers"""


@pytest.fixture
def crawl(tmp_path: Path) -> CrawlSite:
    """`crawl(url, depth=..., known=..., crawl_rate=...)`: takes options of the crawl and settings, in any order."""

    def run(
        url: str, known: Mapping[str, KnownPage] | None = None, resolve: object = None, **values: object
    ) -> Crawled:
        options = {name: values.pop(name) for name in list(values) if name in CrawlOptions.model_fields}
        more = {"resolve": resolve} if resolve else {}
        pages = Crawl(CrawlOptions(url=url, **options), settings(**values), known or {}, tmp_path / "pages", **more)
        return Crawled(list(pages))

    return run


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[SiteServer]:
    """A page that answers has a minute, however short the time limit of the crawl is: a busy machine may need it."""
    get = Fetcher.get
    with SiteServer() as server:

        async def get_in_time(fetcher: Fetcher, url: str, **options: Any) -> FetchResponse:
            its = copy(fetcher)
            page = server.pages.get(url.removeprefix(server.url("")), server.otherwise)
            if page not in (Misbehaviour.HANGS, Misbehaviour.DRIPS):
                its._seconds = max(its._seconds, PATIENCE)
            return await get(its, url, **options)

        monkeypatch.setattr(Fetcher, "get", get_in_time)
        yield server


@pytest.fixture(autouse=True)
def _tries_follow_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Further attempts follow at once, not after a second, to save time."""
    monkeypatch.setattr("index_store.crawl.requests.politeness.RETRY_AFTER", 0.05)


@pytest.fixture(autouse=True)
def _nothing_is_left_behind() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = set(threading.enumerate()) - before
    assert not [thread.name for thread in left if thread.name.startswith(("crawl", "asyncio"))]
