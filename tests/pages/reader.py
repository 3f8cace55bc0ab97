"""Calls functions of the pages for a reader of one language, inside a real run of a Streamlit script."""

from collections.abc import Callable
from html.parser import HTMLParser
from typing import TypeVar

from streamlit.testing.v1 import AppTest

from rag.text.language import Language

T = TypeVar("T")


def for_reader(language: Language, work: Callable[[], T]) -> tuple[T, AppTest]:
    """What `work` returns, and the page that it has drawn."""

    def script(work, results):
        results.append(work())

    results: list[T] = []
    page = AppTest.from_function(script, default_timeout=60, args=(work, results))
    page.query_params["lang"] = language
    page.run()
    assert not page.exception, page.exception
    return results[0], page


class Tags(HTMLParser):
    """The tags that a browser would see in `html`, and the text between them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data
