"""The lines of a PDF's page with their places, and the paragraphs that were broken into these lines."""

import ctypes
import math
import re
import statistics
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

from index_store.base.text.radicals import KANJI_OF_RADICALS
from index_store.parsing.loaders import as_markdown
from index_store.parsing.loaders.pdf.ruled import RuledTable
from index_store.parsing.loaders.pdf.rules import Grid, grids
from index_store.parsing.loaders.pdf.upright import Box, turned_back, upright_text
from index_store.parsing.loaders.sheet import Span

PARAGRAPH_GAP = 1.35
"""times the usual distance of lines; a larger distance begins a new paragraph"""
WIDEST = 2.5
"""times the size of the type: the largest distance of lines in a paragraph, for pages with too few lines to compare"""
SAME_LINE = 0.4
"""share of a line's height; pieces that are closer than this are one line"""
LETTER_GAP = 0.5
"""share of the size of the type; Japanese characters that are closer than this are of one word"""
CELL_GAP = 0.9
"""times a line's height; a wider space between two characters may separate the cells of a table, if the line is in one
with other lines"""
COLUMN_GAP = 2.0
"""times a line's height; a wider space between two characters separates the columns of a table"""
INDENT = 0.7
"""share of a line's height; a first line that starts further to the right is indented"""
RAISED_SIZE = 0.8
"""times the size of the type, of raised figures at most"""
RAISED = 0.1
"""times the height of a figure; the middle of a raised one is higher than its middle by this at least"""
RAISED_GAP = 1.2
"""times the height of a figure, from it to the raised one at most"""
NARROWEST = 8.0
"""times the size of the type: the width of a column of text at least; a narrower one is the label of a box"""
NEIGHBOURS = 6
"""lines before and after that show the width of the column"""
SLANT = 0.2
"""rise of a line on its length, from which it is slanted; scans that lie a little askew have less"""

_AS_WRITTEN = {
    code: unicodedata.normalize("NFKC", chr(code))
    for code in (*range(0x2E80, 0x2FE0), *range(0xFB00, 0xFB07))
    if unicodedata.normalize("NFKC", chr(code)) != chr(code)
} | KANJI_OF_RADICALS
"""radicals and ligatures that fonts give for kanji and letters: the same text in other characters"""

_HYPHENS = "\x02\ufffe\u00ad"
"""characters that pdfium gives for the hyphen of a word divided at the end of a line"""

BULLET = re.compile(
    r"[•‣▪◦●○■□◆◇★☆※・*‐–—-]\s?\S|\(?[\dA-Za-z]{1,3}[.)]\s|[（(][\d一-十ア-ン]{1,3}[)）]|[①-⑳]"
    r"|\d+(\.\d+)+\s|第[\d〇一二三四五六七八九十百]+[章節条項]"
)
_SENTENCE_END = re.compile(r"[。．.!?！？:：]['\"”’」』）)]*$")
_CAPTION = re.compile(r"（[^（）]{1,60}）")
"""on a line of its own, above an article"""
_WIDE = re.compile(r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_LEADER = re.compile(r" ?(?:[.．・‥…·] ?){6,}")
"""the dots from a title to its page, or from an item to its price"""
_LED = re.compile(r" … \S{1,12}$")
_FONT_NAME = 128
"""bytes of a font's name that are read; a PDF has 127 at most"""
_FRACTION = re.compile(r"\d+ ?[/⁄]")
_OPENING, _CLOSING = frozenset("（「『【〔［｛〈《"), frozenset("）」』】〕］｝〉》、。，．")
"""characters of full width whose left or right half is empty"""
_SPACED = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff]) (?=[\u3040-\u30ff\u3400-\u9fff])")


@dataclass(frozen=True)
class Cell:
    """A part of a line that has a gap on both sides."""

    begin: float
    end: float
    text: str


@dataclass(frozen=True)
class Line:
    """`begin` and `end` in the direction of writing, `across` from line to line, `height` of its characters; in points.

    Vertical text is turned, so that it is measured like horizontal text.
    """

    text: str
    begin: float
    end: float
    across: float
    height: float
    vertical: bool = False
    row: bool = False
    """whether it has gaps like those of a table"""
    size: float = 0
    """of its type, in points to a tenth"""
    weight: int = 0
    """of its type: 400 is usual, 700 bold"""
    cells: tuple[Cell, ...] = ()
    """of horizontal text"""
    slanted: bool = False
    """across the page, as a watermark: then without place and size"""
    table: RuledTable | None = None
    """which stands here in place of its lines"""


