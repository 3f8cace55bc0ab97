"""Headings at the places of a page that a table of contents names."""

from collections.abc import Mapping

from index_store.parsing.loaders.html.tree.node import Holds, Node

_HEADING = Holds.BLOCK | Holds.TITLE | Holds.HEADING
_PARAGRAPHS = frozenset({"p", "div", "center", "header"})


def add_headings(root: Node, titles: Mapping[str, tuple[str, int]]) -> bool:
    """`titles`: id -> title and level from 1. A paragraph that is the title becomes the heading; otherwise the heading
    stands before the tag with the id. Returns whether any id was found.
    """
    found: set[str] = set()
    added: dict[Node, dict[Node, list[Node]]] = {}
    """parent -> child -> the headings before it"""
    path, stack = [root], [iter(root.children)]
    blocks = [0]
    """for each tag of the path, where in it the innermost block is"""
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
            path.pop()
            blocks.pop()
        elif isinstance(child, Node):
            blocks.append(len(path) if child.holds & Holds.BLOCK else blocks[-1])
            path.append(child)
            stack.append(iter(child.children))
            name = child.attributes.get("id") or child.attributes.get("name") or ""
            if name in titles and name not in found:
                found.add(name)
                _place(path, blocks[-1], *titles[name], added)
    for parent, headings in added.items():
        parent.children = [
            part
            for child in parent.children
            for part in ([*headings.get(child, []), child] if isinstance(child, Node) else [child])
        ]
    return bool(found)


def _place(path: list[Node], at: int, title: str, level: int, added: dict[Node, dict[Node, list[Node]]]) -> None:
    """`path`: the tag with the id, below all that it is in, of which the innermost block is at `at`."""
    tag, key = f"h{min(level, 6)}", "".join(title.split())
    block = path[at]
    if block.tag in _PARAGRAPHS and block.length == len(key) and _text(block) == key:
        block.tag, block.holds = tag, block.holds | _HEADING
        return
    # Before a block, or within the block before the part of its line.
    parent, child = (path[at - 1], block) if at == len(path) - 1 else (block, path[at + 1])
    heading = Node(tag, {}, [title], holds=_HEADING, length=len(key))
    added.setdefault(parent, {}).setdefault(child, []).append(heading)


def _text(node: Node) -> str:
    return "".join("".join(part.split()) for tag in node.nodes() for part in tag.children if isinstance(part, str))
