"""The text of a document as HTML: its tables and code are drawn, all other signs stand as they are written.

It is not read as other Markdown: most documents are none, and their signs would be lost, as in 2*3*4 or __init__.py.
"""

import re
from collections.abc import Iterable, Iterator
from html import escape

from index_store.parsing.chunking.text_splitter import Block, blocks_of

_ESCAPED_MARK = re.compile(r"^([ \t]*)\\(?=#{1,6}\s|\||```|~~~)", re.M)
"""how loaders escape a line that would begin a heading, a table or code"""
_BAR = re.compile(r"(?<!\\)\|")


def quoted_html(text: str) -> str:
    return "".join(_parts(text))


def _parts(text: str) -> Iterator[str]:
    at = 0
    for block in blocks_of(text):
        if not block.opening:
            continue
        yield _lines(text[at : block.start])
        yield _table(text, block) if block.is_table else _code(text, block)
        at = block.end
    yield _lines(text[at:])


def _lines(text: str) -> str:
    shown = _ESCAPED_MARK.sub(r"\1", text.strip("\n").rstrip())
    return f"<p>{escape(shown)}</p>" if shown else ""


def _code(text: str, block: Block) -> str:
    *lines, _closing = text[block.start + len(block.opening) : block.end].splitlines(keepends=True)
    return f"<pre><code>{escape(''.join(lines))}</code></pre>"


def _table(text: str, block: Block) -> str:
    header = _row(block.opening.split("\n")[0], "th")
    rows = text[block.start + len(block.opening) : block.end].removesuffix("\n").split("\n")
    return f"<table><thead>{header}</thead><tbody>{''.join(_row(row, 'td') for row in rows)}</tbody></table>"


def _row(line: str, tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in _cells(line))}</tr>"


def _cells(line: str) -> Iterable[str]:
    cells = _BAR.split(line.strip())
    first, last = int(not cells[0]), len(cells) - (not cells[-1])
    # As the loaders escape them: a bar, and a backslash before a bar.
    return (cell.strip().replace("\\|", "|").replace("\\\\|", "\\|") for cell in cells[first:last])
