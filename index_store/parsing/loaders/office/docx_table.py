"""The grid of a Word table: cells in their columns, and those that span rows in each of these."""

from collections.abc import Callable, Iterator

from index_store.parsing.loaders import as_markdown
from index_store.parsing.loaders.office.package import Element, attribute, is_on, local, number

COLUMNS = 63
"""a table has at most (Word's own limit)"""
_HOLDERS = {"sdt", "sdtContent", "customXml", "ins", "moveTo"}


def grid(table: Element, text_of: Callable[[Element], str]) -> list[list[str]]:
    """Rows of texts. Rows that are repeated as a header on each page become one, as Markdown has one."""
    rows: list[list[str]] = []
    above: dict[int, str] = {}
    """column -> the text of the cell that may go on below"""
    headers = 0
    for row in _rows(table):
        line: list[str] = [""] * min(number(row.find("{*}trPr/{*}gridBefore"), "val", 0), COLUMNS)
        for cell in _children(row, "tc"):
            merge = cell.find("{*}tcPr/{*}vMerge")
            if merge is not None and attribute(merge, "val") in (None, "continue"):
                text = above.get(len(line), "")
            else:
                text = text_of(cell)
                above.pop(len(line), None)
                if merge is not None:
                    above[len(line)] = text
            span = min(max(number(cell.find("{*}tcPr/{*}gridSpan"), "val", 1), 1), COLUMNS)
            line += [text] + [""] * (span - 1)
            if len(line) >= COLUMNS:
                break
        if len(rows) == headers and is_on(row.find("{*}trPr/{*}tblHeader")):
            headers += 1
        rows.append(line)
    return [as_markdown.joined_header(rows[:headers]), *rows[headers:]] if headers > 1 else rows


def is_layout(table: Element) -> bool:
    """Whether it frames text rather than ordering it: one column, such as a box around a notice."""
    return all(len(list(_children(row, "tc"))) < 2 for row in _rows(table))


def cells(table: Element) -> Iterator[Element]:
    for row in _rows(table):
        yield from _children(row, "tc")


def _rows(table: Element) -> Iterator[Element]:
    # A row that is deleted, by a change not accepted yet, is still there.
    return (row for row in _children(table, "tr") if row.find("{*}trPr/{*}del") is None)


def _children(element: Element, name: str) -> Iterator[Element]:
    """Through what may stand around rows and cells: fields to fill in, tracked changes."""
    for child in element:
        if local(child) == name:
            yield child
        elif local(child) in _HOLDERS:
            yield from _children(child, name)
