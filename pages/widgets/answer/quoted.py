"""The text of a document as HTML: its tables and code are drawn, all other signs stand as they are written.

It is not read as other Markdown: most documents are none, and their signs would be lost, as in 2*3*4 or __init__.py.
"""

import re
from collections.abc import Iterable, Iterator
from html import escape

from index_store.parsing.chunking.blocks import Block, blocks_of

_ESCAPED_MARK = re.compile(r"^([ \t]*(?:(?:[-*+]|\w{1,9}[.)])[ \t]+)?)\\(?=#{1,6}\s|\||```|~~~)", re.M)
"""how loaders escape a line, or the text of a list item, that would begin a heading, a table or code"""
_BAR = re.compile(r"(?<!\\)\|")


def quoted_html(text: str, start: int, end: int) -> str:
    """`text[start:end]`. If it begins in a table or in code, it is drawn as a part of it, a table with its header."""
    return "".join(_parts(text, start, end))


def _parts(text: str, start: int, end: int) -> Iterator[str]:
    at = start
    for block in blocks_of(text):
        low, high = max(block.start, start), min(block.end, end)
        if not block.opening or low >= high:
            continue
        yield _lines(text[at:low])
        yield from _table(text, block, low, high) if block.is_table else _code(text, block, low, high)
        at = high
    yield _lines(text[at:end])


def _lines(text: str) -> str:
    shown = _ESCAPED_MARK.sub(r"\1", text.strip("\n").rstrip())
    return f"<p>{escape(shown)}</p>" if shown else ""


def _code(text: str, block: Block, low: int, high: int) -> Iterator[str]:
    *_, closing = text[block.start : block.end].splitlines(keepends=True)
    code = text[max(low, block.start + len(block.opening)) : min(high, block.end - len(closing))].strip("\n")
    if code:
        yield f"<pre><code>{escape(code)}</code></pre>"


def _table(text: str, block: Block, low: int, high: int) -> Iterator[str]:
    first, last = _whole_lines(text, low, high)
    yield _lines(text[low:first])
    if first < last:
        header = block.opening.split("\n")[0]
        rows = text[max(first, block.start + len(block.opening)) : last].split("\n")
        body = "".join(_row(row, "td") for row in rows if row.strip())
        yield f"<table><thead>{_row(header, 'th')}</thead><tbody>{body}</tbody></table>"
    yield _lines(text[last:high])


def _whole_lines(text: str, low: int, high: int) -> tuple[int, int]:
    """The lines that are completely between: a row that is longer than a chunk is cut."""
    first = low if low == 0 or text[low - 1] == "\n" else text.find("\n", low, high) + 1 or high
    is_whole = text[high - 1] == "\n" or not text[high:].partition("\n")[0].strip()
    return first, high if is_whole else text.rfind("\n", first, high) + 1 or first


def _row(line: str, tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in _cells(line))}</tr>"


def _cells(line: str) -> Iterable[str]:
    cells = _BAR.split(line.strip())
    first, last = int(not cells[0]), len(cells) - (not cells[-1])
    # As the loaders escape them: a bar, and a backslash before a bar.
    return (cell.strip().replace("\\|", "|").replace("\\\\|", "\\|") for cell in cells[first:last])
