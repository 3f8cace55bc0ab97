"""Tables and columns of a PDF's page, which stores neither: lines below each other with words in the same columns.

A table with rules between its rows and columns is read by these (`ruled.py`). Without them, a cell over several columns
makes one column of them.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from index_store.parsing.loaders.markdown.as_markdown import paragraph
from index_store.parsing.loaders.markdown.tables import LABEL, RowsAbove, joined_header, table
from index_store.parsing.loaders.pdf.line import Cell, Line, RuledTable
from index_store.parsing.loaders.pdf.paragraphs import BULLET, joined
from index_store.parsing.loaders.pdf.tables.rules import NEAR
from index_store.parsing.loaders.sheet import is_data

ROWS = 3
"""of a table at least, including its header"""
STEP = 4.0
"""times the size of the type, from one row to the next at most"""
WRAPPED = 1.5
"""times the size of the type; a lone text that is closer than this below a cell continues the cell"""
BETWEEN = 0.3
"""share of the size of the type, between two columns at least"""
HEADER_SHARE = 0.5
"""share of the columns that the first row must fill to be their header; a form fills fewer"""
FEWEST_COLUMNS = 3
"""of a table whose first row is its header wherever it has no data; with two, it may be a list of labels"""
FILLED = 0.6
"""share of the rows that must have more than one cell"""
LENGTH = 30
"""narrow characters per cell, on average in every column; with more, they are columns of a text"""

_DRAWN = re.compile(r"^\|$|\+-|-\+")
"""lines made of characters: a drawing"""


@dataclass(frozen=True)
class Table:
    """The lines from `start` up to `end`, which is excluded."""

    start: int
    end: int
    markdown: str
    header: Sequence[str] = ()
    columns: Sequence[tuple[float, float]] = ()
    """begin and end of each"""
    rows: RowsAbove = field(default_factory=RowsAbove)
    """also those of the pages before"""


def in_columns(lines: list[Line]) -> list[Line]:
    """Puts columns of text one after another, if the file has them line by line across the page."""
    out: list[Line] = []
    start = 0
    while start < len(lines):
        below = max(_below(lines, start, len(lines)), start + 1)
        run = lines[start:below]
        columns = _columns(run) if len(run) > ROWS else []
        texts = [[" ".join(cell.text for cell in _within(line, column)) for line in run] for column in columns]
        if len(columns) > 1 and all(map(_is_prose, texts)):
            out += [
                replace(
                    line, text=text, begin=found[0].begin, end=found[-1].end, row=False,
                    cells=(Cell(found[0].begin, found[-1].end, text),),
                )
                for column, written in zip(columns, texts, strict=True)
                for line, text in zip(run, written, strict=True)
                if (found := _within(line, column))
            ]  # fmt: skip
        else:
            out += run
        start = below
    return out


def tables(lines: list[Line], start: int, end: int, above: Table | None = None) -> Iterator[Table]:
    """The tables in some of a page's lines. `above`: one of the page before, which may go on at `start`."""
    while start < end:
        ruled = lines[start].table
        if ruled:
            header = above.header if above and _goes_on_between_rules(above, ruled) else ()
            rows = _rows_above(above, header or ruled.first)
            written = ruled.markdown(header, rows)
            yield Table(start, start + 1, written, header or ruled.first, ruled.columns, rows)
            start, above = start + 1, None
            continue
        below = _below(lines, start, end)
        found = _table(lines, start, below, above) if below - start >= ROWS else None
        if found:
            yield found
        start, above = max(below, start + 1), None


def header_alone(lines: list[Line], at: int) -> Table | None:
    """The words in columns at the end of a page, which may be the header of a table on the next."""
    cells = lines[at].cells
    if len(cells) < FEWEST_COLUMNS or any(is_data(cell.text) or len(cell.text) > LABEL for cell in cells):
        return None
    return Table(at, at + 1, "", [cell.text for cell in cells], [(cell.begin, cell.end) for cell in cells])


def _below(lines: list[Line], start: int, limit: int) -> int:
    """The line before which the rows that begin at `start` end."""
    end, second = start, float("inf")
    while end < limit:
        cells = lines[end].cells
        if len(cells) > 1 and (end == start or 0 < _step(lines, end) < STEP):
            second = min(second, cells[1].begin)
        elif end == start or not _goes_on(lines, second, end):
            break
        end += 1
    return end


def _step(lines: list[Line], at: int) -> float:
    """The distance from the line before, in sizes of its type."""
    return (lines[at].across - lines[at - 1].across) / (lines[at - 1].size or 1)


