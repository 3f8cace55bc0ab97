"""Writes tables as Markdown, which has one header row and no merged cells."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from index_store.parsing.loaders.markdown.as_markdown import paragraph

Grid = Sequence[Sequence[str]]
"""rows of cells; rows may differ in length"""

BESIDE = "\x12"
"""the text of a cell that belongs to the one on its left, until `completed`"""
REPEATED = 200
"""characters of a cell that are repeated where it spans several; a longer one is no value but a text"""
COUNTED = 3
"""rows at the beginning whose numbers show that the first is none of names"""
LABEL = 20
"""characters of a label of a form at most"""
_COUNT = re.compile(r"(?:No\.?\s?)?[(]?(\d{1,5})[).]?", re.I)
_BOX = re.compile("[□☐☑☒✓✔✅]")
_DIGIT = re.compile(r"\d")
_FIGURES = re.compile(r"\d\d|^\d")
_OF_ONE = re.compile(r"\d{3}|\d[年月/.-]\d|@")
"""found in what is said of one person or thing: a number, a date, an address"""
_YEAR = re.compile(r"(?:19|20)\d\d(?:年度?|FY)?(?!\s?[年/.-]?\s?\d{1,2}\s?[月/.-]\s?\d)")
"""a year alone, or with its month, names a column"""
_GRAND_TOTAL = re.compile(r"[合総]?\s?計|(?:grand )?total", re.I)
"""is of no group; a subtotal (小計) is of the one above"""
GROUPS = 2
"""names of groups that have empty cells below them, at least: a single empty cell may be left open"""
ABOVE = 200
"""rows of the pages before that are looked at for the groups of a table that goes on; a group hardly has more"""


@dataclass
class RowsAbove:
    """The rows of a table that goes on over pages, as far as they are written."""

    rows: Grid = ()
    """the last ones, up to ABOVE; the first has the name of its group"""


def table(grid: Grid, above: RowsAbove | None = None) -> str:
    """The first row that holds text is the header, below titles of one cell. Rows and columns without any are left out.

    Rows or columns of a single one are no table: they become a line each. So do labels beside texts, if the first label
    stands before another text, too, as Q and A of questions do, and the rows of `has_no_header`. The name of a group
    that is written once stands in each of its rows. `above`: the rows on the pages before, to which those are added.
    """
    rows = [[_cell(text) for text in row] for row in grid]
    rows = [row for row in rows if any(row)]
    titles = next((at for at, row in enumerate(rows) if len(row) > 1), 0)
    if 0 < titles < len(rows) - 1:
        return "\n\n".join([*(paragraph(unescaped(row[0])) for row in rows[:titles]), _table(rows[titles:], above)])
    return _table(rows, above)


def _table(rows: Grid, above: RowsAbove | None) -> str:
    filled = sorted({column for row in rows for column, text in enumerate(row) if text})
    if len(rows) < 2 or len(filled) < 2 or has_no_header(rows) or (len(filled) == 2 and _are_labelled(rows, filled[0])):
        return "\n".join(paragraph(unescaped(" ".join(filter(None, row)))) for row in rows)
    return with_rule(rows, filled, above)


def with_rule(rows: Grid, columns: Sequence[int], above: RowsAbove | None = None) -> str:
    """The first row as a header, above the others; of each, these columns. The cells are escaped already."""
    header, *data = [[row[column] if column < len(row) else "" for column in columns] for row in rows]
    lines = list(map(_line, [header, *_named_by_groups(header, data, above)]))
    return "\n".join([lines[0], "|" + " --- |" * len(columns), *lines[1:]])


def _named_by_groups(header: Sequence[str], rows: Grid, above: RowsAbove | None = None) -> Grid:
    """As `_with_groups`, but the first rows may go on with the last group above. Without one, a page may have groups of
    its own.
    """
    over_pages = [*above.rows, *rows] if above and above.rows and len(above.rows[0]) == len(header) else rows
    named = _with_groups(header, over_pages)
    if named is over_pages:
        over_pages, named = rows, _with_groups(header, rows)
    if above:
        above.rows = [*named[-ABOVE:][:1], *over_pages[-ABOVE:][1:]]
    return named[len(named) - len(rows) :]


def _with_groups(header: Sequence[str], rows: Grid) -> Grid:
    """The same rows, in each the name of its group, if that is written once: 営業部 above empty cells. Without it, a
    part of a long table would not say whose rows they are. It must be plain: the names begin with the first row, differ
    and hold no figures, and the rows below them have another column that is always filled.
    """
    names = [row[0] for row in rows if row[0]]
    unnamed = [row for row in rows if not row[0] and not any(map(_GRAND_TOTAL.fullmatch, row))]
    begun = sum(bool(row[0]) and not below[0] for row, below in pairwise(rows))
    if begun < GROUPS or len(header) < 3 or not header[0] or not rows[0][0] or not _are_labels(names):
        return rows
    if not any(map(all, list(zip(*unnamed, strict=True))[1:])):
        return rows
    out: list[Sequence[str]] = []
    name = ""
    for row in rows:
        name = row[0] or name
        out.append(row if any(map(_GRAND_TOTAL.fullmatch, row)) else [name, *row[1:]])
    return _with_inner_groups(rows, out)


def _with_inner_groups(rows: Grid, named: Grid) -> Grid:
    """The same for groups inside the groups: 課 beside 部. `named`: the rows with the names of the outer ones. Several
    must begin below the first of their group, and no name may come again: titles of people (課長) do.
    """
    is_total = [any(map(_GRAND_TOTAL.fullmatch, row)) for row in rows]
    inner = [row for row, total in zip(rows, is_total, strict=True) if not total]
    unnamed = [row for row in inner if not row[1]]
    begun = sum(bool(row[1]) and not (row[0] or below[0] or below[1]) for row, below in pairwise(inner))
    names = [row[1] for row in inner if row[1]]
    if begun < GROUPS or not all(row[1] for row in inner if row[0]) or not _are_labels(names):
        return named
    if not any(map(all, list(zip(*unnamed, strict=True))[2:])):
        return named
    out: list[Sequence[str]] = []
    name = ""
    for row, total in zip(named, is_total, strict=True):
        name = row[1] or name
        out.append(row if total else [row[0], name, *row[2:]])
    return out


def has_no_header(rows: Grid) -> bool:
    """Whether the first row is one like the others: a line of a list that is counted or has boxes to tick, or labels
    with their values beside them, pair by pair, as in a form. Below such a row, a form may have others: then the row
    leaves columns without a name.
    """
    filled = sorted({column for row in rows for column, text in enumerate(row) if text})
    if len(rows) < 2 or len(filled) < 2:
        return False
    columns = [[row[at] if at < len(row) else "" for row in rows] for at in filled]
    if _are_counted(columns[0]) or any(all(map(_BOX.match, each)) for each in columns):
        return True
    first = [column[0] for column in columns if column[0] not in ("", BESIDE)]
    return _are_columns_of_pairs(columns) or (len(first) < len(columns) and are_pairs(first))


def _are_counted(texts: Sequence[str]) -> bool:
    found = [_COUNT.fullmatch(unicodedata.normalize("NFKC", text)) for text in texts[:COUNTED]]
    numbers = [int(each[1]) for each in found if each]
    return len(numbers) == COUNTED and all(next_ == number + 1 for number, next_ in pairwise(numbers))


def _are_columns_of_pairs(columns: Grid) -> bool:
    """Whether every second column has labels, each another word, and the first values show that they name no column."""
    if len(columns) < 4 or len(columns) % 2:
        return False
    labels = [text for column in columns[::2] for text in column if text not in ("", BESIDE)]
    values = [column[0] for column in columns[1::2]]
    if not all(column[0] for column in columns[::2]) or not _are_labels(labels):
        return False
    return _are_filled_in(values) and any(
        value and not _DIGIT.search(value) for column in columns[1::2] for value in column
    )


def are_pairs(texts: Sequence[str]) -> bool:
    """Whether they are labels, each with the value behind it, as in a row of a form."""
    is_even = len(texts) >= 4 and not len(texts) % 2
    return is_even and _are_labels(texts[::2]) and _are_filled_in(texts[1::2])


def _are_labels(texts: Sequence[str]) -> bool:
    is_short = all(len(text) <= LABEL and not _FIGURES.search(text) for text in texts)
    return is_short and len(set(texts)) == len(texts)


def _are_filled_in(values: Sequence[str]) -> bool:
    return any(_OF_ONE.search(value) and not _YEAR.match(value) for value in values)


def _are_labelled(rows: Grid, column: int) -> bool:
    """Whether the first text of the column stands in another row, that is not the same."""
    label = rows[0][column] if column < len(rows[0]) else ""
    return bool(label) and any(
        column < len(row) and row[column] == label and list(row) != list(rows[0]) for row in rows[1:]
    )


def completed(rows: Grid, headers: int, titles: int = 0) -> list[list[str]]:
    """The rows of the header become one. Below it, a cell over several columns stands in each that the header names,
    unless it is the label of its row. `titles`: rows above the header, which become a cell each.
    """
    if titles:
        return [*([row[0]] for row in rows[:titles]), *completed(rows[titles:], headers)]
    if not rows:
        return []
    if headers == 1 and has_no_header(rows):
        return [["" if text == BESIDE else text for text in row] for row in rows]
    header = joined_header([["" if text == BESIDE else text for text in row] for row in rows[:headers]])
    return [header, *(_across(row, header) for row in rows[headers:])]


def _across(row: Sequence[str], header: Sequence[str]) -> list[str]:
    out: list[str] = []
    repeated = ""
    for column, text in enumerate(row):
        if text != BESIDE:
            repeated = text if column and len(text) <= REPEATED else ""
            out.append(text)
        else:
            out.append(repeated if column < len(header) and header[column] else "")
    return out


def joined_header(rows: Grid) -> list[str]:
    """Joins header rows into one: a word over several columns is put before the word of each column."""
    width = max(map(len, rows))
    words: list[list[str]] = [[] for _ in range(width)]
    for at, row in enumerate(rows):
        spanning = ""
        for column in range(width):
            text = row[column] if column < len(row) else ""
            spanning = text or (spanning if at < len(rows) - 1 else "")
            if spanning and spanning not in words[column]:
                words[column].append(spanning)
    return [" ".join(found) for found in words]


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def unescaped(cell: str) -> str:
    return cell.replace("\\|", "|")


def _cell(text: str) -> str:
    # A backslash before a bar would undo the bar's escape.
    return " ".join(text.split()).replace("\\|", "\\\\|").replace("|", "\\|")
