"""Headings of rules and contracts that are typed as plain lines: 第1章 総則, 第2条（定義）, Article 3. Term

Most rules of Japanese companies have no styles for headings. A line that names a division, and nothing else, is its
heading. A division whose text stands in the same line has none: 第1条 この規程は、…
"""

import re
import unicodedata
from collections.abc import Sequence
from math import inf

from index_store.parsing.loaders.document import Heading, Page

FEWEST = 2
"""divisions of a text that has such headings; a single one may be a quotation"""

_JAPANESE = "編章節款条"
_ENGLISH = "part", "chapter", "article", "section"
"""from the largest to the smallest"""
_NUMERAL = r"[\d０-９〇一二三四五六七八九十百千]{1,9}"
_CAPTION = r"\s*[（(【][^（）()【】。]{1,60}[）)】]"
_DIVISION = re.compile(
    # 第1章総則, but not 第1章の規定.
    rf"(?P<ja>第{_NUMERAL}[編章節款])(?:\s*(?![のはをにがでとも、])[^\s。、][^。]{{0,60}})?"
    rf"|(?P<article>第{_NUMERAL}条(?:の{_NUMERAL})*)(?:{_CAPTION}|\s+[^\s。、][^。、]{{0,40}})?"
    rf"|(?P<annex>附\s*則)(?:{_CAPTION}|[\s.…‥・]*\d{{1,4}})?"
    r"|(?P<en>(?i:part|chapter|article|section))\s+(?:\d{1,3}|[IVXLC]{1,7})\b(?:[.:\s–-]+(?=[A-Z(])[^.;]{1,80})?[.:]?"
)
_NAMED = re.compile(rf"第{_NUMERAL}[{_JAPANESE}]|^\s{{0,20}}(?i:part|chapter|article|section)\s", re.MULTILINE)
"""Most texts name no division: they need not be taken apart into lines."""
_PAGE = re.compile(r"(?:[\s.…‥・]*[.…‥・]{2,}\s*|\s+)\d{1,4}$")
"""the page that a table of contents names"""


def with_divisions(page: Page) -> Page:
    """The same page if it has other headings than a title."""
    if not _NAMED.search(page.markdown):
        return page
    marked = [(number, text) for number, (_, level, text) in enumerate(page.lines()) if level]
    divisions = _headings(page.markdown.split("\n")) if len(marked) <= 1 else []
    if len(divisions) < FEWEST:
        return page
    title = [Heading(line=number, level=1, text=text) for number, text in marked]
    below = [heading.model_copy(update={"level": heading.level + len(title)}) for heading in divisions]
    return page.model_copy(update={"headings": tuple(sorted([*title, *below], key=lambda heading: heading.line))})


def _headings(lines: Sequence[str]) -> list[Heading]:
    """In no order. The lines of a table of contents, which have no text below them, are none."""
    found: list[Heading] = []
    names = set[str]()
    below = -1.0
    """size of the heading that stands directly below: infinite if it is text, negative at the end"""
    for number, line in reversed([(number, line.strip()) for number, line in enumerate(lines)]):
        size = _size(line)
        if size is None:
            below = inf if line else below
        elif below > size and not (_PAGE.search(line) and _name(line) in names):
            found.append(Heading(line=number, level=size, text=line))
            names.add(_name(line))
            below = size
    levels = {size: level for level, size in enumerate(sorted({each.level for each in found}), 1)}
    return [heading.model_copy(update={"level": levels[heading.level]}) for heading in found]


def _name(line: str) -> str:
    """The same for a division and its line in a table of contents."""
    named = _PAGE.sub("", line)
    return "".join(unicodedata.normalize("NFKC", named if _DIVISION.fullmatch(named) else line).split())


def _size(line: str) -> int | None:
    """0 for the largest divisions; None if the line names none."""
    named = _DIVISION.fullmatch(line)
    if named is None:
        return None
    if named["annex"]:
        return _JAPANESE.index("章")
    if named["en"]:
        return _ENGLISH.index(named["en"].lower())
    return _JAPANESE.index((named["ja"] or "条")[-1])
