"""Tables and code fences in a text, and what each part of a long one begins with."""

import re
from dataclasses import dataclass

from index_store.base.text.shortened import shortened
from index_store.parsing.chunking.width import text_width
from index_store.parsing.loaders.document import fence_mark


@dataclass(frozen=True)
class Block:
    """A table or a code fence, with the newline at its end."""

    start: int
    end: int
    opening: str
    """a table's header row and rule, or the line that opens a fence: each part of a split begins with it"""
    closing: str = ""
    """the line that closes a fence"""
    unit: str = ""
    """the line above a table that says what its figures are in, and an empty one: without it, each part but the first
    would be misread"""

    @property
    def is_table(self) -> bool:
        return bool(self.opening) and not self.closing


LONGEST_HEADER = 400
"""wide characters of a table's header that is repeated: a longer one takes more space than its rows are worth"""
CELL = 50
"""characters of each cell that is repeated before the rest of its row"""

_UNIT = re.compile(
    # （単位：千円）, （単位　人）, (百万円), Amounts in EUR, in thousands of dollars, (£000)
    r"単位\s?[：:]|[（(]単位|[（(][千万億百十]{0,2}円[）)]|\bin (?:thousands|millions|billions)\b"
    r"|\b(?:amounts|figures|prices|values) (?:are )?in\b|\bunits?:|[(](?:in )?[$€£¥]\s?['’,]?(?:000s?|k|m|bn)?[)]",
    re.I,
)
_UNIT_LENGTH = 60
"""characters of such a line at most"""
_RULE = re.compile(r"[ \t:-]*\|[ \t:|-]+$")
_BAR = re.compile(r"(?<!\\)\|")
_TABLE = re.compile(
    r"(?:^[ \t]*\|.*(?:\n|\Z))+"
    # without bars at its sides; what follows its first row shows that it is a table
    rf"|^[^|\n]+\|.*\n(?=[ \t]*:?-){_RULE.pattern}(?:\n.*\|.*)*(?:\n|\Z)",
    re.M,
)


def blocks_of(text: str) -> list[Block]:
    blocks: list[Block] = []
    at = 0
    fence, opened, opening = "", 0, ""
    plain_from = 0

    def tables(low: int, high: int) -> None:
        for found in _TABLE.finditer(text, low, high):
            if not found[0]:
                continue
            rows = found[0].split("\n")
            header = "\n".join(rows[:2]) + "\n" if len(rows) > 2 and _RULE.match(rows[1]) else ""
            unit = _unit_above(text, found.start()) if header else ""
            blocks.append(Block(found.start(), found.end(), header, unit=unit))

    for line in text.splitlines(keepends=True) if "```" in text or "~~~" in text else ():
        mark = fence_mark(line, fence)
        if mark and not fence:
            tables(plain_from, at)
            fence, opened, opening = mark, at, line
        elif mark:
            blocks.append(Block(opened, at + len(line), opening, fence))
            fence, plain_from = "", at + len(line)
        at += len(line)
    tables(opened if fence else plain_from, len(text))
    return blocks


def _unit_above(text: str, table: int) -> str:
    """The line above a table if it names a unit, with an empty line; else empty."""
    above = text[max(0, table - _UNIT_LENGTH - 3) : table].removesuffix("\n").removesuffix("\n")
    line = above[above.rfind("\n") + 1 :]
    is_whole = len(line) <= _UNIT_LENGTH and not line.endswith("。")
    return f"{line}\n\n" if is_whole and _UNIT.search(line) else ""


def header_at(text: str, start: int, longest: float = LONGEST_HEADER, blocks: list[Block] | None = None) -> str:
    """The header of the table whose rows `start` is among, at most `longest` wide characters; else empty.

    It stands below the unit of the table. Within a row, the cells before `start` follow it: they say what the rest of
    a long cell is about. Both are left out if they do not fit.
    """
    if "|" not in text:
        return ""
    tables = (block for block in (blocks_of(text) if blocks is None else blocks) if block.is_table)
    table = next((each for each in tables if each.start <= start < each.end), None)
    if table is None:
        return ""
    if start < table.start + len(table.opening):
        return table.unit if start == table.start else ""
    header = table.unit + table.opening
    forms = header + _cells_before(text, start), header, table.opening
    return next((form for form in forms if text_width(form) <= longest), "")


def _cells_before(text: str, start: int) -> str:
    """The cells of a row that end before `start`."""
    *cells, _ = _BAR.split(text[text.rfind("\n", 0, start) + 1 : start])
    if not any(map(str.strip, cells)):
        return ""
    return "".join(f"{shortened(cell.strip(), CELL)} | " for cell in cells).lstrip()


def text_at(text: str, start: int, end: int) -> str:
    """A chunk as it is searched by keyword: below the header of its table."""
    return header_at(text, start) + text[start:end]
