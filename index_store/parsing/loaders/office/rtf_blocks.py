"""What an RTF file shows as Markdown, block by block: paragraphs, headings, items of lists, tables."""

import re
from dataclasses import dataclass, field

from index_store.parsing.loaders import as_markdown


@dataclass
class _Row:
    cells: list[str] = field(default_factory=list)
    goes_on: list[bool] = field(default_factory=list)
    """by column: whether the cell continues the one above it"""


class Blocks:
    def __init__(self) -> None:
        self.done: list[str] = []
        self.headings: list[tuple[int, str]] = []
        self.label = ""
        """the number or the sign of the item that begins"""
        self._text: list[str] = []
        self._items = -1
        """number of blocks when the last item of a list was added: if there are no more, the next item belongs to it"""
        self._rows: list[list[str]] = []
        self._row = _Row()
        self._next_goes_on = False

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
        text = as_markdown.with_raised(as_markdown.with_struck("".join(self._text)))
        self._text.clear()
        label, self.label = self.label, ""
        # Characters beyond the first 65,536 are written in two halves.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return f"{label} {text}" if label and text.strip() else text

    # Tables

    def begin_row(self) -> None:
        """The columns of the rows from here on are told again."""
        self._row.goes_on = []

    def join_next_column(self) -> None:
        """The cell of the next column continues the one above it."""
        self._next_goes_on = True

    def add_column(self) -> None:
        self._row.goes_on.append(self._next_goes_on)
        self._next_goes_on = False

    def end_cell(self) -> None:
        self._row.cells.append(self._taken())

    def end_row(self) -> None:
        cells = self._row.cells
        above = self._rows[-1] if self._rows else []
        for column, goes_on in enumerate(self._row.goes_on[: len(cells)]):
            if goes_on and not cells[column].strip() and column < len(above):
                cells[column] = above[column]
        if cells:
            self._rows.append(cells)
        self._row = _Row(goes_on=self._row.goes_on)

    def end_table(self) -> None:
        """Adds the rows so far as a table, before the text after it."""
        if self._row.cells:
            self.end_row()
        if self._rows:
            self.done.append(as_markdown.table(self._rows))
            self._rows = []


def _is_number(label: str) -> bool:
    return bool(re.search(r"\w", label))
