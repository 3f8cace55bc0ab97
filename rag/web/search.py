"""The interface of a web search for steps; makes its results safe to use."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from typing import ClassVar, Protocol
from urllib.parse import urlsplit, urlunsplit

from index_store.base.text.bidi import without_bidi_controls
from rag.text.language import Language

MOST_RESULTS = 5
"""both services give that many for one credit or page; a small model can't read more"""

TIME_LIMIT = 20.0
"""seconds: Tavily's basic search takes one to three, and the run waits for it"""

LONGEST_TEXT = 2000
"""characters of one result; snippets have some hundred"""


@dataclass(frozen=True)
class WebResult:
    title: str
    url: str
    text: str
    score: float = 0.0
    """0 to 1, if the service gives one"""
    published: str | None = None


class WebSearch(Protocol):
    provider: ClassVar[str]

    async def search(self, query: str, language: Language) -> list[WebResult]:
        """The best first. Raises WebSearchError."""

    async def close(self) -> None:
        """Call it in the event loop that used it."""


def read_results(found: object, *, text: str, url: str) -> list[WebResult]:
    """The usable results in `found`, a list of JSON objects: with a text under the key `text` and a web address under
    `url`.

    Raises TypeError if it is not a list.
    """
    if not isinstance(found, list):
        raise TypeError
    results: dict[str, WebResult] = {}
    for row in found:
        if isinstance(row, Mapping) and (result := _result(row, text, url)):
            results.setdefault(_page(result.url), result)
    return list(results.values())[:MOST_RESULTS]


def _result(row: Mapping[str, object], text: str, url: str) -> WebResult | None:
    said, address = _read(row.get(text))[:LONGEST_TEXT], _words(row.get(url))
    if not said or not is_web_address(address):
        return None
    score = row.get("score")
    return WebResult(
        title=_read(row.get("title")) or address,
        url=address,
        text=said,
        score=float(score) if isinstance(score, int | float) else 0.0,
        published=_words(row.get("published_date")) or None,
    )


def _page(url: str) -> str:
    """The same for each address of a page: with http, a slash behind it, or a part of the page."""
    parts = urlsplit(url)
    route = parts.fragment if parts.fragment.startswith(("/", "!")) else ""  # of a page that is drawn by scripts
    return urlunsplit(("", parts.netloc.lower(), parts.path.rstrip("/"), parts.query, route))


_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]\w{1,31});", re.IGNORECASE)
"""with its semicolon: other ones are text"""


def _read(value: object) -> str:
    """The same as `_words` of the text of a page, in which services leave entities: Q&amp;A."""
    return _words(_ENTITY.sub(lambda entity: unescape(entity[0]), value) if isinstance(value, str) else value)


def _words(value: object) -> str:
    """One line per paragraph, without characters that JSON and SQLite do not accept, or that turn what follows them."""
    if not isinstance(value, str):
        return ""
    storable = without_bidi_controls(value).encode("utf-8", "replace").decode()
    lines = (" ".join(line.split()) for line in storable.splitlines())
    return "\n".join(filter(None, lines))


def is_web_address(url: str) -> bool:
    """True if a link may lead there: http or https, and a host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not any(map(str.isspace, url))
