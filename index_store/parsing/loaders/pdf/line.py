"""A line of a PDF's page: its text, its place, and its parts with gaps between them."""

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pypdfium2 import PdfTextPage

from index_store.parsing.loaders.markdown.tables import RowsAbove
from index_store.parsing.loaders.pdf.characters import (
    LETTER_GAP,
    WIDE,
    adjoin,
    box_of,
    is_slanted,
    mark_raised,
    size_of,
    text_of,
    weight_of,
)
from index_store.parsing.loaders.pdf.upright import Box
from index_store.parsing.loaders.sheet import Sheet, Span

SAME_LINE = 0.4
"""share of a line's height; pieces that are closer than this are one line"""
CELL_GAP = 0.9
"""times a line's height; a wider space between two characters may separate the cells of a table, if the line is in one
with other lines"""
COLUMN_GAP = 2.0
"""times a line's height; a wider space between two characters separates the columns of a table"""
_OPENING, _CLOSING = frozenset("（「『【〔［｛〈《"), frozenset("）」』】〕］｝〉》、。，．")
"""characters of full width whose left or right half is empty"""


@dataclass(frozen=True)
class Cell:
    """A part of a line that has a gap on both sides."""

    begin: float
    end: float
    text: str


Cells = Sequence[tuple[Span, str]]


@dataclass(frozen=True)
class RuledTable:
    """A table with rules between its rows and columns, written as a sheet with merged cells is."""

    cells: Cells
    """those with text, from the top and from the left"""
    columns: Sequence[tuple[float, float]]
    """begin and end of each"""

    @property
    def first(self) -> Sequence[str]:
        """The first row, if no cell of it is merged and none is empty; otherwise nothing."""
        row = [text for span, text in self.cells if span.top == span.bottom == 0 and span.left == span.right]
        return row if len(row) == len(self.columns) else ()

    def markdown(self, header: Sequence[str] = (), above: RowsAbove | None = None) -> str:
        """`header` and `above`: of the table on the page before, which goes on in this one."""
        sheet = Sheet(above)
        if header:
            sheet.rows[0] = dict(enumerate(header))
        for span, text in self.cells:
            sheet.rows.setdefault(span.top + 1, {})[span.left] = text
            if span.bottom > span.top or span.right > span.left:
                sheet.spans.append(Span(span.top + 1, span.left, span.bottom + 1, span.right))
        return "\n\n".join(sheet.blocks())


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


def line_of(page: PdfTextPage, characters: list[str], turn: int, start: int, end: int) -> Line | None:
    written = [index for index in range(start, end) if characters[index].strip()]
    if not written:
        return None
    places = [(index, box) for index in written if (box := box_of(page, index, turn))]
    if is_slanted(page, written[0]):
        return Line(text_of(characters[start:end]).strip(), 0, 0, 0, 0, slanted=True)
    mark_raised(page, characters, places)
    text = text_of(characters[start:end])
    boxes = [box for _, box in places]
    if not boxes:
        return Line(text, 0, 0, 0, 0)
    # The first may be an initial, the last the number of a note.
    size = statistics.median(size_of(page, written[at]) for at in (0, len(written) // 2, -1))
    weight = weight_of(page, written[len(written) // 2])
    left, right = min(box[0] for box in boxes), max(box[1] for box in boxes)
    bottom, top = min(box[2] for box in boxes), max(box[3] for box in boxes)
    if len(boxes) > 2 and top - bottom > 2 * (right - left):
        return Line(text, -top, -bottom, -(left + right) / 2, right - left, vertical=True, size=size, weight=weight)
    gaps = [
        0 if gap > LETTER_GAP * size and WIDE.match(characters[at]) and adjoin(page, at, following, turn) else gap
        for gap, ((at, _), (following, _)) in zip(_gaps(characters, places, size), pairwise(places), strict=True)
    ]
    gap = max(gaps, default=0)
    # The baseline is about where most characters end at the bottom.
    across = -statistics.median(box[2] for box in boxes)
    height = top - bottom
    cells = tuple(_cells(characters, places, gaps, CELL_GAP * height)) if gap > CELL_GAP * height else ()
    return Line(
        text, left, right, across, height, row=gap > COLUMN_GAP * height, size=size, weight=weight,
        cells=cells or (Cell(left, right, text.strip()),),
    )  # fmt: skip


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
            yield Cell(begin[0], right, text_of(characters[start : end + 1]).strip())
            first = at
