"""What an RTF file shows as Markdown, block by block: paragraphs, headings, items of lists, tables."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from index_store.parsing.loaders.markdown import as_markdown, tables
from index_store.parsing.loaders.markdown.header_rows import Cell, with_one_header

COLUMNS = 63
"""over which a cell is spread at most (Word's own limit)"""
SAME_EDGE = 40
"""twips; edges that are closer than this are those of one column"""


@dataclass(frozen=True)
class _Place:
    """What a row tells of a cell, apart from its text."""

    edge: int = 0
    """the right one, in twips"""
    goes_on: bool = False
    """whether the cell continues the one above it"""
    is_beside: bool = False
    """whether the cell belongs to the one on its left"""


@dataclass
class _Row:
    cells: list[str] = field(default_factory=list)
    places: list[_Place] = field(default_factory=list)


class Blocks:
    def __init__(self) -> None:
        self.done: list[str] = []
        self.headings: list[tuple[int, str]] = []
        self.label = ""
        """the number or the sign of the item that begins"""
        self._text: list[str] = []
        self._items = -1
        """number of blocks when the last item of a list was added: if there are no more, the next item belongs to it"""
        self._line = 0
        """where the last line of a cell begins in its text"""
        self._rows: list[_Row] = []
        self._row = _Row()
        self._place = _Place()

    def put(self, text: str) -> None:
        """Adds text to the paragraph or the cell."""
        self._text.append(text)

    # Paragraphs

    def end_paragraph(self, level: int, *, is_shown: bool) -> None:
        """`level`: of the heading; 0 if it is none."""
        is_item = bool(self.label)
        label, self.label = self.label, ""
        text = self._taken()
        if not text.strip():
            return
        self.end_table()
        if not is_shown:
            return
        if level:
            self._add_heading(level, text, label)
        elif is_item:
            self._add_item(as_markdown.paragraph(text), label)
        else:
            self.done.append(as_markdown.paragraph(text))

    def _add_heading(self, level: int, text: str, label: str) -> None:
        number = f"{label} " if _is_number(label) else ""
        self.headings.append((level, number + as_markdown.squeezed(text.replace("\n", " "))))
        self.done.append(as_markdown.heading(level, number + text))

    def _add_item(self, text: str, label: str) -> None:
        item = f"{label} {text}" if _is_number(label) else f"- {text}"
        if self._items == len(self.done):
            self.done[-1] += "\n" + item
        else:
            self.done.append(item)
        self._items = len(self.done)

    def _taken(self) -> str:
        self._put_label()
        text = as_markdown.with_raised(as_markdown.with_struck("".join(self._text)))
        self._text.clear()
        self._line = 0
        # Characters beyond the first 65,536 are written in two halves.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _put_label(self) -> None:
        label, self.label = self.label, ""
        if label and any(map(str.strip, self._text[self._line :])):
            self._text.insert(self._line, f"{label} ")

    # Tables

    def begin_row(self) -> None:
        """The places of the cells in the rows from here on are told again."""
        self._row = _Row(self._row.cells)

    def join_above(self) -> None:
        """The next cell continues the one above it."""
        self._place = replace(self._place, goes_on=True)

    def join_beside(self) -> None:
        """The next cell belongs to the one on its left."""
        self._place = replace(self._place, is_beside=True)

    def add_place(self, edge: int) -> None:
        """`edge`: the right one of the next cell, in twips."""
        self._row.places.append(replace(self._place, edge=edge))
        self._place = _Place()

    def end_line(self) -> None:
        """Ends a paragraph of a cell."""
        self._put_label()
        self._text.append("\n")
        self._line = len(self._text)

    def end_cell(self) -> None:
        self._row.cells.append(self._taken())

    def end_row(self) -> None:
        if self._row.cells:
            self._rows.append(self._row)
        self._row = _Row(places=self._row.places)

    def end_table(self) -> None:
        """Adds the rows so far as a table, before the text after it."""
        if self._row.cells:
            self.end_row()
        if self._rows:
            self.done.append(tables.table(_grid(self._rows)))
            self._rows = []


def _is_number(label: str) -> bool:
    return bool(re.search(r"\w", label))


def _grid(rows: Sequence[_Row]) -> list[list[str]]:
    """Rows of texts, with one header. A cell that spans rows or named columns is in each of them.

    Word writes a cell over several columns as a wide one, and does not say that it is over several.
    """
    edges = _edges(rows)
    grid: list[list[str]] = []
    merged: list[list[Cell]] = []
    for row in rows:
        above = grid[-1] if grid else []
        line: list[str] = []
        merged.append([])
        for at, text in enumerate(row.cells):
            place = row.places[at] if at < len(row.places) else _Place()
            column = len(line)
            width = max(bisect_right(edges, place.edge) - column, 1)
            if place.is_beside and not text.strip():
                if merged[-1]:
                    merged[-1][-1] = replace(merged[-1][-1], width=column + width - merged[-1][-1].column)
                line += [tables.BESIDE] * width
                continue
            goes_on = place.goes_on and not text.strip() and column < len(above)
            text = above[column].replace(tables.BESIDE, "") if goes_on else text
            merged[-1].append(Cell(column, width, text, goes_on))
            line += [text] + [tables.BESIDE] * (width - 1)
        grid.append(line)
    return with_one_header(grid, merged)


def _edges(rows: Sequence[_Row]) -> list[int]:
    """Those of the columns. None if all rows have as many cells: then no cell is wide, though borders may be askew."""
    if len({len(row.cells) for row in rows}) == 1:
        return []
    edges: list[int] = []
    for edge in sorted({place.edge for row in rows for place in row.places[: len(row.cells)]}):
        if not edges or edge - edges[-1] > SAME_EDGE:
            edges.append(edge)
    return edges[:COLUMNS]
