"""The title of a page: its h1, or what the head's title says, without the name of the site."""

import re

from index_store.parsing.loaders.html.body import heading_text
from index_store.parsing.loaders.html.tree.node import Node
from index_store.parsing.loaders.html.tree.tree import Tree

_SEPARATORS = "|｜:：·・»«/-–—―－"
_END = re.compile(rf"\s*$|\s+[{re.escape(_SEPARATORS)}]|[|｜：:»«—―]")
"""of the subject of a title; the other signs are also in words, such as TCP/IP"""


def page_title(tree: Tree, markdown: str) -> str:
    """ "" if it has none. If there are several h1, the one that the title repeats: others are sections."""
    lines = {line.strip() for line in markdown.split("\n") if line.startswith("#")}
    texts = {heading: text for heading in tree.headings if (text := heading_text(heading))}
    sites = {text: rest for heading, text in texts.items() if (rest := _without_site(tree, heading, text, lines))}
    own = [heading for heading in texts if heading not in tree.in_header]
    headings = [texts[heading] for heading in own or texts if texts[heading] not in sites]
    if repeated := next((heading for heading in headings if heading in tree.title), ""):
        return repeated
    if len(headings) == 1 and not (sites and tree.in_header):
        return _named_by_title(tree.title, lines) or headings[0]
    return next(iter(sites.values()), tree.title) or next(iter(headings), "")


def _without_site(tree: Tree, node: Node, heading: str, lines: set[str]) -> str:
    """What the title says beside this heading, if the heading is of the site: its name, or what its header says."""
    title = tree.title.strip(f" {_SEPARATORS}")
    is_in_header = node in tree.in_header and not title.startswith(heading)
    rest = title.removesuffix(heading)
    if rest == title and heading == tree.site:
        rest = title.removeprefix(heading)
    words = rest.strip(f" {_SEPARATORS}")
    if not any(character in _SEPARATORS for character in rest.replace(words, "")):
        return title if is_in_header else ""
    # Some sites put their name first: then the heading at the end is the page's own.
    is_of_site = (
        is_in_header
        or heading == tree.site
        or f"# {heading}" not in lines
        or not lines.isdisjoint({f"# {words}", f"## {words}"})
    )
    return words if is_of_site else ""


def _named_by_title(title: str, lines: set[str]) -> str:
    """The smaller heading with which the title begins: then the only h1 is a slogan, the same on every page."""
    smaller = (line.lstrip("#").strip() for line in lines if line.startswith("##"))
    begun = (heading for heading in smaller if heading and title.startswith(heading))
    return max((heading for heading in begun if _END.match(title, len(heading))), key=len, default="")
