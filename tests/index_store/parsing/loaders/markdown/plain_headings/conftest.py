from collections.abc import Callable

import pytest

from index_store.parsing.loaders.document import RawFile
from index_store.parsing.loaders.html.html import load_html
from index_store.parsing.loaders.text.txt import load

Headings = Callable[[str], list[tuple[int, str]]]
"""levels and texts"""


@pytest.fixture
def headings(raw: Callable[..., RawFile]) -> Headings:
    """Those of a plain text, which stays as it is."""

    def read(text: str) -> list[tuple[int, str]]:
        (page,) = load(raw(text.encode(), "a.txt")).pages
        assert page.markdown == text
        return [(heading.level, heading.text) for heading in page.headings or ()]

    return read


@pytest.fixture
def headings_of_html() -> Headings:
    def read(html: str) -> list[tuple[int, str]]:
        return [(level, text) for _, level, text in load_html(html, "a.html").pages[0].lines() if level]

    return read
