"""The lines of a PDF's page in reading order."""

import string
from collections.abc import Mapping
from contextlib import closing
from itertools import pairwise
from types import MappingProxyType

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

from index_store.parsing.loaders.pdf.characters import (
    HYPHENS,
    add_line_ends,
    breaks_in_words,
    characters_of,
    is_slanted,
)
from index_store.parsing.loaders.pdf.line import SAME_LINE, Line, line_of, one_line
from index_store.parsing.loaders.pdf.tables.ruled import ruled_tables
from index_store.parsing.loaders.pdf.upright import upright_text


def lines_of(page: PdfPage, end: int | None = None) -> list[Line]:
    """Those of the characters up to `end`, in reading order, without empty lines; if it is None, a ruled table is one
    of them.
    """
    text, turn = upright_text(page)
    with closing(text):
        characters = characters_of(text, pdfium.FPDFText_CountChars(text) if end is None else end)
        inside = _without_breaks(text, characters, turn)
        tables = ruled_tables(text, characters, turn) if end is None else {}
        add_line_ends(text, characters, turn)
        lines = _lines(text, characters, turn, 0, "\r\n", inside, tables)
    # pdfium gives a watermark between the lines that it crosses, as often as the page shows it.
    watermarks = dict.fromkeys(line for line in lines if line.slanted)
    lines = [*(line for line in lines if not line.slanted), *watermarks]
    vertical = [line for line in lines if line.vertical]
    falling = sum(first.across > second.across for first, second in pairwise(vertical))
    if len(vertical) * 2 > len(lines) and falling * 2 > len(vertical):
        # pdfium reads some vertical pages from left to right.
        return [line for tier in _tiers(lines) for line in sorted(tier, key=lambda line: line.across)]
    return lines


def words_of(page: PdfPage, start: int) -> list[Line]:
    """Each word of the characters from `start` on, in the order of the file."""
    text, turn = upright_text(page)
    with closing(text):
        characters = characters_of(text, pdfium.FPDFText_CountChars(text))
        inside = _without_breaks(text, characters, turn)
        return _lines(text, characters, turn, start, string.whitespace, inside)


def _without_breaks(page: PdfTextPage, characters: list[str], turn: int) -> set[int]:
    """Empties the breaks in words, and returns their places."""
    inside = breaks_in_words(page, characters, turn)
    for index in inside:
        characters[index] = ""
    return inside


def _lines(
    page: PdfTextPage,
    characters: list[str],
    turn: int,
    start: int,
    ends: str,
    inside: set[int],
    tables: Mapping[int, Line] = MappingProxyType({}),
) -> list[Line]:
    """`tables`: the character before which each ruled table stands; its own characters are empty."""
    lines: list[Line] = []
    slanted = False
    for index, character in enumerate([*characters[start:], "\n"], start):
        if index in tables:
            lines += filter(None, [line_of(page, characters, turn, start, index), tables[index]])
            start = index
        if character.strip() and is_slanted(page, index) != slanted:
            lines += filter(None, [line_of(page, characters, turn, start, index)])
            start, slanted = index, not slanted
        # pdfium gives no newline after the hyphen of a divided word.
        if index not in inside and (character in ends or character in HYPHENS):
            line = line_of(page, characters, turn, start, index + (character in HYPHENS))
            is_divided = turn % 2 or (ends == "\r\n" and (inside or (lines and line and _has_sign(lines[-1], line))))
            if line and lines and is_divided and _is_rest(lines[-1], line):
                # pdfium divides a row of a table at a cell of one character, and a sideways one at an empty cell.
                lines[-1] = one_line([lines[-1], line])
            elif line:
                lines.append(line)
            start = index + 1
    return lines


def _has_sign(line: Line, following: Line) -> bool:
    """Whether a cell of one character is at the break between them."""
    return any(len(cell.text) == 1 for cell in (*line.cells[-1:], *following.cells[:1]))


def _is_rest(line: Line, following: Line) -> bool:
    return (
        bool(line.cells and following.cells)
        and abs(following.across - line.across) < SAME_LINE * min(line.height, following.height)
        and following.begin > line.end
    )


def _tiers(lines: list[Line]) -> list[list[Line]]:
    """Lines of vertical text, grouped by the band of the page that they are in, from the top."""
    tiers: list[list[Line]] = []
    bottom = float("-inf")
    for line in sorted(lines, key=lambda line: line.begin):
        if line.begin >= bottom:
            tiers.append([])
        tiers[-1].append(line)
        bottom = max(bottom, line.end)
    return tiers
