"""What surrounds an article without the page saying so: menus, banners, forms.

What the page itself marks as such is already left out while it is parsed.
"""

import re

from index_store.parsing.loaders.html.tree import BLOCKS, Holds, Node

LINK_SHARE = 0.8
"""share of a block's text in links; above it, the block is a menu or a table of contents"""
MENU_LINKS = 4
"""links that make a menu: fewer may be an answer"""
ASIDE_AT_MOST = 0.5
"""share of a page's text; if menus and the like hold more, they are the page's purpose and stay"""
FORM_LENGTH = 300
"""characters of a form's labels; above it, the form is the page's text with fields in it"""

_MENUS = frozenset({"ul", "ol", "dl", "div", "table", "aside", "section", "p"})
_ASIDE = re.compile(
    r"(cookie|gdpr|consent)s?([-_](\w+))*|\w+[-_]cookie([-_]\w+)*"
    r"|(social|share|sharing|sns)([-_]?(bar|buttons?|links?|icons?|list|media|this|tools?|post|block|box|area))?"
    r"|(social|post|page|article|sns)[-_](share|sharing|buttons)|addtoany\w*|sharedaddy"
    r"|ads?|adsbygoogle|ad[-_](\w+)|advert(isement)?s?|banner[-_]?ads?|sponsored"
    r"|newsletter([-_](signup|form|box))?|related[-_]?(posts?|articles?)|pagination|pager"
    r"|toc|toc[-_]macro|table[-_]of[-_]contents|navbox|page-metadata|likes-and-labels-container"
    r"|(site|page|global)[-_]?footer|footer|colophon|respond|comment-?respond|comment-?form"
)
"""classes and ids of what surrounds an article"""


def drop_asides(root: Node) -> None:
    """Removes them from the tree."""
    asides: list[tuple[Node, Node]] = []
    stack = [root]
    while stack:
        node = stack.pop()
        for child in node.children:
            if isinstance(child, Node) and _is_aside(child):
                asides.append((node, child))
            elif isinstance(child, Node):
                stack.append(child)
    if sum(aside.length for _, aside in asides) < ASIDE_AT_MOST * root.length:
        gone = {id(aside) for _, aside in asides}
        for parent in {id(parent): parent for parent, _ in asides}.values():
            parent.children = [child for child in parent.children if id(child) not in gone]
    _drop_buttons_of_menus(root)


def _drop_buttons_of_menus(root: Node) -> None:
    """A button stays as the title of what it unfolds; the menus are no longer there."""
    unfolded = {node.attributes["id"] for node in root.nodes() if node.length and "id" in node.attributes}
    for node in root.nodes():
        controlled = node.attributes.get("aria-controls", "").split()
        if node.tag == "button" and controlled and unfolded.isdisjoint(controlled):
            node.children = []


def _is_aside(node: Node) -> bool:
    if node.tag in _MENUS and node.links >= MENU_LINKS and node.link_length > LINK_SHARE * node.length:
        return True
    if node.tag not in BLOCKS or node.tag in ("html", "body", "main", "article"):
        return False
    if node.tag == "form" and node.holds & Holds.CONTROL and node.length < FORM_LENGTH:
        return not node.holds & (Holds.HEADING | Holds.TABLE | Holds.CODE)
    if node.tag == "footer":
        return not node.holds & Holds.TITLE
    return any(_ASIDE.fullmatch(name) for name in node.purposes)
