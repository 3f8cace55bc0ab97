"""The input of a loader, a file, and its output: pages of Markdown with headings, and a title."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator

from index_store.base.text.bidi import without_bidi_controls
from index_store.base.text.shortened import shortened

CHARACTERS = 20_000_000
"""of text that one document may have, about 30,000 pages of Japanese: read and split in 57 s and 0.55 GB, within the
default limits, and embedded in two hours (measured on two cores)"""

_OPENING_FENCE = re.compile(r" {0,3}(?:(?:[-*+]|\w{1,9}[.)])[ \t]+)?(`{3,}+(?!.*`)|~{3,})")
"""perhaps after the mark of a list item; one line with backticks on both sides of its code is no fence"""
_CLOSING_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})\s*$")
HEADING_LENGTH = 200
"""characters; a longer text is a paragraph in the style of a heading. Headings stand above each passage below them"""
HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")


def fence_mark(line: str, opened: str) -> str:
    """The ``` or ~~~ with which the line of Markdown opens a block of code, or closes the one that `opened` has opened;
    else empty.
    """
    found = (_CLOSING_FENCE if opened else _OPENING_FENCE).match(line)
    return found[1] if found and found[1].startswith(opened) else ""


def _cleaned(text: object) -> object:
    # NUL ends a string in C, and a lone surrogate has no UTF-8 form: neither SQLite nor a model accepts them.
    # ESC begins a command for a terminal.
    if not isinstance(text, str):
        return text
    return without_bidi_controls(text.replace("\0", "").replace("\x1b", "")).encode("utf-8", "replace").decode()


CleanText = Annotated[str, BeforeValidator(_cleaned)]


@dataclass(frozen=True)
class RawFile:
    path: Path
    name: str
    """the document's name, for its title and for errors; the path may have a name of ours"""
    charset: str | None = None
    """named by the server that sent it"""
    archive_folder: str = ""
    """its folders in the archive that it came in, separated by /"""

    @cached_property
    def content(self) -> bytes:
        return self.path.read_bytes()


class Heading(BaseModel, frozen=True):
    line: int
    """line number in the page's Markdown, from 0"""
    level: int
    text: CleanText
    """if its line goes on behind it, the line is text, too: 第1条 この規程は、…"""


class Page(BaseModel, frozen=True):
    markdown: CleanText
    number: int | None = None
    """from 1, if the format has pages"""
    headings: tuple[Heading, ...] | None = None
    """if the format itself tells the headings, such as plain text or PDF; None: Markdown's `#` lines"""

    def lines(self) -> Iterator[tuple[str, int, str]]:
        """Each line with its heading level and text, or 0 and "" if it is no heading."""
        for line, level, text in self._lines():
            yield (line, level, text) if len(text) <= HEADING_LENGTH else (line, 0, "")

    def _lines(self) -> Iterator[tuple[str, int, str]]:
        given = {heading.line: heading for heading in self.headings or ()}
        fence = ""
        for number, line in enumerate(self.markdown.split("\n")):
            if self.headings is not None:
                heading = given.get(number)
                yield (line, heading.level, heading.text) if heading else (line, 0, "")
                continue
            mark = fence_mark(line, fence)
            if mark:
                fence = "" if fence else mark
            found = None if fence or mark else HEADING.match(line)
            if found and found[2]:
                yield line, len(found[1]), found[2].replace("**", "").strip()
            else:
                yield line, 0, ""


def with_headings(pages: Sequence[Page], headings: Sequence[Sequence[Heading]]) -> list[Page]:
    """The pages with these headings in place of their own; `headings`: of each page, in order."""
    return [page.model_copy(update={"headings": tuple(each)}) for page, each in zip(pages, headings, strict=True)]


TITLE_LENGTH = 200
"""characters"""


def _shortened(title: str) -> str:
    return shortened(title, TITLE_LENGTH)


class LoadedDocument(BaseModel, frozen=True):
    title: Annotated[CleanText, AfterValidator(_shortened)]
    pages: list[Page]
    pages_without_text: Annotated[str, AfterValidator(_shortened)] = ""
    """the pages that have something on them, but no text, in the form of `page_ranges`; of a mail, the attachments"""


def page_ranges(numbers: Sequence[int]) -> str:
    """3, 5-7 for 3, 5, 6 and 7."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ", ".join("-".join(map(str, each)) for each in ranges)


# Which property of a document is its title, and which was written by a program

_NO_TITLE = re.compile(
    r"\W?(untitled|anonymous|無題)|microsoft (word|powerpoint|excel) - |.*\ufffd"
    r"|((powerpoint|word) ?)?(presentation|document|book|slide) ?\d*$"
    r"|(powerpoint ?)?(プレゼンテーション|スライド|文書|ブック) ?\d*$"
    r"|.*\.(do[ct][xm]?|txt|rtf|pp[st][xm]?|xl[st][xm]?|csv|indd|tex|dvi|qxd|ai|pdf)$",
    re.I | re.S,
)


def title_of(name: str, *candidates: str | None) -> str:
    """The first candidate that is a real title, otherwise the file's name without its suffix. A text longer than
    TITLE_LENGTH is a summary in the wrong field.
    """
    for candidate in candidates:
        text = " ".join((candidate or "").split())
        if text and len(text) <= TITLE_LENGTH and not _NO_TITLE.match(text):
            return text
    return PurePath(name).stem


def only_highest(headings: Sequence[tuple[int, str]]) -> str | None:
    """The first heading, if no other has its level: otherwise it would be the heading of a chapter."""
    if not headings or any(level <= headings[0][0] for level, _ in headings[1:]):
        return None
    return headings[0][1]
