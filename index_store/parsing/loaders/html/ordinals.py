"""The numbers of an ordered list, as a browser shows them: people ask for a rule by its number."""

import re

from index_store.parsing.loaders.html.tree import Node
from index_store.parsing.loaders.list_number import list_number

_NUMBER = re.compile(r"\s*([+-]?\d{1,9})(?!\d)")
"""with more digits, a browser ignores it, too"""


class Ordinals:
    """Call `next` for each entry, in order."""

    def __init__(self, ordered: Node) -> None:
        self._kind = ordered.attributes.get("type", "1").strip()
        is_reversed = "reversed" in ordered.attributes
        entries = sum(isinstance(item, Node) and item.tag == "li" for item in ordered.children)
        self._step = -1 if is_reversed else 1
        self._next = _number(ordered, "start", entries if is_reversed else 1)

    def next(self, entry: Node) -> str:
        number = _number(entry, "value", self._next)
        self._next = number + self._step
        match self._kind:
            case "a" | "A":
                letters = _letters(number)
                return letters.upper() if self._kind == "A" else letters
            case "i" | "I":
                return list_number(number, "upperRoman" if self._kind == "I" else "lowerRoman")
        return str(number)


def _letters(number: int) -> str:
    """a to z, aa, ab, and so on."""
    if number < 1:
        return str(number)
    text = ""
    while number:
        number, letter = divmod(number - 1, 26)
        text = chr(ord("a") + letter) + text
    return text


def _number(node: Node, name: str, default: int) -> int:
    found = _NUMBER.match(node.attributes.get(name, ""))
    return int(found[1]) if found else default
