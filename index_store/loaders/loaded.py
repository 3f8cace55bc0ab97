"""What every loader makes of a file."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator


def _storable(text: object) -> object:
    # NUL ends a string for C, and a lone surrogate has no UTF-8: neither SQLite nor a model takes them.
    return text.replace("\0", "").encode("utf-8", "replace").decode() if isinstance(text, str) else text


CleanText = Annotated[str, BeforeValidator(_storable)]


class Heading(BaseModel, frozen=True):
    line: int
    """of the page's Markdown, from 0"""
    level: int
    text: CleanText


class Page(BaseModel, frozen=True):
    markdown: CleanText
    number: int | None = None
    """from 1, where the format has pages"""
    headings: tuple[Heading, ...] | None = None
    """where the format itself says what is a heading, as in plain text or PDF; None: Markdown's `#` lines"""


class Loaded(BaseModel, frozen=True):
    title: CleanText
    pages: list[Page]
