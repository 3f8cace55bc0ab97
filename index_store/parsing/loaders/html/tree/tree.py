"""Builds the tree of a page while libxml2 parses it, so that the cost grows in proportion to its tags.

libxml2 parses through lxml, as for BeautifulSoup. Its own tree ends at a depth of 2,048. BeautifulSoup's tree takes
40 times as long, since it is walked again for each question about a tag (its text, its parents).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lxml import etree

from index_store.parsing.loaders.html.tree.boilerplate import HEADER, is_boilerplate
from index_store.parsing.loaders.html.tree.node import BLOCKS, CELLS, Holds, Node
from index_store.parsing.loaders.html.tree.pictures import DOCUMENT, DRAWN, drop_drawings, look_at_pictures, spoken
from index_store.parsing.loaders.markdown.as_markdown import RAISED, RAISED_END
from index_store.parsing.loaders.office.symbol_fonts import CHARACTERS

_TITLES = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary", "th"})
"""tags whose text may be a button, which unfolds or sorts what is below"""

_STRUCK = frozenset({"s", "strike"})
_STRIKING = re.compile(r"(?<![\w-])text-decoration(-line)?\s*:[^;]{0,100}line-through", re.I)
"""in a style, as editors of web pages write it"""
_KEEPING_LINES = re.compile(r"(?<![\w-])white-space\s*:\s*(pre|break-spaces)", re.I)
"""in a style, as mails of services have it around a text that was typed"""
_OF_SCREENS = re.compile(
    r"(^|[-_:]|br|only|for)(sp|pc|Sp|Pc|SP|PC)($|[-_:A-Z]|br|only|none)"
    r"|(^|[-_:])(xs|sm|md|lg|xl|smp|mobile|tab|tablet|desktop)($|[-_:])|^(hidden|visible)-"
)
"""classes of a line break that only narrow or only wide screens have: for readers of the others, the line goes on"""
_FONT = re.compile(r"(?<![\w-])font(?:-family)?\s*:\s*([^;,]*)", re.I)
"""in a style: the first of its fonts"""
_DATE_BEFORE_NUMBER = re.compile(r"\d{4}[./-]\d\d[./-]\d\d\0\d|(?:19|20)\d\d\0\d{1,2}月")
"""two neighbours, with a zero between them"""
_TASK_BOXES = frozenset({"checkbox-on", "checkbox-off"})
"""classes of the empty tags in which Notion draws the boxes of tasks"""
_BY_ROLE = {
    "table": "table", "grid": "table", "row": "tr",
    "columnheader": "th", "rowheader": "th", "cell": "td", "gridcell": "td",
}  # fmt: skip
"""role -> the tag whose part of a table it plays"""
_ROLE_PLAYERS = frozenset({"div", "span", "ul", "li"})
_NOTE = "footnote-ref"
"""class of a link to a note"""
_SECTIONING = frozenset({"article", "main", "section"})

_HOLDS = {
    **dict.fromkeys(BLOCKS, Holds.BLOCK),
    **dict.fromkeys(("h1", "h2"), Holds.TITLE | Holds.HEADING | Holds.BLOCK),
    **dict.fromkeys(("h3", "h4"), Holds.HEADING | Holds.BLOCK),
    **dict.fromkeys(("article", "main", "p"), Holds.TEXT | Holds.BLOCK),
    **dict.fromkeys(("input", "textarea", "select", "button"), Holds.CONTROL),
    "math": Holds.FORMULA,
    "table": Holds.TABLE | Holds.BLOCK,
    "pre": Holds.CODE | Holds.BLOCK,
}

_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass
class Tree:
    root: Node
    """without scripts, navigation and hidden content"""
    title: str
    """of the head"""
    site: str
    """the name of the site, if the page tells it"""
    headings: list[Node]
    """all h1, including those that were dropped"""
    in_header: set[Node]
    """those of them in the header of the site"""


def parse(html: str) -> Tree:
    builder = _Builder()
    # The stubs require every method that lxml would call if it existed.
    parser = etree.HTMLParser(  # type: ignore[call-overload]
        target=builder, encoding="utf-8", remove_pis=True, remove_comments=True
    )
    parser.feed(html.encode("utf-8", "replace"))
    tree: Tree = parser.close()
    return tree


class _Builder:
    """The methods that lxml calls while it parses (its parser target interface)."""

    def __init__(self) -> None:
        self._stack = [Node("", {})]
        self._sections = 0
        """number of open tags that have their own header or footer"""
        self._title: list[str] = []
        self._is_first_title = True
        self._site = ""
        self._h1: list[Node] = []
        self._in_header: set[Node] = set()
        self._open_headers = 0
        self._open_h1 = 0
        self._open_titles = 0
        self._open_struck = 0
        self._open_cells = 0
        self._open_code = 0
        self._open_lines = 0
        self._open_symbols = 0
        self._controlled: set[str] = set()
        """ids of what buttons, tabs and links show"""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count(tag, attributes, 1)
        self._controlled.update(attributes.get("aria-controls", "").split())
        if tag == "a" and attributes.get("href", "").startswith("#"):
            self._controlled.add(attributes["href"][1:])
        if tag == "meta" and attributes.get("property") == "og:site_name":
            self._site = " ".join(attributes.get("content", "").split())
        self._stack.append(Node(tag, dict(attributes) if attributes else _NONE))

    def end(self, tag: str) -> None:
        if len(self._stack) == 1 or self._stack[-1].tag != tag:
            return
        node, parent = self._stack.pop(), self._stack[-1]
        self._count(tag, node.attributes, -1)
        if tag == "p" and _is_title_of_google(node):
            tag = node.tag = "h1"
        _mark_tasks(node)
        if tag in _ROLE_PLAYERS and node.attributes:
            node.tag = _BY_ROLE.get(node.attributes.get("role", "").lower(), node.tag)
        if tag == "h1" and not self._open_h1:
            self._h1.append(node)
            if self._open_headers:
                self._in_header.add(node)
        if tag == "title":
            self._is_first_title = False  # pictures have titles, too
        if tag == "textarea" and not _is_filled_in(node):
            _write_lines(node)
        if tag == "br" and any(map(_OF_SCREENS.search, node.attributes.get("class", "").split())):
            parent.children.append("\n")
            return
        if self._open_cells and (words := spoken(node)):
            node = Node("img", {"alt": words})
        own = _HOLDS.get(node.tag, Holds.NOTHING)
        parent.holds |= own & Holds.CONTROL
        if tag == "p" and node.length == node.link_length:
            own &= ~Holds.TEXT
        if node.attributes.get("id") in self._controlled:
            node.holds |= Holds.SHOWN
        if is_boilerplate(node, self._stack, in_title=self._open_titles > 0, in_section=self._sections > 0):
            return
        look_at_pictures(node, parent)
        if node.length and not node.names.isdisjoint(DRAWN):
            drop_drawings(node, parent)
        self._mark(node)
        if tag == "a" and _leads_on(node):
            node.links, node.link_length = node.links + 1, node.length
            node.documents += bool(DOCUMENT.search(node.attributes["href"]))
        parent.holds |= node.holds | own
        node.holds |= own & Holds.BLOCK
        parent.length += node.length
        parent.link_length += node.link_length
        parent.links += node.links
        parent.documents += node.documents
        before = parent.children[-1] if parent.children else ""
        if isinstance(before, Node) and not self._open_code and _are_set_apart(before, node):
            parent.children.append(" ")
        parent.children.append(node)

    def data(self, text: str) -> None:
        node = self._stack[-1]
        if self._open_symbols:
            text = _shown(text, next(filter(None, (_font(tag.attributes) for tag in reversed(self._stack))), ""))
        if node.tag == "title":
            if self._is_first_title:
                self._title.append(text)
        elif node.tag != "head":
            node.children.append(text.replace("\n", "\v") if self._open_lines else text)
            written = "".join(text.split())
            node.length += len(written)
            if written and not written.isdigit():
                node.holds |= Holds.WORDS

    def close(self) -> Tree:
        while len(self._stack) > 1:
            self.end(self._stack[-1].tag)
        title = " ".join("".join(self._title).split())
        return Tree(self._stack[0], title, self._site, self._h1, self._in_header)

    def _count(self, tag: str, attributes: Mapping[str, str], change: int) -> None:
        """`change`: 1 if the tag opens, -1 if it ends."""
        self._sections += change * (tag in _SECTIONING)
        self._open_titles += change * (tag in _TITLES)
        self._open_struck += change * _is_struck(tag, attributes)
        self._open_headers += change * bool(HEADER.fullmatch(attributes.get("id", "")))
        self._open_h1 += change * (tag == "h1")
        self._open_cells += change * (tag in CELLS)
        self._open_code += change * (tag == "pre")
        self._open_lines += change * ("style" in attributes and bool(_KEEPING_LINES.search(attributes["style"])))
        self._open_symbols += change * (_font(attributes) in CHARACTERS)

    def _mark(self, node: Node) -> None:
        """Marks what is struck out or raised; a button in a title is its text."""
        if node.tag == "button" and self._open_titles:
            node.tag = "span"
        is_struck = _is_struck(node.tag, node.attributes)
        if is_struck and not self._open_struck and node.length and not node.holds & Holds.BLOCK:
            node.children = ["~~", *node.children, "~~"]
        if node.tag == "a" and _is_mark_of_note(node):
            # Its number would read as one more digit or letter of the word before it.
            node.children = node.children if node.holds & Holds.WORDS else ["[", *node.children, "]"]
        if node.tag == "sup":
            node.children = [RAISED, *node.children, RAISED_END]


def _mark_tasks(node: Node) -> None:
    """Writes whether a task is done, as ☑ or ☐. Nobody can tick its box here; boxes to tick are fields of a form."""
    match node.tag:
        case "input" if node.attributes.get("type", "").lower() == "checkbox" and "disabled" in node.attributes:
            _write_box(node, "checked" in node.attributes)
            node.tag = "span"
        case "div" if not node.length and not node.names.isdisjoint(_TASK_BOXES):
            _write_box(node, "checkbox-on" in node.names)
            node.tag = "span"
        case "ul" if "inline-task-list" in node.names:
            # Confluence draws the boxes of these in its style sheet.
            for item in node.children:
                if isinstance(item, Node) and item.length:
                    _write_box(item, "checked" in item.names)
                    node.length += 1


def _are_set_apart(before: Node, node: Node) -> bool:
    """Whether a style sheet sets neighbours apart: names of tabs, as in MkDocs, the times of a page in WordPress, the
    button beside a file, parts with tags of their own, or a date and a text with a number.
    """
    if before.tag == node.tag and node.tag in ("label", "button", "time"):
        return True
    if ("-" in before.tag and "-" in node.tag) or "wp-block-file__button" in node.names:
        return True
    return bool(_DATE_BEFORE_NUMBER.match(f"{_only_text(before)}\0{_only_text(node)}"))


def _only_text(node: Node) -> str:
    only = node.children[0] if len(node.children) == 1 else ""
    return only.strip() if isinstance(only, str) else ""


def _is_filled_in(field: Node) -> bool:
    """Whether readers write in the field. Otherwise it is a box for a text, such as terms or a program."""
    return "name" in field.attributes and "readonly" not in field.attributes


def _write_lines(box: Node) -> None:
    lines = "".join(child for child in box.children if isinstance(child, str)).splitlines()
    box.tag = "div"
    box.children = [part for line in lines for part in (line, Node("br", {}))]


def _font(attributes: Mapping[str, str]) -> str:
    """The font that the tag sets, as Word and Outlook write it; empty if it sets none."""
    found = _FONT.findall(attributes["style"]) if "style" in attributes else [attributes.get("face", "")]
    return found[-1].strip(" \"'").capitalize() if found else ""


def _shown(text: str, font: str) -> str:
    """What a font of symbols shows for the text: ☑ for þ in Wingdings; nothing for other pictures, such as bullets."""
    known = CHARACTERS.get(font)
    if known is None:
        return text
    is_code = [not one.isspace() and (ord(one) < 0x100 or 0xF000 <= ord(one) < 0xF100) for one in text]
    return "".join(known.get(ord(one), "") if is_one else one for one, is_one in zip(text, is_code, strict=True))


def _write_box(node: Node, is_done: bool) -> None:
    node.children.insert(0, "☑ " if is_done else "☐ ")
    node.length += 1


def _is_struck(tag: str, attributes: Mapping[str, str]) -> bool:
    return tag in _STRUCK or ("style" in attributes and bool(_STRIKING.search(attributes["style"])))


def _leads_on(link: Node) -> bool:
    """Whether it leads to another text; a telephone number, a mail address or the name of a tab is itself the text."""
    shows = (link.attributes.get(name, "").lower() for name in ("role", "data-toggle", "data-bs-toggle"))
    is_text = link.attributes.get("href", "").strip().lower().startswith(("tel:", "mailto:"))
    return "href" in link.attributes and not is_text and not any(word in ("tab", "pill") for word in shows)


def _is_title_of_google(node: Node) -> bool:
    """A paragraph in the style for titles: Google Docs writes no other title, and an h1 for each chapter."""
    attributes = node.attributes
    return attributes.get("id", "").startswith("h.") and "title" in attributes.get("class", "").split()


def _is_mark_of_note(link: Node) -> bool:
    is_said = link.attributes.get("role") == "doc-noteref" or "noteref" in link.attributes.get("epub:type", "").split()
    return is_said or _NOTE in link.names
