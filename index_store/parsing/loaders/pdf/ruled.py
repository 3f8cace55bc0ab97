"""A ruled table of a PDF's page: the texts between its rules, written as a sheet with merged cells is."""

from collections.abc import Sequence
from dataclasses import dataclass

from index_store.parsing.loaders.sheet import Sheet, Span

Cells = Sequence[tuple[Span, str]]


@dataclass(frozen=True)
class RuledTable:
    cells: Cells
    """those with text, from the top and from the left"""
    columns: Sequence[tuple[float, float]]
    """begin and end of each"""

    @property
    def first(self) -> Sequence[str]:
        """The first row, if no cell of it is merged and none is empty; otherwise nothing."""
        row = [text for span, text in self.cells if span.top == span.bottom == 0 and span.left == span.right]
        return row if len(row) == len(self.columns) else ()

    def markdown(self, header: Sequence[str] = ()) -> str:
        """`header`: of the table on the page before, which goes on in this one."""
        sheet = Sheet()
        if header:
            sheet.rows[0] = dict(enumerate(header))
        for span, text in self.cells:
            sheet.rows.setdefault(span.top + 1, {})[span.left] = text
            if span.bottom > span.top or span.right > span.left:
                sheet.spans.append(Span(span.top + 1, span.left, span.bottom + 1, span.right))
        return "\n\n".join(sheet.blocks())
