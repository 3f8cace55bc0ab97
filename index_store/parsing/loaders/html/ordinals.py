"""The numbers of an ordered list, as a browser shows them: people ask for a rule by its number."""

import re

from index_store.parsing.loaders.html.tree.node import Node
from index_store.parsing.loaders.markdown.list_number import list_number

_NUMBER = re.compile(r"\s*([+-]?\d{1,9})(?!\d)")
"""with more digits, a browser ignores it, too"""

_STYLE = re.compile(r"list-style(?:-type)?\s*:([^;]*)", re.I)
"""as editors of web pages write it into the list itself"""
_KINDS = {
    "decimal": "1", "lower-alpha": "a", "lower-latin": "a", "upper-alpha": "A", "upper-latin": "A",
    "lower-roman": "i", "upper-roman": "I", "decimal-leading-zero": "decimalZero",
    "katakana": "aiueo", "katakana-iroha": "iroha",
    "cjk-ideographic": "japaneseCounting", "japanese-informal": "japaneseCounting", "none": "",
    "disc": "", "circle": "", "square": "",
}  # fmt: skip
"""style -> the type of a list in HTML, or its name in Word; empty: its entries have no numbers"""


class Ordinals:
    """Call `next` for each entry, in order."""

    def __init__(self, ordered: Node) -> None:
        style = _STYLE.search(ordered.attributes.get("style", ""))
        kinds = (_KINDS[word] for word in (style[1].lower().split() if style else ()) if word in _KINDS)
        self._kind = next(kinds, ordered.attributes.get("type", "").strip() or "1")
        is_reversed = "reversed" in ordered.attributes
        entries = sum(isinstance(item, Node) and item.tag == "li" for item in ordered.children)
        self._step = -1 if is_reversed else 1
        self._next = _number(ordered, "start", entries if is_reversed else 1)

    def next(self, entry: Node) -> str:
        """Empty if the list shows none."""
        number = _number(entry, "value", self._next)
        self._next = number + self._step
        match self._kind:
            case "":
                return ""
            case "a" | "A":
                letters = _letters(number)
                return letters.upper() if self._kind == "A" else letters
            case "i" | "I":
                return list_number(number, "upperRoman" if self._kind == "I" else "lowerRoman")
        return list_number(number, self._kind)


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
