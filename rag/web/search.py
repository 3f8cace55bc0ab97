"""The interface of a web search for steps; makes its results safe to use."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol
from urllib.parse import urlsplit

from rag.text.language import Language

MOST_RESULTS = 5
"""what both services give for one credit or page, and more than a small model can read"""

TIME_LIMIT = 20.0
"""seconds: Tavily's basic search takes one to three, and the run waits for it"""

LONGEST_TEXT = 2000
"""characters of one result; snippets have some hundred, and what is longer was not meant as one"""


@dataclass(frozen=True)
class WebResult:
    title: str
    url: str
    text: str
    score: float = 0.0
    """0 to 1, where the service gives one"""
    published: str | None = None


class WebSearch(Protocol):
    provider: ClassVar[str]

    async def search(self, query: str, language: Language) -> list[WebResult]:
        """The best first. Raises WebSearchError."""

    async def close(self) -> None:
        """In the event loop that it was used in."""


def read_results(found: object, *, text: str, url: str) -> list[WebResult]:
    """Those of `found`, a list of JSON objects, that have a text under the key `text` and a web address under `url`.

    Raises TypeError where it is no such list.
    """
    if not isinstance(found, list):
        raise TypeError
    results: dict[str, WebResult] = {}
    for row in found:
        if isinstance(row, Mapping) and (result := _result(row, text, url)):
            results.setdefault(result.url, result)
    return list(results.values())[:MOST_RESULTS]


def _result(row: Mapping[str, object], text: str, url: str) -> WebResult | None:
    said, address = _words(row.get(text))[:LONGEST_TEXT], _words(row.get(url))
    if not said or not is_web_address(address):
        return None
    score = row.get("score")
    return WebResult(
        title=_words(row.get("title")) or address,
        url=address,
        text=said,
        score=float(score) if isinstance(score, int | float) else 0.0,
        published=_words(row.get("published_date")) or None,
    )


def _words(value: object) -> str:
    """One line a paragraph, without the characters that neither JSON nor SQLite takes."""
    if not isinstance(value, str):
        return ""
    lines = (" ".join(line.split()) for line in value.encode("utf-8", "replace").decode().splitlines())
    return "\n".join(filter(None, lines))


def is_web_address(url: str) -> bool:
    """Whether a link may lead there: http or https, and a host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not any(map(str.isspace, url))