def lines_of(page: PdfPage, end: int | None = None) -> list[Line]:
    """Those of the characters up to `end`, in reading order, without empty lines; if it is None, a ruled table is one
    of them.
    """
    text, turn = upright_text(page)
    with closing(text):
        characters = _characters(text, pdfium.FPDFText_CountChars(text) if end is None else end)
        tables = _ruled_tables(text, characters, turn) if end is None else {}
        lines = _lines(text, characters, turn, 0, "\r\n", tables)
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
        characters = _characters(text, pdfium.FPDFText_CountChars(text))
        return _lines(text, characters, turn, start, string.whitespace)


def _characters(page: PdfTextPage, end: int) -> list[str]:
    characters = [chr(pdfium.FPDFText_GetUnicode(page, index)) for index in range(end)]
    _leave_out_unnamed(page, characters)
    _leave_out_cropped(page, characters)
    return characters


def _lines(
    page: PdfTextPage,
    characters: list[str],
    turn: int,
    start: int,
    ends: str,
    tables: Mapping[int, Line] = MappingProxyType({}),
) -> list[Line]:
    """`tables`: the character before which each ruled table stands; its own characters are empty."""
    inside = _breaks_in_words(page, characters, turn)
    for index in inside:
        characters[index] = ""
    lines: list[Line] = []
    slanted = False
    for index, character in enumerate([*characters[start:], "\n"], start):
        if index in tables:
            lines += filter(None, [_line(page, characters, turn, start, index), tables[index]])
            start = index
        if character.strip() and _is_slanted(page, index) != slanted:
            lines += filter(None, [_line(page, characters, turn, start, index)])
            start, slanted = index, not slanted
        # pdfium gives no newline after the hyphen of a divided word.
        if index not in inside and (character in ends or character in _HYPHENS):
            line = _line(page, characters, turn, start, index + (character in _HYPHENS))
            if line and turn % 2 and lines and _is_rest(lines[-1], line):
                # pdfium divides a sideways row of a table at an empty cell.
                lines[-1] = one_line([lines[-1], line])
            elif line:
                lines.append(line)
            start = index + 1
    return lines


def _ruled_tables(page: PdfTextPage, characters: list[str], turn: int) -> dict[int, Line]:
    """Empties the characters of ruled tables. Returns each table as a line, by its first character."""
    found = grids(page.page, turn) if any(map(str.strip, characters)) else []
    tables: dict[int, Line] = {}
    for grid, cells in zip(found, _pieces(page, characters, turn, found), strict=True):
        # A line marks its raised figures.
        copy = list(characters)
        lines = {
            span: [line for start, end in pieces if (line := _line(page, copy, turn, start, end))]
            for span, pieces in cells.items()
        }
        if _is_table(grid, lines) and not _are_parted(characters, cells):
            indexes = [at for pieces in cells.values() for start, end in pieces for at in range(start, end)]
            tables[min(indexes)] = _table_line(grid, lines)
            for at in indexes:
                characters[at] = ""
    return tables


_Pieces = dict[Span, list[tuple[int, int]]]
"""cell -> first character and end of each of its lines"""


def _pieces(page: PdfTextPage, characters: list[str], turn: int, found: Sequence[Grid]) -> list[_Pieces]:
    """For each of the grids found."""
    pieces: list[_Pieces] = [{} for _ in found]
    before: tuple[int, Span] | None = None
    for index, character in enumerate(characters if found else ()):
        if character.isspace() and character not in "\r\n":
            continue
        cell = _cell_of(page, index, turn, found) if character.strip() else None
        if cell:
            at, span = cell
            inside = pieces[at].setdefault(span, [])
            start = inside.pop()[0] if cell == before else index
            inside.append((start, index + 1))
        if character:
            before = None if character in _HYPHENS else cell
    return pieces


