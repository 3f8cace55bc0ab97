"""Tables whose rows have more cells than their header. markdown-it leaves out the rest, with its markers."""

from collections import defaultdict

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import escapedSplit, getLine, table
from markdown_it.token import Token


def with_wide_rows(markdown: MarkdownIt) -> MarkdownIt:
    """The last cell of a row keeps the rest of it; a bar in code parts no cells."""
    markdown.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    return markdown


def _table(state: StateBlock, begin: int, end: int, silent: bool) -> bool:
    first = len(state.tokens)
    if not table(state, begin, end, silent):
        return False
    rows: defaultdict[int, list[Token]] = defaultdict(list)
    for token in state.tokens[first:]:
        if token.type == "inline" and token.map:
            rows[token.map[0]].append(token)
    for line, cells in rows.items():
        written = escapedSplit(getLine(state, line).strip())
        written = written[not written[0] : len(written) - (len(written) > 1 and not written[-1])]
        if len(written) > len(cells):
            for cell, text in zip(cells, _joined(written, len(cells)), strict=False):
                cell.content = text
    return True


def _joined(written: list[str], columns: int) -> list[str]:
    parts: list[list[str]] = []
    is_in_code = False
    for text in written:
        if is_in_code:
            parts[-1].append(text)
        else:
            parts.append([text])
        is_in_code ^= text.count("`") % 2 == 1
    cells = ["|".join(part).strip() for part in parts]
    return [*cells[: columns - 1], " | ".join(cells[columns - 1 :])]
