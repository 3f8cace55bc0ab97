"""Finds code in Markdown: spans between backticks, and fenced blocks."""

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

LONGEST_SPAN = 300
"""characters; the end of a line ends the search for the other backtick too, as in a word with a stray one"""
_LEAST_OF_FENCE = 3
"""backticks"""

_PIECE = re.compile(r"`+|\n|[^`\n]+")
_BEFORE_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
_LOOKED_BACK_AT = 40
"""characters of a line that show whether a fence may stand there"""
_MARKER = re.compile(r"[ \t]*[\[【［]")
"""the beginning of a marker, which models write behind the fence that ends a block"""


class Part(NamedTuple):
    """A part of a text."""

    text: str
    is_code: bool
    new_line: str = ""
    """what parts it from the block that ends on its line: Markdown would take it for code"""


class CodeSplitter:
    """Takes a text in pieces, and returns its parts. A span is returned when its end is known, a block at once."""

    def __init__(self) -> None:
        self._line = ""
        """the end of the line so far"""
        self._backticks = 0
        """at the end of the text; more may follow"""
        self._opening = ""
        """the backticks with which the code begins; empty in prose"""
        self._is_fence = False
        self._held = ""
        """what follows the opening, while it may be a span"""

    def feed(self, piece: str) -> list[Part]:
        return list(self._read(deque(_PIECE.findall(piece))))

    def end(self) -> list[Part]:
        parts: list[Part] = []
        rest: deque[str] = deque()
        while self._backticks or (self._opening and not self._is_fence):
            parts += self._end_run() if self._backticks else self._give_up(rest)
            parts += self._read(rest)
        return parts

    def _read(self, pieces: deque[str]) -> Iterator[Part]:
        while pieces:
            each = pieces.popleft()
            if each.startswith("`"):
                self._backticks += len(each)
                continue
            yield from self._end_run()
            if self._is_fence and _MARKER.match(each) and self._ends_fence():
                self._opening, self._is_fence = "", False
                indent = self._line[: self._line.index("`")]
                yield self._passed(each)._replace(new_line=f"\n{indent}")
            elif not self._opening or self._is_fence:
                yield self._passed(each)
            elif each == "\n" and self._begins_fence():
                self._is_fence = True
                yield self._passed(self._opening + self._take_held() + each)
            elif each == "\n" or len(self._held) + len(each) > LONGEST_SPAN:
                pieces.appendleft(each)
                yield from self._give_up(pieces)
            else:
                self._held += each

    def _end_run(self) -> Iterator[Part]:
        """Decides what the backticks are, now that they have ended."""
        run, self._backticks = "`" * self._backticks, 0
        if not run:
            return
        if self._is_fence or (not self._opening and self._line.endswith("\\")):
            yield self._passed(run)
        elif not self._opening:
            self._opening = run
        elif run == self._opening:
            yield self._passed(run + self._take_held() + run)
            self._opening = ""
        else:
            self._held += run

    def _give_up(self, pieces: deque[str]) -> Iterator[Part]:
        """The opening is not code; what follows it is read again."""
        opening, self._opening = self._opening, ""
        pieces.extendleft(reversed(_PIECE.findall(self._take_held())))
        yield self._passed(opening)

    def _take_held(self) -> str:
        held, self._held = self._held, ""
        return held

    def _begins_fence(self) -> bool:
        return (
            len(self._opening) >= _LEAST_OF_FENCE
            and "`" not in self._held
            and _BEFORE_FENCE.fullmatch(self._line) is not None
        )

    def _passed(self, text: str) -> Part:
        part = Part(text, is_code=bool(self._opening))
        if not text.endswith("\n"):
            self._line = (self._line + text)[-_LOOKED_BACK_AT:]
            return part
        if self._is_fence and self._ends_fence():
            self._opening, self._is_fence = "", False
        self._line = ""
        return part

    def _ends_fence(self) -> bool:
        line = self._line.lstrip(" \t>").rstrip()
        return len(line) >= len(self._opening) and set(line) == {"`"}


def code_hidden(text: str) -> str:
    """`text` with spaces for the brackets in its code, so that nothing there looks like a marker."""
    code = CodeSplitter()
    parts = (*code.feed(text), *code.end())
    return "".join(part.text.translate(_SPACES) if part.is_code else part.text for part in parts)


_SPACES = str.maketrans("[]", "  ")
