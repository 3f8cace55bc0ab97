"""The DuckDuckGo client with a local server, whose page looks like theirs."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest
from ddgs.engines.duckduckgo import Duckduckgo

from rag.errors import WebSearchTooSlow, WebUnreachable
from rag.web import DuckDuckGo, WebResult

AT_ONCE = 8
"""more than the event loop has threads on two cores, which is six"""

PATIENCE = 60
"""seconds for what takes milliseconds on a quiet machine"""

PAGE = """
<html><body>
  <div class="result__body"><h2><a href="x">大阪の天気</a></h2><a href="https://weather.example/osaka">今日は晴れです。</a></div>
  <div class="result__body"><h2><a href="x">An advertisement</a></h2>
    <a href="https://duckduckgo.com/y.js?ad">Buy!</a></div>
  <div class="result__body"><h2><a href="x">A script</a></h2><a href="javascript:alert(1)">No address.</a></div>
</body></html>
"""


@contextmanager
def serving(
    status: int, page: str, monkeypatch: pytest.MonkeyPatch, delay: float = 0, until: threading.Event | None = None
) -> Iterator[list[dict]]:
    """A local server that sends this page after `delay` seconds, and not before `until`. Gives the forms that it
    received.
    """
    forms: list[dict] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            forms.append(parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()))
            time.sleep(delay)
            if until:
                until.wait(PATIENCE)
            payload = page.encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: object) -> None:
            """Logs nothing; tests read `forms`."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        monkeypatch.setattr(Duckduckgo, "search_url", f"http://127.0.0.1:{server.server_address[1]}/html/")
        yield forms
        server.shutdown()
        thread.join()


def search(time_limit: int = 60) -> list[WebResult]:
    return asyncio.run(DuckDuckGo(time_limit=time_limit).search("今日の天気", "ja"))


def test_what_its_page_lists_is_found_without_advertisements_and_without_other_addresses(monkeypatch):
    with serving(200, PAGE, monkeypatch) as forms:
        assert search() == [WebResult("大阪の天気", "https://weather.example/osaka", "今日は晴れです。")]
    assert (forms[0]["q"], forms[0]["l"]) == (["今日の天気"], ["jp-jp"])


@pytest.mark.parametrize(("status", "page"), [(200, "<html><body></body></html>"), (202, PAGE), (500, PAGE)])
def test_a_page_without_results_and_one_that_refuses_both_give_none(monkeypatch, status, page):
    with serving(status, page, monkeypatch):
        assert search() == []


def test_a_search_that_takes_too_long_is_left(monkeypatch):
    with serving(200, PAGE, monkeypatch, delay=2), pytest.raises(WebSearchTooSlow):
        search(time_limit=1)


def test_a_service_that_cannot_be_reached_is_told(monkeypatch):
    monkeypatch.setattr(Duckduckgo, "search_url", "http://127.0.0.1:9/html/")
    with pytest.raises(WebUnreachable):
        search()


def test_searches_that_wait_leave_the_threads_of_all_other_work_free(monkeypatch):
    """In those of the event loop, runs are saved and ended."""
    free = threading.Event()

    async def many() -> list[list[WebResult]]:
        duckduckgo = DuckDuckGo(time_limit=PATIENCE)
        async with asyncio.timeout(PATIENCE):
            searches = asyncio.gather(*(duckduckgo.search("今日の天気", "ja") for _ in range(AT_ONCE)))
            while len(forms) < AT_ONCE:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(free.set)
            found = await searches
        await duckduckgo.close()
        return found

    with serving(200, PAGE, monkeypatch, until=free) as forms:
        assert [len(results) for results in asyncio.run(many())] == [1] * AT_ONCE