def _are_parted(characters: list[str], cells: _Pieces) -> bool:
    """Whether most of the lines begin inside a word: rules that run through the text, as those of squared paper do."""
    starts = [start for pieces in cells.values() for start, _ in pieces]
    return 2 * sum(start > 0 and bool(characters[start - 1].strip()) for start in starts) > len(starts)


def _is_table(grid: Grid, lines: Mapping[Span, list[Line]]) -> bool:
    """Whether cells are beside each other, unlike frames, and rows have rules between them."""
    beside = Counter(row for span, written in lines.items() if written for row in range(span.top, span.bottom + 1))
    return max(beside.values(), default=0) > 1 and not _has_rows_without_rules(grid, lines)


def _cell_of(page: PdfTextPage, index: int, turn: int, found: Sequence[Grid]) -> tuple[int, Span] | None:
    """The grid, and the cell of it, in which a character stands."""
    box = _box(page, index, turn)
    if box is None:
        return None
    cell = next(((at, span) for at, grid in enumerate(found) if (span := grid.cell_at(box))), None)
    return cell if cell and not _is_slanted(page, index) else None


def _has_rows_without_rules(grid: Grid, lines: Mapping[Span, list[Line]]) -> bool:
    """Whether two cells beside each other have several lines that end at the same heights before they are full."""
    ends: Counter[tuple[int, int, float]] = Counter()
    for span, written in lines.items():
        breaks = [line for line, following in pairwise(written) if _stops(line, following, written, grid.sides(span))]
        ends.update({(span.top, span.bottom, round(line.across / (line.size or 1))) for line in breaks})
    rows = Counter((top, bottom) for (top, bottom, _), cells in ends.items() if cells > 1)
    return any(count > 1 for count in rows.values())


def _table_line(grid: Grid, lines: Mapping[Span, list[Line]]) -> Line:
    cells = [
        (span, text)
        for span, written in sorted(lines.items(), key=lambda item: (item[0].top, item[0].left))
        if (text := _cell_text(written, grid.sides(span)))
    ]
    text = "\t".join(text for _, text in cells)
    every = [line for written in lines.values() for line in written]
    size, weight = Counter((line.size, line.weight) for line in every).most_common(1)[0][0]
    return Line(
        text, grid.places[0], grid.places[-1], grid.heights[0] + size, size, size=size, weight=weight,
        table=RuledTable(cells, list(pairwise(grid.places))),
    )  # fmt: skip


def _cell_text(lines: list[Line], sides: tuple[float, float]) -> str:
    text = lines[0].text.strip() if lines else ""
    for line, following in pairwise(lines):
        if _stops(line, following, lines, sides):
            text += "\n" + following.text.strip()
        else:
            text = joined(text, following.text.strip())
    return _unhyphenated(text)


def _stops(line: Line, following: Line, lines: list[Line], sides: tuple[float, float]) -> bool:
    """Whether the next word would have fitted behind this line of a cell."""
    one, other = line.text.strip(), following.text.strip()
    if len(one) == len(other) == 1 and _WIDE.match(one) and _WIDE.match(other):
        # A word that is written downwards.
        return False
    left, right = sides
    margin = min(line.size, *(min(each.begin - left, right - each.end) for each in lines))
    return _next_word(line, following) < right - left - 2 * max(margin, 0) - (line.end - line.begin)


def _leave_out_unnamed(page: PdfTextPage, characters: list[str]) -> None:
    """Empties those whose font does not say which characters they are: pdfium gives their numbers in the font.

    Small numbers alone are kept: old programs number the characters of a font as ASCII does.
    """
    large = [
        index
        for index, character in enumerate(characters)
        if character > "\xff" and pdfium.FPDFText_HasUnicodeMapError(page, index) == 1
    ]
    if not large:
        return
    fonts = {index: _font(page, index) for index, character in enumerate(characters) if not character.isspace()}
    counts, unnamed = Counter(fonts.values()), Counter(fonts[index] for index in large)
    for index, font in fonts.items():
        # pdfium does not tell it of numbers that would be Hebrew or Arabic.
        if 2 * unnamed[font] > counts[font]:
            characters[index] = " "
    for index in large:
        characters[index] = " "


