"""Pictures that stand for words: formulae, characters that fonts lack, headings, icons, links to documents."""

import re

from index_store.parsing.loaders.html.tree.boilerplate import SPOKEN
from index_store.parsing.loaders.html.tree.node import CELLS, Holds, Node

_PICTURED = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "li", *CELLS})
"""tags whose text may be a picture"""
DOCUMENT = re.compile(r"\.(pdf|docx?|xlsx?|pptx?|csv)($|[?#])", re.I)
_ICON = re.compile(r"\[.*\]|.*\.(png|gif|jpe?g|svg|webp)", re.I | re.S)
"""words in place of a picture that only name it"""
_MARK = re.compile(
    r"(?:fa|bi|mdi|ti|la|icon|glyphicon|dashicons|octicon|lucide)[-_](?:circle-|square-)?"
    r"(?:(check|ok|yes|tick)|times|xmark|x|close|remove|cross|no)(?:-(?:lg|circle|square|alt|o|mark|fill|bold|thick))*"
)
"""class of a tick or a cross, as fonts of icons name them"""
_TEX = re.compile(r"\{\\displaystyle (.*)\}", re.S)
DRAWN = frozenset({"katex", "mathjax", "mathjax_chtml", "mathjax_svg", "mathjax_display"})
"""classes of formulae that a script has drawn beside the MathML, or beside its own preview"""


def look_at_pictures(node: Node, parent: Node) -> None:
    """Reads the picture of a formula, unless its MathML was read, that of a character which a book's fonts lack, and
    pictures that are the only text of a tag.
    """
    if node.tag == "img" and node.attributes.get("alt", "").strip():
        node.holds |= Holds.PICTURE
        is_read = parent.length and "mwe-math-element" in parent.names
        is_formula = "mwe-math" in node.attributes.get("class", "") and not is_read
        is_character = "gaiji" in node.names and len(node.attributes["alt"].strip()) == 1
        if is_formula or is_character:
            _read_pictures(node)
    elif node.holds & Holds.PICTURE and not node.length and node.tag in _PICTURED:
        if _stands_for_words(node):
            _read_pictures(node)
        node.holds &= ~Holds.PICTURE


def spoken(node: Node) -> str:
    """What screen readers say in place of an icon, such as the tick of a feature that a plan has."""
    if not node.names.isdisjoint(SPOKEN):
        return "".join(child for child in node.children if isinstance(child, str)).strip()
    is_icon = node.tag in ("i", "svg") or node.attributes.get("role") == "img"
    if node.length or not (is_icon or node.tag == "span"):
        return ""
    marks = (found for name in sorted(node.names) if (found := _MARK.fullmatch(name)))
    drawn = next(("✓" if found[1] else "✗" for found in marks), "")
    return (node.attributes.get("aria-label", "").strip() if is_icon else "") or drawn


def _stands_for_words(node: Node) -> bool:
    """Whether a tag without text has its words as pictures; linked ones are logos and menus, unless to a document."""
    if node.tag == "li":
        links = (tag.attributes.get("href", "") for tag in node.nodes() if tag.tag == "a")
        return any(DOCUMENT.search(link) for link in links)
    return not node.links


def _read_pictures(node: Node) -> None:
    pictures = (tag.attributes.get("alt", "").strip() for tag in node.nodes() if tag.tag == "img")
    words = " ".join(alt for alt in pictures if not _ICON.fullmatch(alt))
    tex = _TEX.fullmatch(words)
    node.children = [" ".join((tex[1] if tex else words).split())]
    node.length = len("".join(words.split()))
    node.link_length = node.length if node.links else 0
    node.holds |= Holds.WORDS


def drop_drawings(formula: Node, parent: Node) -> None:
    """Leaves the MathML alone: the text of a drawing is the same in another order."""
    left = [part for part in formula.children if isinstance(part, str) or part.attributes.get("aria-hidden") != "true"]
    length = sum(len("".join(part.split())) if isinstance(part, str) else part.length for part in left)
    if formula.holds & Holds.FORMULA and length:
        formula.children, formula.length = left, length
    previews = [part for part in parent.children[-2:] if isinstance(part, Node) and "mathjax_preview" in part.names]
    for preview in previews:
        parent.length -= preview.length
        preview.children, preview.length = [], 0
