"""Headings that a sign marks, typed as plain lines: 【目的】, ■ 対象者, ◆申請の方法

A marked line is a heading if it is short and no sentence, if text stands below it, and if there are several of its
kind. The lines of a list are sentences, or stand together, or give values (■日時：4月1日).
"""

import re
from collections.abc import Sequence

from index_store.parsing.loaders.document import Heading, Page, fence_mark, with_headings

FEWEST = 3
"""headings of a kind; one line in brackets may be anything"""
TEXT = 30
"""characters for each heading of the first kind, on average; a text with less is better read as a whole"""
WITH_TEXT = 0.75
"""share of the headings of a kind that have text below them, and of the names that differ"""
LENGTH = 30
"""characters of a heading"""

_SIGNS, _OPENING, _CLOSING = "■◆●▼◎◇★▶", "【〔《≪〈＜", "】〕》≫〉＞"
"""neither □ nor ○, which may be boxes to tick, nor <>, which may be tags"""
_MARKED = re.compile(
    rf"([{_SIGNS}]{{1,3}})\s*([^{_SIGNS}|]+?)\s*[{_SIGNS}]{{0,3}}|([{_OPENING}])\s*([^{_CLOSING}]+)[{_CLOSING}]"
)
_NO_NAME = re.compile(r"[。:：、，,;；=＝]|[.…!！]$|^[^(（]*[)）]$|\.\s|\t|[.…‥・]{3}|^[\d\W]+$")
"""a sentence or a value; but a name may be a question, or end in brackets: 費用（税込）"""
_NUMBER = re.compile(r"[(（]?\d{1,2}[.．)）]?\s*(?=\D)")
_MARK = re.compile(rf"^[\s*]{{0,9}}[{_SIGNS}{_OPENING}]", re.MULTILINE)
"""Most texts have none: they need not be taken apart."""


def with_marks(pages: Sequence[Page]) -> list[Page]:
    """The same pages if their text has headings of its own, others than the titles above it, or blocks of code."""
    if sum(len(_MARK.findall(page.markdown)) for page in pages) < FEWEST:
        return list(pages)
    if any(page.headings is None and any(fence_mark(line, "") for line in page.markdown.split("\n")) for page in pages):
        return list(pages)
    marked: dict[str, list[tuple[int, int, str]]] = {}
    """kind -> page, line and text of each, in the order in which the kinds begin"""
    bare: dict[str, int] = {}
    """kind -> how many have no text below them"""
    titles: list[list[Heading]] = [[] for _ in pages]
    above = ""
    """kind of the line above; at the end, that of the last line"""
    length = 0
    for at, page in enumerate(pages):
        for number, (line, level, title) in enumerate(page.lines()):
            text = line.strip().replace("**", "")
            if level:
                if marked:
                    return list(pages)
                titles[at].append(Heading(line=number, level=level, text=title))
            if level or not text:
                continue
            kind = _kind(text)
            bare[above] = bare.get(above, 0) + (kind == above)
            if kind:
                marked.setdefault(kind, []).append((at, number, text))
            above = kind
            length += len(text) if marked else 0
    bare[above] = bare.get(above, 0) + 1
    found = [each for kind, each in marked.items() if _are_headings(each, bare[kind])]
    if not found or length < TEXT * len(found[0]):
        return list(pages)
    top = max((title.level for page in titles for title in page), default=0)
    for level, each in enumerate(found, top + 1):
        for at, number, text in each:
            titles[at].append(Heading(line=number, level=min(level, 6), text=text))
    return with_headings(pages, [sorted(page, key=lambda heading: heading.line) for page in titles])


def _kind(line: str) -> str:
    """The signs that mark the line; empty if it is no heading."""
    found = _MARKED.fullmatch(line) if len(line) <= LENGTH else None
    if found is None or _NO_NAME.search(_NUMBER.sub("", found[2] or found[4], count=1)):
        return ""
    return found[1] or found[3]


def _are_headings(marked: Sequence[tuple[int, int, str]], bare: int) -> bool:
    names = {text for _, _, text in marked}
    return len(marked) >= FEWEST and min(len(marked) - bare, len(names)) >= WITH_TEXT * len(marked)