def _leave_out_cropped(page: PdfTextPage, characters: list[str]) -> None:
    """Empties the characters outside the part of the page that is shown: both halves of a spread that was cut into two
    pages have the text of the whole. A line that begins inside is kept up to a gap: it may be too long for its paper.
    """
    cropped = page.page.get_cropbox(fallback_ok=False)
    if cropped is None or cropped == page.page.get_mediabox(fallback_ok=False):
        return
    shown = page.page.get_bbox()
    before: Box | None = None
    for index, character in enumerate(characters):
        box = None if character in "\r\n" else _place(page, index)
        if box and not _is_shown(box, shown) and not (before and _is_next(before, box)):
            characters[index] = ""
            box = None
        before = box


def _breaks_in_words(page: PdfTextPage, characters: list[str], turn: int) -> set[int]:
    """On some pages of tables, pdfium takes each character for a line."""
    breaks: set[int] = set()
    for at in range(1, len(characters) - 2):
        if characters[at] == "\r" and characters[at + 1] == "\n" and _is_in_word(page, characters, at, turn):
            breaks |= {at, at + 1}
    return breaks


def _is_in_word(page: PdfTextPage, characters: list[str], at: int, turn: int) -> bool:
    """Whether the Japanese characters around a break are beside each other."""
    if not _WIDE.match(characters[at - 1]) or not _WIDE.match(characters[at + 2]):
        return False
    before, after, size = _box(page, at - 1, turn), _box(page, at + 2, turn), _size(page, at - 1)
    if before is None or after is None or size != _size(page, at + 2):
        return False
    shared = min(before[3], after[3]) - max(before[2], after[2])
    return abs(after[0] - before[1]) < LETTER_GAP * size and shared > 0


def _is_shown(box: Box, shown: tuple[float, float, float, float]) -> bool:
    left, bottom, right, top = shown
    return left <= (box[0] + box[1]) / 2 <= right and bottom <= (box[2] + box[3]) / 2 <= top


def _is_next(before: Box, box: Box) -> bool:
    """Whether the distance of two characters is smaller than they are."""
    size = max(box[1] - box[0], box[3] - box[2], before[1] - before[0], before[3] - before[2])
    return max(box[0] - before[1], before[0] - box[1], box[2] - before[3], before[2] - box[3]) < size


def _is_rest(line: Line, following: Line) -> bool:
    return (
        bool(line.cells and following.cells)
        and abs(following.across - line.across) < SAME_LINE * min(line.height, following.height)
        and following.begin > line.end
    )


def one_line(pieces: Iterable[Line]) -> Line:
    """One line of the pieces of horizontal text that are at its height, from left to right."""
    pieces = sorted(pieces, key=lambda piece: piece.begin)
    height = max(piece.height for piece in pieces)
    cells: list[Cell] = []
    row = False
    for cell in sorted((cell for piece in pieces for cell in piece.cells), key=lambda cell: cell.begin):
        gap = cell.begin - cells[-1].end if cells else 0
        row = row or gap > COLUMN_GAP * height
        if cells and gap <= CELL_GAP * height:
            cells[-1] = Cell(cells[-1].begin, max(cells[-1].end, cell.end), f"{cells[-1].text} {cell.text}")
        else:
            cells.append(cell)
    return replace(
        pieces[0], text=" ".join(cell.text for cell in cells), end=max(piece.end for piece in pieces), height=height,
        row=row, cells=tuple(cells),
    )  # fmt: skip


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


