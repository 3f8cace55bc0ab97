"""The body of a page as Markdown, all of it but scripts, navigation and forms."""

import re
from collections.abc import Iterator

from bs4 import BeautifulSoup, NavigableString, Tag
from bs4.element import PreformattedString

_DROPPED = (
    "script",
    "style",
    "noscript",
    "template",
    "nav",
    "svg",
    "iframe",
    "button",
    "select",
    "input",
    "rt",
    "rp",
    "head",
)
_ROLES = {"navigation", "banner", "contentinfo", "search", "menu", "menubar"}
_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "header", "hr", "html", "legend", "li", "main", "ol", "p", "section", "summary",
    "ul", "caption", "tbody", "thead", "tfoot", "tr", "td", "th", "table", "pre", "h1", "h2", "h3", "h4", "h5", "h6",
}  # fmt: skip


def body_markdown(soup: BeautifulSoup) -> str:
    """Changes `soup`: what is dropped is taken out of it."""
    for tag in soup.find_all(_DROPPED):
        tag.decompose()
    for tag in soup.find_all(attrs={"role": True}):
        if not tag.decomposed and str(tag.get("role")).lower() in _ROLES:
            tag.decompose()
    for tag in soup.find_all(["header", "footer"]):
        # The page's own, not an article's.
        if (
            not tag.decomposed
            and not tag.find_parent(["article", "main", "section"])
            and not tag.find(["h1", "h2", "article"])
        ):
            tag.decompose()
    blocks = (block.strip("\n") for block in _blocks(soup))
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(block for block in blocks if block.strip())).strip() + "\n"


def _blocks(tag: Tag) -> Iterator[str]:
    """The blocks of text under `tag`, in order."""
    inline: list[str] = []

    def flush() -> Iterator[str]:
        text = _squeezed("".join(inline))
        inline.clear()
        if text:
            yield text

    for child in tag.children:
        if isinstance(child, PreformattedString):
            continue
        if isinstance(child, NavigableString):
            inline.append(str(child))
        elif isinstance(child, Tag) and not _holds_blocks(child):
            inline.append(_inline(child))
        elif isinstance(child, Tag):
            yield from flush()
            yield from _block(child)
    yield from flush()


def _block(tag: Tag) -> Iterator[str]:
    match tag.name:
        case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
            text = " ".join(_squeezed(tag.get_text(" ")).split())
            if text:
                yield "#" * int(tag.name[1]) + " " + text
        case "pre":
            code = tag.get_text().strip("\n")
            if code.strip():
                fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", code)), default=0))
                yield f"{fence}\n{code}\n{fence}"
        case "ul" | "ol":
            yield _list(tag)
        case "table":
            yield from _table(tag)
        case "hr":
            return
        case _:
            yield from _blocks(tag)


def _list(tag: Tag) -> str:
    lines = []
    number = 1
    for item in tag.children:
        if isinstance(item, NavigableString):
            if not isinstance(item, PreformattedString) and item.strip():
                lines.append(_squeezed(str(item)))
            continue
        if not isinstance(item, Tag):
            continue
        mark = f"{number}. " if tag.name == "ol" else "- "
        number += 1
        body = "\n".join(_blocks(item)) if item.name == "li" else "\n".join(_block(item))
        if body.strip():
            lines.append(mark + body.replace("\n", "\n" + " " * len(mark)))
    return "\n".join(lines)


def _table(tag: Tag) -> Iterator[str]:
    """A Markdown table, or its cells as blocks where it only lays out the page."""
    rows = [row for row in tag.find_all("tr") if row.find_parent("table") is tag]
    cells = [[cell for cell in row.find_all(["td", "th"]) if cell.find_parent("tr") is row] for row in rows]
    cells = [row for row in cells if row]
    caption = tag.find("caption")
    if caption:
        yield from _blocks(caption)
    layout = tag.find(["table", "h1", "h2", "h3", "pre", "ul", "ol"]) is not None or max(map(len, cells), default=0) < 2
    if layout or not cells:
        for row in cells:
            for cell in row:
                yield from _blocks(cell)
        if not cells:
            yield from _blocks(tag)
        return
    texts = [[_squeezed(cell.get_text(" ")).replace("\n", " ").replace("|", "\\|") for cell in row] for row in cells]
    texts = [row for row in texts if any(row)]
    if not texts:
        return
    width = max(map(len, texts))
    texts = [row + [""] * (width - len(row)) for row in texts]
    lines = ["| " + " | ".join(row) + " |" for row in texts]
    yield "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def _holds_blocks(tag: Tag) -> bool:
    return tag.name in _BLOCKS or any(child.name in _BLOCKS for child in tag.find_all(True))


def _inline(tag: Tag) -> str:
    if tag.name == "br":
        return "\v"
    return "".join(
        _inline(child) if isinstance(child, Tag) else "" if isinstance(child, PreformattedString) else str(child)
        for child in tag.children
    )


_WIDE = r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]"


def _squeezed(text: str) -> str:
    """White space as a browser shows it: one space, and none where a line of Japanese was wrapped."""
    text = re.sub(rf"(?<={_WIDE})[^\S\v\u3000]*\n[^\S\v\u3000]*(?={_WIDE})", "", text)
    text = re.sub(r"[^\S\v\u3000]+", " ", text)
    return re.sub(r" ?\v ?", "\n", text).strip(" \n\v")