def _goes_on(lines: list[Line], second: float, at: int) -> bool:
    """Whether the line is the rest of a cell above it, in another column than the first. `second`: where the second
    one begins; characters begin a little to the left or right of it.
    """
    cells = lines[at].cells
    # Next to a cell of two lines, cells of one line are at half its height.
    return len(cells) == 1 and abs(_step(lines, at)) < WRAPPED and cells[0].begin >= second - BETWEEN * lines[at].size


def _table(lines: list[Line], start: int, end: int, above: Table | None) -> Table | None:
    """None if the lines are no table."""
    lines = lines[start:end]
    if sum(line.row for line in lines) * 2 < len(lines):
        return None
    columns = _columns(lines)
    rows: list[list[str]] = []
    for line in lines:
        row = [" ".join(cell.text for cell in _within(line, column)) for column in columns]
        if len(line.cells) == 1:
            rows[-1] = [joined(*pair) if all(pair) else "".join(pair) for pair in zip(rows[-1], row, strict=True)]
        else:
            rows.append(row)
    filled = sum(sum(map(bool, row)) > 1 for row in rows)
    if len(columns) < 2 or len(rows) < ROWS or filled < FILLED * len(rows):
        return None
    if all(BULLET.match(f"{row[0]} x") for row in rows) or any(_DRAWN.search(text) for row in rows for text in row):
        return None
    if above and _goes_on_over_pages(above, columns, rows[0]):
        rows.insert(0, list(above.header))
    elif _has_two_headers(rows):
        rows = [joined_header(rows[:2]), *rows[2:]]
    if sum(map(bool, rows[0])) < HEADER_SHARE * len(columns):
        return Table(start, end, "\n".join(paragraph(" ".join(filter(None, row))) for row in rows))
    rows_above = _rows_above(above, rows[0])
    return Table(start, end, table(rows, rows_above), rows[0], columns, rows_above)


def _rows_above(above: Table | None, header: Sequence[str]) -> RowsAbove:
    """Those of the table on the page before, if that goes on below the same header."""
    return above.rows if above and header and list(header) == list(above.header) else RowsAbove()


def _goes_on_over_pages(above: Table, columns: Sequence[tuple[float, float]], first: Sequence[str]) -> bool:
    """Whether data of the first row stand below the words that the table on the page before has above its columns."""
    return (
        len(columns) == len(above.columns)
        and all(one[0] < other[1] and other[0] < one[1] for one, other in zip(columns, above.columns, strict=True))
        and not any(map(is_data, above.header))
        and any(map(is_data, first))
    )


def _goes_on_between_rules(above: Table, ruled: RuledTable) -> bool:
    """As `_goes_on_over_pages`; but three columns with the same sides are enough, if the first row is no other header
    or form: it has none of the words that the table above begins with.
    """
    if _goes_on_over_pages(above, ruled.columns, ruled.first):
        return True
    words = {text for span, text in ruled.cells if span.top == 0}
    return (
        len(above.header) == len(ruled.columns) >= FEWEST_COLUMNS
        and all(
            abs(one[0] - other[0]) < NEAR and abs(one[1] - other[1]) < NEAR
            for one, other in zip(above.columns, ruled.columns, strict=True)
        )
        and words.isdisjoint(above.header)
        and not any(map(is_data, above.header))
    )


def _has_two_headers(rows: list[list[str]]) -> bool:
    """Whether words stand below each word that goes over several columns, and none below the others."""
    first, second, third = rows[:3]
    is_alone = [bool(text and following) for text, following in pairwise([*first, "end"])]
    return (
        is_alone[0]
        and not all(is_alone)
        and all(alone != bool(below) for alone, below in zip(is_alone, second, strict=True))
        and not any(map(is_data, first + second))
        and any(map(is_data, third))
    )


def _within(line: Line, column: tuple[float, float]) -> list[Cell]:
    return [cell for cell in line.cells if column[0] <= cell.begin < column[1]]


def _is_prose(column: Sequence[str]) -> bool:
    length = sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for text in column for character in text)
    return length > LENGTH * sum(map(bool, column))


def _columns(lines: list[Line]) -> list[tuple[float, float]]:
    """Begin and end of each column; a gap through all lines separates two columns."""
    cells: list[Cell] = sorted((cell for line in lines for cell in line.cells), key=lambda cell: cell.begin)
    columns: list[tuple[float, float]] = []
    for cell in cells:
        if columns and cell.begin < columns[-1][1] + BETWEEN * lines[0].size:
            columns[-1] = (columns[-1][0], max(columns[-1][1], cell.end))
        else:
            columns.append((cell.begin, cell.end))
    return columns
