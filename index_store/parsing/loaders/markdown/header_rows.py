"""How many rows are the header of a table in a document or a page, by its merged cells: 国内 over 甲地 and 乙地."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from index_store.parsing.loaders.markdown.tables import Grid, are_pairs, completed

ROWS = 3
"""of a header at most"""

_PERIOD = re.compile(r"(?:19|20)\d\d年?度?|(?:(?:19|20)\d\d[年/.-])?\d{1,2}月|第?[1-4]四半期|[1-4]Q|Q[1-4]")


def names_period(text: str, below: str) -> bool:
    """Whether it is a year, a quarter or a month that names a column: no other one stands below it, as in data."""
    return bool(_PERIOD.fullmatch(text)) and not _PERIOD.fullmatch(below)


@dataclass(frozen=True)
class Cell:
    column: int
    width: int
    text: str
    goes_on: bool
    """whether it continues the cell above it"""


def title_rows(rows: Sequence[Sequence[Cell]]) -> int:
    """How many rows above the header are titles: a cell over all columns each. The name of a group of rows is none."""
    count = next((at for at, row in enumerate(rows) if len(row) != 1 or row[0].width < 2), len(rows))
    below = [len(row) == 1 for row in rows[count + 1 :]]
    # A group may begin directly below the header, and a note may end the table.
    return count if below and (below[0] or not any(below[:-1])) else 0


def header_rows(rows: Sequence[Sequence[Cell]]) -> int:
    """A header of several rows has words over several columns, and other words that span its rows.

    Without the latter, its second row is one of words alone. The row below it has a cell for each column; a form, whose
    fields are wide, hardly has such a row.
    """
    first = rows[0] if rows else ()
    if len(first) < 2 or len(rows) < 3 or are_pairs([cell.text for cell in first]):
        return 1
    below = [cell.column for cell in rows[1]]
    # A corner over several rows and columns has no words below.
    corners = {cell.column for cell in rows[1] if cell.goes_on}
    wide = [cell for cell in first if cell.width > 1 and cell.column not in corners]
    if not wide:
        return 1
    if any(bisect_left(below, cell.column + cell.width) - bisect_left(below, cell.column) < 2 for cell in wide):
        return 1
    tops = {cell.column for cell in first}
    count = 1
    while count < len(rows) and count <= ROWS and any(cell.goes_on and cell.column in tops for cell in rows[count]):
        count += 1
    if any(_has_word_below(row, rows[at:count]) for at, row in enumerate(rows[:count], 1)):
        return 1
    under = {cell.column: cell.text for cell in rows[2]}
    words = (cell.text for cell in rows[1] if not names_period(cell.text, under.get(cell.column, "")))
    if count == 1 and not any(map(str.isdigit, "".join(words))):
        count = 2
    is_above_data = count < len(rows) and count <= ROWS and all(cell.width == 1 for cell in rows[count])
    return count if is_above_data else 1


def with_one_header(grid: Grid, merged: Sequence[Sequence[Cell]], marked: int = 0) -> list[list[str]]:
    """The rows of the header become one, and cells over several columns stand in each. `marked`: rows at the top that
    the file marks as its header.
    """
    titles = title_rows(merged)
    return completed(grid, max(marked - titles, header_rows(merged[titles:])), titles)


def _has_word_below(row: Sequence[Cell], rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether a cell of one column has another below it in these rows, as the fields of a form beside a label."""
    words = {cell.column for cell in row if cell.width == 1 and cell.text}
    return any(cell.column in words and cell.text and not cell.goes_on for below in rows for cell in below)
