"""The body of a page as Markdown: its main part where it names one, without scripts, navigation and forms.

Written here because an extractor made for news (trafilatura 2.3) drops the headings of DocBook and Sphinx pages, and of
one three quarters of its text: what is left out can't be found.
"""

import re
from collections.abc import Iterator

from bs4 import BeautifulSoup, NavigableString, Tag
from bs4.element import PreformattedString

_DROPPED = [
    "script", "style", "noscript", "template", "nav", "svg", "iframe", "button", "select", "input", "textarea", "head",
    "rt", "rp",  # readings above kanji, which would double the text
]  # fmt: skip
_ROLES = {"navigation", "banner", "contentinfo", "search", "menu", "menubar", "doc-toc"}
_CLASSES = {
    "headerlink",
    "mw-editsection",
    "mw-jump-link",
    "skip-link",
    "skip-to-content",
    "sr-only",
    "visually-hidden",
    "breadcrumb",
    "navheader",
    "navfooter",
}
_HIDDEN = re.compile(r"display\s*:\s*none", re.I)
_BLOCKS = [
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr",
    "html", "legend", "li", "main", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "ul",
]  # fmt: skip

MAIN_SHARE = 0.5
"""of a page's text that its main element must hold to stand for it: some pages put the text elsewhere"""
LINK_SHARE = 0.8
"""of a block's text in links, above which it is a menu or a table of contents"""
MENU_LINKS = 4
"""links that make a menu: fewer may be an answer"""
MENUS_AT_MOST = 0.5
"""of a page's text: where menus are more than this, the links are what the page is for"""
COLUMNS = 100
"""cells that one cell may span: a span costs its number, whatever the page says"""


def body_markdown(soup: BeautifulSoup) -> str:
    """Changes `soup`: what is dropped is taken out of it."""
    _drop_furniture(soup)
    root = _main(soup)
    _drop_menus(root)
    blocks = (block.strip("\n") for block in _Writer(root).blocks(root))
    return "\n\n".join(block for block in blocks if block.strip()) + "\n"


def _drop_furniture(soup: BeautifulSoup) -> None:
    for tag in soup.find_all(True):
        if not tag.decomposed and _is_furniture(tag):
            tag.decompose()


def _is_furniture(tag: Tag) -> bool:
    if tag.name in _DROPPED or tag.has_attr("hidden") or _HIDDEN.search(str(tag.get("style", ""))):
        return True
    if str(tag.get("role", "")).lower() in _ROLES:
        return True
    if tag.name in ("header", "footer") and not tag.find_parent(["article", "main", "section"]):
        # The page's own. One that holds the title or the text is more than furniture.
        return not tag.find(["h1", "h2", "article", "main", "p"])
    classes = {name.lower() for name in tag.get_attribute_list("class") if name}
    return bool(classes & _CLASSES) and tag.name not in ("body", "html", "main")


def _main(soup: BeautifulSoup) -> Tag:
    candidates = soup.find_all("main") or soup.find_all(attrs={"role": "main"}) or soup.find_all("article")
    if len(candidates) == 1 and _length(candidates[0]) > MAIN_SHARE * _length(soup):
        return candidates[0]
    return soup


def _drop_menus(root: Tag) -> None:
    menus = []
    taken: set[int] = set()
    for tag in root.find_all(["ul", "ol", "dl", "div", "table", "aside", "section", "p"]):
        if any(id(parent) in taken for parent in tag.parents):
            continue
        links = tag.find_all("a", href=True)
        if len(links) >= MENU_LINKS and sum(map(_length, links)) > LINK_SHARE * _length(tag):
            taken.add(id(tag))
            menus.append(tag)
    if sum(map(_length, menus)) < MENUS_AT_MOST * _length(root):
        for tag in menus:
            tag.decompose()


def _length(tag: Tag) -> int:
    """Characters of text, white space aside."""
    return sum(len("".join(text.split())) for text in tag.strings)


