"""A page as a light tree, measured while it is parsed, so that the cost grows in proportion to its tags.

libxml2 parses (through lxml, as for BeautifulSoup). Its own tree ends at a depth of 2,048. BeautifulSoup's tree takes
40 times as long, since it is walked again for each question about a tag (its text, its parents).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType

from lxml import etree

from index_store.parsing.loaders.as_markdown import RAISED, RAISED_END

DROPPED = frozenset({
    "script", "style", "noscript", "noframes", "template", "nav", "svg", "iframe", "select", "input", "textarea",
    "annotation", "annotation-xml",  # a formula's source, next to the formula
    "audio", "canvas", "video",  # their text is for browsers that can't show them
    "del",  # as a tracked deletion of a Word document
    "rt", "rp", "rtc",  # readings above kanji, which would double the text
})  # fmt: skip
ROLES = frozenset(
    {"navigation", "banner", "contentinfo", "search", "menu", "menubar", "doc-toc", "dialog", "alertdialog"}
)
_SPOKEN = frozenset({"sr-only", "visually-hidden"})
"""classes of what only screen readers say"""
CLASSES = frozenset({
    "headerlink", "anchor-link", "mw-editsection", "mw-jump-link", "skip-link", "skip-to-content", "breadcrumb",
    "breadcrumbs", "navheader", "navfooter", "navbar", "skip-links", "mw-cite-backlink", "printfooter", "catlinks",
    "sitesub", *_SPOKEN,
})  # fmt: skip
LINE_NUMBERS = frozenset({"linenos", "lineno", "line-numbers", "line-numbers-rows", "gutter"})
"""classes of line numbers beside code; also of code that has them, and of columns of a page"""
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr",
    "html", "legend", "li", "main", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "ul",
})  # fmt: skip

_ANCHORED = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "section", "dt", "span"})
"""tags whose ids are anchors, made from the words of a heading or a term: a section about cookies has the id "cookies"
"""

_TITLES = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary", "th"})
"""tags whose text may be a button, which unfolds or sorts what is below"""

HEADER = re.compile("(site|global|top)?[-_]?header", re.I)
"""ids of what is at the top of each page of a site; an element header may be of the page alone"""

_STRUCK = frozenset({"s", "strike"})
_STRIKING = re.compile(r"(?<![\w-])text-decoration(-line)?\s*:[^;]{0,100}line-through", re.I)
"""in a style, as editors of web pages write it"""
_KEEPING_LINES = re.compile(r"(?<![\w-])white-space\s*:\s*(pre|break-spaces)", re.I)
"""in a style, as mails of services have it around a text that was typed"""
_DATE_BEFORE_NUMBER = re.compile(r"\d{4}[./-]\d\d[./-]\d\d\0\d|(?:19|20)\d\d\0\d{1,2}月")
"""two neighbours, with a zero between them"""
_TASK_BOXES = frozenset({"checkbox-on", "checkbox-off"})
"""classes of the empty tags in which Notion draws the boxes of tasks"""
_PERMALINKS = frozenset("¶#§🔗⚓")
_JUMP = re.compile(
    r"(skip|jump) to( the)?( main| page| action| quick| header)? (content|navigation|menu|breadcrumbs|search)"
    r"|skip (main )?navigation|((back |return )?to( the)?|page) top( of( the| this)? page)?"
    r"|((この|ページの?|画面の?){0,2}(本文|(メイン)?コンテンツ|(共通|サイド)?メニュー|ナビゲーション|フッター|先頭|トップ|top|一番上|上部)"
    r"(へ|に|まで|を)(スキップ|移動|ジャンプ|戻る|もどる|飛ばす)?(します|する)?|ページの?(トップ|先頭|top)|pagetop)。?",
    re.I,
)
"""words of a link to the text or to the top of the same page"""
_ARROWS = " ▲△↑⇑∧^"
JUMP_LENGTH = 40
"""characters of such a link at most"""
_NOTE, _FROM_NOTE = "footnote-ref", frozenset({"footnote-backref", "footnote-back"})
"""classes of a link to a note, and of that back from it"""
_CELLS = frozenset({"td", "th"})
_BY_ROLE = {
    "table": "table", "grid": "table", "row": "tr",
    "columnheader": "th", "rowheader": "th", "cell": "td", "gridcell": "td",
}  # fmt: skip
"""role -> the tag whose part of a table it plays"""
_ROLE_PLAYERS = frozenset({"div", "span", "ul", "li"})
_PICTURED = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "li", *_CELLS})
"""tags whose text may be a picture"""
_DOCUMENT = re.compile(r"\.(pdf|docx?|xlsx?|pptx?|csv)($|[?#])", re.I)
_ICON = re.compile(r"\[.*\]|.*\.(png|gif|jpe?g|svg|webp)", re.I | re.S)
"""words in place of a picture that only name it"""
_TEX = re.compile(r"\{\\displaystyle (.*)\}", re.S)

_DRAWN = frozenset({"katex", "mathjax", "mathjax_chtml", "mathjax_svg", "mathjax_display"})
"""classes of formulae that a script has drawn beside the MathML, or beside its own preview"""

_FOLDED = re.compile(
    r"accordi?on|collaps|tab-?(panel|pane|content)|(^|[-_])(tabs?|faqs?|qa|toggle|answers?|panel)([-_]|$)", re.I
)
"""classes and ids of content that a click opens: hidden, but it is the answer for which the page exists"""
FOLDS = 4
"""levels above hidden content up to which such a name counts"""
_SHOWN_LATER = re.compile(r"(^|[-_])(wow|aos|fade-?in\w*|reveal|(read)?more|expand(ed|able)?|spoiler)([-_]|$)", re.I)
"""its own classes if it is shown as the reader scrolls, or reads on"""
_HIDDEN = re.compile(r"(?<![\w-])(display\s*:\s*none|visibility\s*:\s*hidden)", re.I)
_UNFOLDING = re.compile(r"accordi?on|(^|[-_])(faqs?|question|tab-?links?)([-_]|$)", re.I)
"""classes of a button that unfolds a text, or shows one of several, without saying so"""
_WHOLE = frozenset({"html", "body", "main"})
_SECTIONING = frozenset({"article", "main", "section"})


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
        if self._open_cells and (words := _spoken(node)):
            node = Node("img", {"alt": words})
        own = _HOLDS.get(node.tag, Holds.NOTHING)
        parent.holds |= own & Holds.CONTROL
        if tag == "p" and node.length == node.link_length:
            own &= ~Holds.TEXT
        if node.attributes.get("id") in self._controlled:
            node.holds |= Holds.SHOWN
        if self._is_boilerplate(node):
            return
        _look_at_pictures(node, parent)
        if node.length and not node.names.isdisjoint(_DRAWN):
            _drop_drawings(node, parent)
        self._mark(node)
        if tag == "a" and _leads_on(node):
            node.links, node.link_length = node.links + 1, node.length
            node.documents += bool(_DOCUMENT.search(node.attributes["href"]))
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
        self._open_cells += change * (tag in _CELLS)
        self._open_code += change * (tag == "pre")
        self._open_lines += change * ("style" in attributes and bool(_KEEPING_LINES.search(attributes["style"])))

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

    def _is_folded(self, node: Node) -> bool:
        if node.attributes.get("hidden") == "until-found" or node.holds & Holds.SHOWN:
            return True
        if node.tag == "dd":  # below its term, or its question
            return True
        if any(_SHOWN_LATER.search(name) for name in node.names):
            return True
        is_panel = node.attributes.get("role", "").lower() == "tabpanel"
        around = (node, *self._stack[-FOLDS:])
        return is_panel or any(_FOLDED.search(name) for tag in around if tag.tag != "body" for name in tag.names)

    def _is_boilerplate(self, node: Node) -> bool:
        if node.tag in DROPPED:
            return True
        if node.tag == "button" and not self._open_titles and not _unfolds(node):
            return True
        if not node.attributes and node.tag != "header":
            return False
        is_hidden = "hidden" in node.attributes or _HIDDEN.search(node.attributes.get("style", ""))
        # A page may hide itself until its script has run.
        if is_hidden and node.tag not in _WHOLE and not self._is_folded(node):
            return True
        if node.attributes.get("role", "").lower() in ROLES:
            return True
        if node.tag == "a" and self._open_titles and node.length == 1 and _is_permalink(node):
            return True
        if node.tag == "a" and node.attributes.get("href", "").startswith("#") and _is_jump(node):
            return True
        if node.tag == "header" and not self._sections:
            # The page's own header or footer. If it holds the title or the text, it stays.
            return not node.holds & (Holds.TITLE | Holds.TEXT)
        if node.tag == "sup" and "reference" in node.names:
            return True
        if node.tag in _WHOLE:
            return False
        is_number = not node.holds & Holds.WORDS and not node.purposes.isdisjoint(LINE_NUMBERS)
        return is_number or not node.purposes.isdisjoint(CLASSES)


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
    """Whether a style sheet sets neighbours apart: names of tabs, as in MkDocs, or a date and a text with a number."""
    if before.tag == node.tag and node.tag in ("label", "button"):
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


def _write_box(node: Node, is_done: bool) -> None:
    node.children.insert(0, "☑ " if is_done else "☐ ")
    node.length += 1


def _look_at_pictures(node: Node, parent: Node) -> None:
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


def _spoken(node: Node) -> str:
    """What screen readers say in place of an icon, such as the tick of a feature that a plan has."""
    if not node.names.isdisjoint(_SPOKEN):
        return "".join(child for child in node.children if isinstance(child, str)).strip()
    is_icon = node.tag in ("i", "svg") or node.attributes.get("role") == "img"
    return node.attributes.get("aria-label", "").strip() if is_icon and not node.length else ""


def _is_struck(tag: str, attributes: Mapping[str, str]) -> bool:
    return tag in _STRUCK or ("style" in attributes and bool(_STRIKING.search(attributes["style"])))


def _stands_for_words(node: Node) -> bool:
    """Whether a tag without text has its words as pictures; linked ones are logos and menus, unless to a document."""
    if node.tag == "li":
        links = (tag.attributes.get("href", "") for tag in node.nodes() if tag.tag == "a")
        return any(_DOCUMENT.search(link) for link in links)
    return not node.links


def _read_pictures(node: Node) -> None:
    pictures = (tag.attributes.get("alt", "").strip() for tag in node.nodes() if tag.tag == "img")
    words = " ".join(alt for alt in pictures if not _ICON.fullmatch(alt))
    tex = _TEX.fullmatch(words)
    node.children = [" ".join((tex[1] if tex else words).split())]
    node.length = len("".join(words.split()))
    node.link_length = node.length if node.links else 0
    node.holds |= Holds.WORDS


def _drop_drawings(formula: Node, parent: Node) -> None:
    """Leaves the MathML alone: the text of a drawing is the same in another order."""
    left = [part for part in formula.children if isinstance(part, str) or part.attributes.get("aria-hidden") != "true"]
    length = sum(len("".join(part.split())) if isinstance(part, str) else part.length for part in left)
    if formula.holds & Holds.FORMULA and length:
        formula.children, formula.length = left, length
    previews = [part for part in parent.children[-2:] if isinstance(part, Node) and "mathjax_preview" in part.names]
    for preview in previews:
        parent.length -= preview.length
        preview.children, preview.length = [], 0


def _leads_on(link: Node) -> bool:
    """Whether it leads to another text; a telephone number or a mail address is itself the text."""
    return "href" in link.attributes and not link.attributes["href"].strip().lower().startswith(("tel:", "mailto:"))


def _is_permalink(link: Node) -> bool:
    """Whether it is the sign beside a heading that leads to the heading itself."""
    sign = "".join(child for child in link.children if isinstance(child, str)).strip()
    return sign in _PERMALINKS and link.attributes.get("href", "").startswith("#")


def _is_mark_of_note(link: Node) -> bool:
    is_said = link.attributes.get("role") == "doc-noteref" or "noteref" in link.attributes.get("epub:type", "").split()
    return is_said or _NOTE in link.names


def _is_jump(link: Node) -> bool:
    """Whether a link on the page itself leads to its text or its top, or from a note back to what refers to it."""
    if link.attributes.get("role") == "doc-backlink" or not link.names.isdisjoint(_FROM_NOTE):
        return True
    if not 0 < link.length <= JUMP_LENGTH:
        return False
    parts = (part for tag in islice(link.nodes(), JUMP_LENGTH) for part in tag.children if isinstance(part, str))
    return bool(_JUMP.fullmatch(" ".join("".join(parts).split()).strip(_ARROWS)))


def _unfolds(button: Node) -> bool:
    """Whether the button shows content of the page, not a menu over it."""
    is_disclosure = (
        not {"aria-controls", "aria-expanded"}.isdisjoint(button.attributes)
        or button.attributes.get("role", "").lower() == "tab"
        or any(map(_UNFOLDING.search, button.attributes.get("class", "").split()))
    )
    return is_disclosure and button.attributes.get("aria-haspopup", "false") == "false"
