"""The lines of a PDF's page with where they stand, and the paragraphs that were cut into them."""

import ctypes
import math
import re
import statistics
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

import pypdfium2.raw as pdfium
from pypdfium2 import PdfTextPage

PARAGRAPH_GAP = 1.35
"""times the usual distance of lines: more is a new paragraph"""
WIDEST = 2.5
"""times the size of the type, that lines of one paragraph stand apart; on a page of few lines the usual is no guide"""
SAME_LINE = 0.4
"""of a line's height: less between two pieces is one line"""
COLUMN_GAP = 2.0
"""times a line's height: more between two characters is the space between a table's columns"""
INDENT = 0.7
"""of a line's height: more is an indented first line"""
NEIGHBOURS = 6
"""lines before and after that tell how wide the column is"""

_AS_WRITTEN = {
    code: unicodedata.normalize("NFKC", chr(code))
    for code in (*range(0x2E80, 0x2FE0), *range(0xFB00, 0xFB07))
    if unicodedata.normalize("NFKC", chr(code)) != chr(code)
}
"""radicals that fonts give for kanji, and ligatures: the same text in other characters"""

_HYPHENS = "\x02\ufffe\u00ad"
"""what pdfium gives for the hyphen of a word that was cut at the end of a line"""

_BULLET = re.compile(
    r"[•‣▪◦●○■□◆◇★☆※・*‐–—-]\s?\S|\(?[\dA-Za-z]{1,3}[.)]\s|[（(][\d一-十ア-ン]{1,3}[)）]|[①-⑳]|\d+(\.\d+)+\s|第[\d〇一二三四五六七八九十百]+[章節条項]"
)
_SENTENCE_END = re.compile(r"[。．.!?！？:：]['\"”’」』）)]*$")
_WIDE = re.compile(r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_SPACED = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff]) (?=[\u3040-\u30ff\u3400-\u9fff])")


@dataclass(frozen=True)
class Line:
    """`begin` and `end` along the writing, `across` growing from line to line, `height` of its characters; in points.

    Vertical text is turned, so that it is measured like horizontal text.
    """

    text: str
    begin: float
    end: float
    across: float
    height: float
    vertical: bool = False
    row: bool = False
    """whether it has gaps like a table's"""
    size: float = 0
    """of its type, in points to a tenth"""
    weight: int = 0
    """of its type: 400 is usual, 700 bold"""


def lines_of(page: PdfTextPage) -> list[Line]:
    """In reading order, without empty ones."""
    characters = [chr(pdfium.FPDFText_GetUnicode(page, index)) for index in range(pdfium.FPDFText_CountChars(page))]
    lines = []
    start = 0
    for index, character in enumerate([*characters, "\n"]):
        # pdfium gives no newline after the hyphen of a cut word.
        if character in "\r\n" or character in _HYPHENS:
            line = _line(page, characters, start, index + (character in _HYPHENS))
            if line:
                lines.append(line)
            start = index + 1
    vertical = [line for line in lines if line.vertical]
    falling = sum(first.across > second.across for first, second in pairwise(vertical))
    if len(vertical) * 2 > len(lines) and falling * 2 > len(vertical):
        # pdfium reads some vertical pages from left to right.
        return [line for tier in _tiers(lines) for line in sorted(tier, key=lambda line: line.across)]
    return lines


def _tiers(lines: list[Line]) -> list[list[Line]]:
    """Lines of vertical text by the band of the page that they stand in, from the top."""
    tiers: list[list[Line]] = []
    bottom = float("-inf")
    for line in sorted(lines, key=lambda line: line.begin):
        if line.begin >= bottom:
            tiers.append([])
        tiers[-1].append(line)
        bottom = max(bottom, line.end)
    return tiers


