"""What every loader is given, and what it makes of it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator


def _storable(text: object) -> object:
    # NUL ends a string for C, and a lone surrogate has no UTF-8: neither SQLite nor a model takes them.
    return text.replace("\0", "").encode("utf-8", "replace").decode() if isinstance(text, str) else text


CleanText = Annotated[str, BeforeValidator(_storable)]


@dataclass(frozen=True)
class RawFile:
    path: Path
    name: str
    """the document's, for its title and for errors; the path may be one of ours"""
    charset: str | None = None
    """what the server that sent it claims"""

    @cached_property
    def content(self) -> bytes:
        return self.path.read_bytes()


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
