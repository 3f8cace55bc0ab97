"""Furigana: readings in small hiragana above kanji, which a PDF has as lines of their own, between parts of a sentence.

They are left out, as those of Word files are: they would divide the words that a search looks for.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from index_store.parsing.loaders.pdf.line import SAME_LINE, Cell, Line

SMALL = 0.6
"""times the size of the type, of a reading at most"""
ABOVE = 1.5
"""times the height of a line, from it to its reading at most"""

_READING = re.compile(r"(?!(?:ふりがな|よみがな|よみ)$)[ぁ-ゖー\s]+")
"""not the label above a name in a form"""
_KANJI = re.compile(r"[々〇㐀-䶿一-鿿豈-﫿]")


def without_readings(lines: Sequence[Line]) -> list[Line]:
    """Of horizontal text. The parts of a line around a reading become one line."""
    left: list[Line] = []
    was_reading = False
    for at, line in enumerate(lines):
        if any(_reads(line, other) for other in (*left[-1:], *lines[at + 1 : at + 2])):
            was_reading = True
            continue
        if was_reading and left and _goes_on(left[-1], line):
            left[-1] = _joined(left[-1], line)
        else:
            left.append(line)
        was_reading = False
    return left


def _reads(line: Line, other: Line) -> bool:
    return (
        bool(_READING.fullmatch(line.text.strip()))
        and not (line.vertical or other.vertical)
        and line.size <= SMALL * other.size
        and 0 < other.across - line.across <= ABOVE * other.height
        and line.begin >= other.begin - other.height
        and line.end <= other.end + other.height
        and bool(_KANJI.search(other.text))
    )


def _goes_on(line: Line, following: Line) -> bool:
    """Whether the second part of a line begins where the first one ends; a comma has a space behind it."""
    if not (line.cells and following.cells):
        return False
    is_beside = abs(following.across - line.across) < SAME_LINE * min(line.height, following.height)
    return is_beside and line.size == following.size and abs(following.begin - line.end) < line.size


def _joined(line: Line, following: Line) -> Line:
    text = line.text + following.text
    last, first = line.cells[-1], following.cells[0]
    cell = Cell(last.begin, first.end, last.text + first.text)
    row = line.row or following.row
    return replace(line, text=text, end=following.end, row=row, cells=(*line.cells[:-1], cell, *following.cells[1:]))
