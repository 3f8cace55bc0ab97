"""Lists within the items of a list, where a model indents them by less than Markdown needs."""

from dataclasses import dataclass

from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.list import skipBulletListMarker, skipOrderedListMarker

LEAST = 2
"""spaces of a list in an item; CommonMark needs as many as the item's sign is wide: 3 below `1. `, 4 below `10. `"""


@dataclass
class _Item:
    column: int
    """of its sign, as it is written"""
    text_column: int
    """of its text, once it is moved"""
    moved: int = 0
    """columns by which the lines below it are moved"""


def move_nested_lists(state: StateBlock) -> None:
    """Moves a list that stands LEAST spaces or more to the right of an item into the item, with the lines below it."""
    items: list[_Item] = []
    is_code = False
    for line in range(state.lineMax):
        if state.isEmpty(line):
            continue
        start, column = state.bMarks[line] + state.tShift[line], state.sCount[line]
        if state.src.startswith(("```", "~~~"), start):
            is_code = not is_code
            continue
        if is_code:
            continue  # moved, it would lose spaces
        while items and column < items[-1].column + LEAST:
            items.pop()
        above = items[-1] if items else None
        end = max(skipOrderedListMarker(state, line), skipBulletListMarker(state, line))
        begins_list = end >= 0 and (not state.src[start].isdigit() or state.src[start : end - 1] == "1")
        if above and begins_list and column + above.moved < above.text_column:
            above.moved = above.text_column - column
        moved = above.moved if above else 0
        state.sCount[line] += moved
        if end >= 0:
            spaces = state.skipSpaces(end) - end
            width = end - start + (spaces if spaces <= 4 else 1)  # five begin code
            items.append(_Item(column, column + moved + width, moved))
