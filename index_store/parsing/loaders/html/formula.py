"""Formulae of a page (MathML) on one line: 10^6, (a+b)/2."""

import re

from index_store.parsing.loaders.html.tree.node import Node
from index_store.parsing.loaders.markdown.as_markdown import RAISED, RAISED_END

_ROWS = frozenset({"math", "mrow", "mstyle", "mpadded", "semantics"})
_POWERS = frozenset({"msup", "msubsup"})


def on_a_line(node: Node) -> list[Node | str]:
    """The children of a node of the page; of a formula, with the signs that its layout stands for."""
    if node.tag not in _ROWS | _POWERS | {"mfrac"}:
        return node.children
    # White space between the parts of a formula only formats its source.
    parts = [child for child in node.children if isinstance(child, Node) or not child.isspace()]
    if node.tag in _POWERS and len(parts) > 1:
        return [*parts[:-1], RAISED, parts[-1], RAISED_END]
    if node.tag == "mfrac" and len(parts) == 2:
        return [*_operand(parts[0]), "/", *_operand(parts[1])]
    return parts


def _operand(part: Node | str) -> list[Node | str]:
    """In brackets, unless it is a single number or name."""
    inner = [part]
    while len(inner) == 1 and isinstance(inner[0], Node) and inner[0].tag not in _POWERS | {"mfrac"}:
        inner = on_a_line(inner[0])
    is_single = len(inner) == 1 and isinstance(inner[0], str) and re.fullmatch(r"\s*[\w.,]*\s*", inner[0])
    return [part] if is_single else ["(", part, ")"]