def _line(page: PdfTextPage, characters: list[str], start: int, end: int) -> Line | None:
    text = "".join(characters[start:end])
    # Above U+FFFF pdfium may give the two halves.
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").translate(_AS_WRITTEN)
    if not text.strip():
        return None
    if len(_SPACED.findall(text)) > 0.4 * len(_WIDE.findall(text)):
        text = _SPACED.sub("", text)
    written = [index for index in range(start, end) if not characters[index].isspace()]
    boxes = [box for index in written if (box := _box(page, index))]
    if not boxes:
        return Line(text, 0, 0, 0, 0)
    # The first may be an initial, the last the number of a note.
    size = statistics.median(_size(page, written[at]) for at in (0, len(written) // 2, -1))
    weight = pdfium.FPDFText_GetFontWeight(page, written[len(written) // 2])
    left, right = min(box[0] for box in boxes), max(box[1] for box in boxes)
    bottom, top = min(box[2] for box in boxes), max(box[3] for box in boxes)
    if len(boxes) > 2 and top - bottom > 2 * (right - left):
        return Line(text, -top, -bottom, -(left + right) / 2, right - left, vertical=True, size=size, weight=weight)
    gap = max((following[0] - box[1] for box, following in pairwise(boxes)), default=0)
    # The baseline is about where most characters end below.
    across = -statistics.median(box[2] for box in boxes)
    return Line(
        text, left, right, across, top - bottom, row=gap > COLUMN_GAP * (top - bottom), size=size, weight=weight
    )


def _size(page: PdfTextPage, index: int) -> float:
    """Some programs write in type of one point, and scale it."""
    matrix = pdfium.FS_MATRIX()
    scaled = pdfium.FPDFText_GetMatrix(page, index, ctypes.byref(matrix))
    return round(pdfium.FPDFText_GetFontSize(page, index) * (math.hypot(matrix.c, matrix.d) if scaled else 1), 1)


def _box(page: PdfTextPage, index: int) -> tuple[float, float, float, float] | None:
    """Left, right, bottom, top; None for a character that pdfium put in."""
    values = [ctypes.c_double() for _ in range(4)]
    ok = pdfium.FPDFText_GetCharBox(page, index, *map(ctypes.byref, values))
    box = tuple(value.value for value in values)
    return box if ok and box[1] > box[0] else None  # type: ignore[return-value]


def paragraphs(lines: list[Line]) -> str:
    """The text with a blank line between paragraphs; lines that were wrapped are joined, others stay lines."""
    steps = [second.across - first.across for first, second in pairwise(lines)]
    usual = statistics.median([step for step in steps if step > 0] or [0])
    text = lines[0].text.rstrip()
    for at, (line, following) in enumerate(pairwise(lines), 1):
        near = [
            other
            for other in lines[max(0, at - NEIGHBOURS) : at + NEIGHBOURS]
            if other.begin < line.end and line.begin < other.end
        ]
        step = following.across - line.across
        if abs(step) < SAME_LINE * min(line.height, following.height) and following.begin >= line.end - line.height:
            text += " " + following.text.strip()
        elif step > PARAGRAPH_GAP * min(usual, WIDEST * line.size or usual) and step > line.height:
            text += "\n\n" + following.text.rstrip()
        elif _ends_here(line, following, near):
            text += "\n" + following.text.rstrip()
        else:
            text = joined(text, following.text.strip())
    return _unhyphenated(text)


def _ends_here(line: Line, following: Line, near: list[Line]) -> bool:
    """Whether the line ends where it does because its paragraph does, and not because it is full."""
    if line.text[-1] in _HYPHENS:
        return False
    if line.row or following.row:
        return True
    if following.text.startswith("\u3000") or _BULLET.match(following.text.lstrip()):
        return True
    column_begin = min((other.begin for other in near), default=line.begin)
    column_end = max((other.end for other in near), default=line.end)
    indented = following.begin - column_begin > INDENT * following.height and following.across > line.across
    if indented and line.begin - column_begin < INDENT * line.height and _SENTENCE_END.search(line.text.rstrip()):
        return True
    # Had the next word fitted, it would have stood on this line.
    size = (line.end - line.begin) / max(len(line.text), 1)
    first = following.text.split(maxsplit=1)[0]
    # A Japanese line is short by up to two characters, so that no stop begins the next.
    word = 2.5 if _WIDE.match(first) else len(first) + 1
    return column_end - line.end > word * size and bool(near)


def joined(text: str, following: str) -> str:
    """Two lines of one paragraph: without the hyphen of a cut word, and without a space within Japanese."""
    if text and text[-1] in _HYPHENS:
        # "Lucene-BM25" keeps its hyphen wherever it is cut.
        return (text[:-1] if following[:1].islower() else text[:-1] + "-") + following
    if re.search(r"[a-z]-$", text) and following[:1].islower():
        return text[:-1] + following
    if text and following and _WIDE.match(text[-1]) and _WIDE.match(following[0]):
        return text + following
    return f"{text} {following}"


def _unhyphenated(text: str) -> str:
    """A cut word's hyphen is gone where it was joined; any other that pdfium marked is one."""
    return re.sub(rf"[{_HYPHENS}]", "-", text)
