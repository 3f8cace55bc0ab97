"""What every loader makes of a file."""

from pydantic import BaseModel


class Heading(BaseModel, frozen=True):
    line: int
    """of the page's Markdown, from 0"""
    level: int
    text: str


class Page(BaseModel, frozen=True):
    markdown: str
    number: int | None = None
    """from 1, where the format has pages"""
    headings: tuple[Heading, ...] | None = None
    """where the format itself says what is a heading, as in plain text or PDF; None: Markdown's `#` lines"""


class Loaded(BaseModel, frozen=True):
    title: str
    pages: list[Page]
