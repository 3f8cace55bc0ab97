"""Web search by DuckDuckGo's page for browsers without scripts, which needs no key.

It refuses frequent requests and may change at any time: good for a start, not reliable.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

from rag.errors import WebSearchFailed, WebSearchTooSlow, WebUnreachable
from rag.text.language import Language
from rag.web.search import MOST_RESULTS, TIME_LIMIT, WebResult, read_results

_REGIONS: dict[Language, str] = {"ja": "jp-jp", "en": "us-en"}

SEARCHES_AT_ONCE = 16
"""those of more runs wait for their turn"""

_NOTHING = "No results found."
"""text of ddgs' error if the search engine answered without readable results"""


class DuckDuckGo:
    provider: ClassVar[str] = "duckduckgo"

    def __init__(self, *, time_limit: int = int(TIME_LIMIT)) -> None:
        """`time_limit`: seconds."""
        self._time_limit = time_limit
        # Not in the threads of the event loop: while a few searches waited, no run could be saved or ended.
        self._threads = ThreadPoolExecutor(SEARCHES_AT_ONCE, thread_name_prefix="web search")

    async def search(self, query: str, language: Language) -> list[WebResult]:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._search, query, language)

    def _search(self, query: str, language: Language) -> list[WebResult]:
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

        name = "DuckDuckGo"
        try:
            found = DDGS(timeout=self._time_limit).text(
                query, region=_REGIONS[language], backend="duckduckgo", max_results=MOST_RESULTS
            )
        except TimeoutException as error:
            raise WebSearchTooSlow(service=name, seconds=self._time_limit) from error
        except RatelimitException as error:
            raise WebSearchFailed(service=name, status=429) from error
        except DDGSException as error:
            if str(error) == _NOTHING:
                return []
            raise WebUnreachable(service=name) from error
        return read_results(found, text="body", url="href")

    async def close(self) -> None:
        """Does not wait for searches that go on: they end at their time limit."""
        self._threads.shutdown(wait=False, cancel_futures=True)
