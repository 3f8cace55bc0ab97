"""Web search by Tavily, with a key.

Source: https://docs.tavily.com/documentation/api-reference/endpoint/search.
"""

import asyncio
import importlib
from typing import TYPE_CHECKING, ClassVar

import httpx
from pydantic import SecretStr

from rag.errors import (
    WebAnswerUnreadable,
    WebKeyRefused,
    WebLimitReached,
    WebSearchFailed,
    WebSearchTooSlow,
    WebUnreachable,
)
from rag.text.language import Language
from rag.web.search import MOST_RESULTS, TIME_LIMIT, WebResult, read_results

if TYPE_CHECKING:
    from tavily import AsyncTavilyClient


LONGEST_QUERY = 400
"""characters; Tavily refuses longer queries"""


class Tavily:
    provider: ClassVar[str] = "tavily"

    def __init__(self, key: SecretStr, base_url: str | None = None, *, time_limit: float = TIME_LIMIT) -> None:
        """`time_limit`: seconds."""
        self._key = key
        self._base_url = base_url
        self._time_limit = time_limit
        self._client: AsyncTavilyClient | None = None

    async def search(self, query: str, language: Language) -> list[WebResult]:
        # The client brings a tokenizer and takes a second to load: load it only for a search, outside the event loop.
        tavily = await asyncio.to_thread(importlib.import_module, "tavily")
        name = "Tavily"
        try:
            client = await self._opened()
            async with asyncio.timeout(self._time_limit):  # the client's own timeout limits only each read
                found = await client.search(_shortened(query), max_results=MOST_RESULTS, timeout=self._time_limit)
            return read_results(found["results"], text="content", url="url")
        except (TimeoutError, tavily.errors.TimeoutError) as error:
            raise WebSearchTooSlow(service=name, seconds=self._time_limit) from error
        except tavily.InvalidAPIKeyError as error:
            raise WebKeyRefused(service=name) from error
        except (tavily.UsageLimitExceededError, tavily.errors.ForbiddenError) as error:
            raise WebLimitReached(service=name) from error
        except tavily.BadRequestError as error:
            raise WebSearchFailed(service=name, status=400) from error
        except httpx.HTTPStatusError as error:
            raise WebSearchFailed(service=name, status=error.response.status_code) from error
        except httpx.HTTPError as error:
            raise WebUnreachable(service=name) from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:  # an answer against the protocol
            raise WebAnswerUnreadable(service=name) from error

    async def close(self) -> None:
        if self._client:
            await self._client.close()

    async def _opened(self) -> "AsyncTavilyClient":
        if self._client is None:
            self._client = await asyncio.to_thread(self._open)
        return self._client

    def _open(self) -> "AsyncTavilyClient":
        from tavily import AsyncTavilyClient

        return AsyncTavilyClient(api_key=self._key.get_secret_value(), api_base_url=self._base_url)


def _shortened(query: str) -> str:
    """The query, cut at a word if there is one near the end; Japanese has no spaces."""
    if len(query) <= LONGEST_QUERY:
        return query
    whole, space, _ = query[: LONGEST_QUERY + 1].rpartition(" ")
    return whole if space and len(whole) > LONGEST_QUERY // 2 else query[:LONGEST_QUERY]
