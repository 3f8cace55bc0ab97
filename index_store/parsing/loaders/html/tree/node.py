"""A tag of a page, with what it holds below it, measured while the page is parsed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr",
    "html", "legend", "li", "main", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "ul",
})  # fmt: skip

CELLS = frozenset({"td", "th"})

_ANCHORED = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "section", "dt", "span"})
"""tags whose ids are anchors, made from the words of a heading or a term: a section about cookies has the id "cookies"
"""


class Holds:
    """What a tag contains at any depth, as bits; not an IntFlag, which takes a third of the time of parsing."""

    NOTHING = 0
    TITLE = 1
    """h1 or h2"""
    HEADING = 2
    TABLE = 4
    CODE = 8
    TEXT = 16
    """article, main, or p with words outside links"""
    BLOCK = 32
    CONTROL = 64
    """a field or a button"""
    WORDS = 128
    """text that is more than a number"""
    FORMULA = 512
    """MathML"""
    SHOWN = 1024
    """what a click shows; a tag also includes itself"""
    PICTURE = 256
    """a picture with words in its place"""


@dataclass(slots=True, eq=False)
class Node:
    tag: str
    attributes: Mapping[str, str]
    children: list["Node | str"] = field(default_factory=list)
    holds: int = Holds.NOTHING
    """what is below it; a block also includes itself"""
    length: int = 0
    """characters of text below it, without white space"""
    link_length: int = 0
    """of these, in links"""
    links: int = 0
    documents: int = 0
    """of these, links to PDFs and files of Office"""

    @property
    def names(self) -> set[str]:
        """Its classes and id, in lower case."""
        if not self.attributes:
            return set()
        return set(f"{self.attributes.get('class', '')} {self.attributes.get('id', '')}".lower().split())

    @property
    def purposes(self) -> set[str]:
        """Those of its names that may tell what it is for; an anchor only tells what a text is about."""
        classes = set(self.attributes.get("class", "").lower().split())
        # Older Sphinx and Pandoc write a section as a div.
        is_anchored = self.tag in _ANCHORED or (self.tag == "div" and "section" in classes)
        return classes if is_anchored else self.names

    def nodes(self) -> Iterator["Node"]:
        """This node and all nodes below it, in order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack += [child for child in reversed(node.children) if isinstance(child, Node)]
