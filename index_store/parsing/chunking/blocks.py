"""Tables and code fences in Markdown: what is kept whole when a text is cut, or else opened again in each part."""

import re
from dataclasses import dataclass

from index_store.parsing.loaders.headings import FENCE


@dataclass(frozen=True)
class Block:
    """A table or a code fence, with the newline at its end."""

    start: int
    end: int
    opening: str
    """a table's header row and rule, or the line that opens a fence: what each part of it that is cut begins with"""
    closing: str = ""
    """the line that closes a fence"""

    @property
    def is_table(self) -> bool:
        return bool(self.opening) and not self.closing


_TABLE = re.compile(r"(?:^[ \t]*\|.*(?:\n|\Z))+", re.M)
_RULE = re.compile(r"[ \t]*\|[ \t:|-]+$")


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
            blocks.append(Block(found.start(), found.end(), header))

    for line in text.splitlines(keepends=True) if "```" in text or "~~~" in text else ():
        mark = FENCE.match(line)
        if mark and not fence:
            tables(plain_from, at)
            fence, opened, opening = mark[1], at, line
        elif mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence):
            blocks.append(Block(opened, at + len(line), opening, fence))
            fence, plain_from = "", at + len(line)
        at += len(line)
    tables(opened if fence else plain_from, len(text))
    return blocks