def _line(page: PdfTextPage, characters: list[str], turn: int, start: int, end: int) -> Line | None:
    written = [index for index in range(start, end) if characters[index].strip()]
    if not written:
        return None
    places = [(index, box) for index in written if (box := _box(page, index, turn))]
    if _is_slanted(page, written[0]):
        return Line(_text(characters[start:end]).strip(), 0, 0, 0, 0, slanted=True)
    _mark_raised(page, characters, places)
    text = _text(characters[start:end])
    boxes = [box for _, box in places]
    if not boxes:
        return Line(text, 0, 0, 0, 0)
    # The first may be an initial, the last the number of a note.
    size = statistics.median(_size(page, written[at]) for at in (0, len(written) // 2, -1))
    weight = pdfium.FPDFText_GetFontWeight(page, written[len(written) // 2])
    left, right = min(box[0] for box in boxes), max(box[1] for box in boxes)
    bottom, top = min(box[2] for box in boxes), max(box[3] for box in boxes)
    if len(boxes) > 2 and top - bottom > 2 * (right - left):
        return Line(text, -top, -bottom, -(left + right) / 2, right - left, vertical=True, size=size, weight=weight)
    gaps = _gaps(characters, places, size)
    gap = max(gaps, default=0)
    # The baseline is about where most characters end at the bottom.
    across = -statistics.median(box[2] for box in boxes)
    height = top - bottom
    cells = tuple(_cells(characters, places, gaps, CELL_GAP * height)) if gap > CELL_GAP * height else ()
    return Line(
        text, left, right, across, height, row=gap > COLUMN_GAP * height, size=size, weight=weight,
        cells=cells or (Cell(left, right, text.strip()),),
    )  # fmt: skip


def _mark_raised(page: PdfTextPage, characters: list[str], places: list[tuple[int, Box]]) -> None:
    """Puts ^ before raised figures that would read as more digits of the number before them."""
    for (base, (left, right, bottom, top)), (index, box) in pairwise(places):
        height = top - bottom
        is_above = (box[2] + box[3]) / 2 > (bottom + top) / 2 + RAISED * height
        if not is_above or not left < box[0] < right + RAISED_GAP * height:
            continue
        marked = as_markdown.with_raised(characters[base] + as_markdown.raised(characters[index]))
        # pdfium adds a space before the number of a note.
        added = range(base + 1, index) if characters[base].isdigit() else ()
        if (
            "^" in marked
            and base + 1 + len(added) == index
            and all(pdfium.FPDFText_IsGenerated(page, at) == 1 for at in added)
            and _size(page, index) < RAISED_SIZE * _size(page, base)
            and not _FRACTION.match("".join(characters[index : index + 8]))
        ):
            characters[base + 1 : index + 1] = [*[""] * len(added), f"^{characters[index]}"]


def _gaps(characters: list[str], places: list[tuple[int, Box]], size: float) -> list[float]:
    """From each character to the next, without the empty halves of brackets and stops of full width."""
    return [
        following[0] - box[1] - size / 2 * ((characters[index] in _CLOSING) + (characters[at] in _OPENING))
        for (index, box), (at, following) in pairwise(places)
    ]


def _cells(characters: list[str], places: list[tuple[int, Box]], gaps: Sequence[float], least: float) -> Iterator[Cell]:
    """Parted where the gap is larger than `least`."""
    first = 0
    for at in range(1, len(places) + 1):
        if at == len(places) or gaps[at - 1] > least:
            (start, begin), (end, _) = places[first], places[at - 1]
            right = max(box[1] for _, box in places[first:at])
            yield Cell(begin[0], right, _text(characters[start : end + 1]).strip())
            first = at


def _text(characters: list[str]) -> str:
    # For a character above U+FFFF, pdfium may give its two halves.
    text = "".join(characters).encode("utf-16", "surrogatepass").decode("utf-16", "replace").translate(_AS_WRITTEN)
    if len(_SPACED.findall(text)) > 0.4 * len(_WIDE.findall(text)):
        text = _SPACED.sub("", text)
    return _LEADER.sub(" … ", text)


def _font(page: PdfTextPage, index: int) -> bytes:
    """Its name."""
    name = ctypes.create_string_buffer(_FONT_NAME)
    pdfium.FPDFText_GetFontInfo(page, index, name, _FONT_NAME, None)
    return name.value


def _size(page: PdfTextPage, index: int) -> float:
    """Some programs write in type of one point, and scale it."""
    matrix = _matrix(page, index)
    size: float = pdfium.FPDFText_GetFontSize(page, index)
    return round(size * (math.hypot(matrix.c, matrix.d) if matrix else 1), 1)


def _is_slanted(page: PdfTextPage, index: int) -> bool:
    # The angle that pdfium tells is that of the letters: italics lean, too.
    matrix = _matrix(page, index)
    if matrix is None:
        return False
    run, rise = sorted((abs(matrix.a), abs(matrix.b)), reverse=True)
    return bool(rise > SLANT * run)


def _matrix(page: PdfTextPage, index: int) -> pdfium.FS_MATRIX | None:
    matrix = pdfium.FS_MATRIX()
    return matrix if pdfium.FPDFText_GetMatrix(page, index, ctypes.byref(matrix)) else None


def _box(page: PdfTextPage, index: int, turn: int) -> Box | None:
    """None for a character that pdfium has added."""
    place = _place(page, index)
    return turned_back(place, turn) if place and place[1] > place[0] else None


def _place(page: PdfTextPage, index: int) -> Box | None:
    values = [ctypes.c_double() for _ in range(4)]
    ok = pdfium.FPDFText_GetCharBox(page, index, *map(ctypes.byref, values))
    left, right, bottom, top = (value.value for value in values)
    return (left, right, bottom, top) if ok else None


def paragraphs(lines: list[Line], start: int, end: int) -> str:
    """The text of some of a page's lines, with a blank line between paragraphs; wrapped lines are joined."""
    steps = [second.across - first.across for first, second in pairwise(lines)]
    usual = statistics.median([step for step in steps if step > 0] or [0])
    text = lines[start].text.rstrip()
    for at in range(start + 1, end):
        line, following = lines[at - 1], lines[at]
        near = [
            other
            for other in lines[max(0, at - NEIGHBOURS) : at + NEIGHBOURS]
            if other.begin < line.end and line.begin < other.end
        ]
        step = following.across - line.across
        is_last_of_box = step < 0 and line.end - line.begin < NARROWEST * line.size
        if following.slanted:
            text += "\n\n" + following.text
        elif abs(step) < SAME_LINE * min(line.height, following.height) and following.begin >= line.end - line.height:
            text += " " + following.text.strip()
        elif is_last_of_box or (step > PARAGRAPH_GAP * min(usual, WIDEST * line.size or usual) and step > line.height):
            text += "\n\n" + following.text.rstrip()
        elif _ends_here(line, following, near):
            text += "\n" + following.text.rstrip()
        else:
            text = joined(text, following.text.strip())
    return _unhyphenated(text)


def _ends_here(line: Line, following: Line, near: list[Line]) -> bool:
    """Whether the line ends because its paragraph ends, and not because it is full."""
    if line.text[-1] in _HYPHENS:
        return False
    if line.row or following.row or _LED.search(line.text):
        return True
    if following.text.startswith("\u3000") or BULLET.match(following.text.lstrip()):
        return True
    if line.text.rstrip().endswith("。") and _CAPTION.fullmatch(following.text.strip()):
        return True
    column_begin = min((other.begin for other in near), default=line.begin)
    column_end = max((other.end for other in near), default=line.end)
    indented = following.begin - column_begin > INDENT * following.height and following.across > line.across
    if indented and line.begin - column_begin < INDENT * line.height and _SENTENCE_END.search(line.text.rstrip()):
        return True
    return column_end - line.end > _next_word(line, following) and bool(near)


def _next_word(line: Line, following: Line) -> float:
    """The space that the first word of the next line needs. If it had fitted, it would be on this line."""
    size = (line.end - line.begin) / max(len(line.text), 1)
    first = following.text.split(maxsplit=1)[0]
    # A Japanese line may be short by two characters, so that no stop begins the next line.
    return (2.5 if _WIDE.match(first) else len(first) + 1) * size


def joined(text: str, following: str) -> str:
    """Joins two lines of one paragraph, without the hyphen of a divided word and without a space in Japanese."""
    if text and text[-1] in _HYPHENS:
        # "Lucene-BM25" keeps its hyphen wherever it is divided.
        return (text[:-1] if following[:1].islower() else text[:-1] + "-") + following
    if re.search(r"[a-z]-$", text) and following[:1].islower():
        return text[:-1] + following
    if text and following and _WIDE.match(text[-1]) and _WIDE.match(following[0]):
        return text + following
    return f"{text} {following}"


def _unhyphenated(text: str) -> str:
    """Makes each hyphen that pdfium marked a plain one; those of divided words were removed by `joined`."""
    return re.sub(rf"[{_HYPHENS}]", "-", text)