class _Writer:
    def __init__(self, root: Tag) -> None:
        self._holders: set[int] = set()
        """the tags that are blocks or hold one; all others are part of a line"""
        for tag in root.find_all(_BLOCKS):
            self._holders.add(id(tag))
            for parent in tag.parents:
                if id(parent) in self._holders and parent.name not in _BLOCKS:
                    break
                self._holders.add(id(parent))

    def blocks(self, tag: Tag) -> Iterator[str]:
        """The blocks of text under `tag`, in order."""
        inline: list[str] = []
        for child in tag.children:
            if isinstance(child, Tag) and id(child) in self._holders:
                yield from _paragraph(inline)
                inline = []
                yield from self._block(child)
            else:
                inline.append(_inline(child))
        yield from _paragraph(inline)

    def _block(self, tag: Tag) -> Iterator[str]:
        match tag.name:
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                text = " ".join(_squeezed(_inline(tag)).split())
                if text:
                    yield "#" * int(tag.name[1]) + " " + text
            case "pre":
                code = tag.get_text().strip("\n")
                if code.strip():
                    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", code)), default=0))
                    yield f"{fence}\n{code}\n{fence}"
            case "ul" | "ol":
                yield self._list(tag)
            case "table":
                yield from self._table(tag)
            case _:
                yield from self.blocks(tag)

    def _list(self, tag: Tag) -> str:
        lines = []
        number = 1
        for item in tag.children:
            if not isinstance(item, Tag):
                lines += _paragraph([_inline(item)])
                continue
            mark = f"{number}. " if tag.name == "ol" else "- "
            body = "\n".join(self.blocks(item) if item.name == "li" else self._block(item))
            if body.strip():
                lines.append(mark + body.replace("\n", "\n" + " " * len(mark)))
                number += 1
        return "\n".join(lines)

    def _table(self, tag: Tag) -> Iterator[str]:
        """A Markdown table; or its cells one after another, where it only lays out the page."""
        caption = tag.find("caption")
        if caption and caption.find_parent("table") is tag:
            yield from self.blocks(caption)
        rows = [row for row in tag.find_all("tr") if row.find_parent("table") is tag]
        cells = [[cell for cell in row.find_all(["td", "th"]) if cell.find_parent("tr") is row] for row in rows]
        if tag.find(["table", "h1", "h2", "h3", "h4", "pre"]) or max(map(len, cells), default=0) < 2:
            for cell in (cell for row in cells for cell in row):
                yield from self.blocks(cell)
            if not any(cells):
                yield from self.blocks(tag)
            return
        texts = [row for row in _grid(cells) if any(row)]
        if texts:
            width = max(map(len, texts))
            lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in texts]
            yield "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def _grid(rows: list[list[Tag]]) -> list[list[str]]:
    """The cells' texts in their columns. One that spans rows stands in each, so that each row reads by itself."""
    grid: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}
    """column -> rows still spanned, and the text"""
    for row in rows:
        line: list[str] = []

        def carry(line: list[str] = line) -> None:
            while len(line) in below:
                left, text = below.pop(len(line))
                if left > 1:
                    below[len(line)] = (left - 1, text)
                line.append(text)

        for cell in row:
            carry()
            text = _squeezed(_inline(cell)).replace("\n", " ").replace("|", "\\|")
            for column in range(_span(cell, "colspan")):
                if _span(cell, "rowspan") > 1:
                    below[len(line)] = (_span(cell, "rowspan") - 1, "" if column else text)
                line.append("" if column else text)
        carry()
        grid.append(line)
    return grid


def _span(cell: Tag, name: str) -> int:
    value = str(cell.get(name, "1")).strip()
    return min(max(int(value), 1), COLUMNS) if value.isascii() and value.isdigit() else 1


def _inline(node: object) -> str:
    """Text as the source has it; \\v is a break that the page asks for."""
    if isinstance(node, Tag):
        if node.name == "br":
            return "\v"
        text = "".join(map(_inline, node.children))
        # Blocks within a cell or a heading.
        return f" {text} " if node.name in _BLOCKS else text
    # Comments, declarations and the like are strings too.
    return "" if isinstance(node, PreformattedString) else str(node) if isinstance(node, NavigableString) else ""


def _paragraph(inline: list[str]) -> Iterator[str]:
    text = _squeezed("".join(inline))
    if text:
        # A line of text that begins with # is no heading.
        yield re.sub(r"^(?=#{1,6}\s)", "\\\\", text, flags=re.M)


_WIDE = r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]"
_SPACE = r"[^\S\v\u3000\u00a0]"


def _squeezed(text: str) -> str:
    """White space as a browser shows it: one space, and none where a line of Japanese was wrapped."""
    text = re.sub("[\u200b\u00ad]", "", text)  # places to break a line at
    text = re.sub(rf"(?<={_WIDE}){_SPACE}*\n{_SPACE}*(?={_WIDE})", "", text)
    text = re.sub(rf"{_SPACE}+", " ", text)
    return re.sub(r" ?\v ?", "\n", text).strip(" \n\v")
