"""Headings of plain text with a line of signs drawn below them, and perhaps another above: ====, ----, ＝＝＝＝

Such a line is a heading if it stands alone, is short and no sentence, if text stands below it, and if there are
several. A line drawn between paragraphs, below the header of a table or above a signature makes none.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from index_store.parsing.loaders.document import Heading, Page, with_headings

FEWEST = 3
"""headings of a text, with its title"""
TEXT = 30
"""characters for each heading, on average; a text with less is better read as a whole"""
WIDTH = 0.5
"""share of the width of a heading that the line below it has at least"""
LENGTH = 80
"""narrow characters of a heading at most"""

_RULE = re.compile(r"[ \t\u3000]{0,9}([=＝\-－‐─━~～*＊#＃_＿])\1{3,}[ \t\u3000]{0,9}")
_DRAWN = re.compile(rf"^{_RULE.pattern}$", re.MULTILINE)
"""Most texts have none: they need not be taken apart."""
_NO_HEADING = re.compile(r"。|[.．、,;；:：…]$|\S[ \u3000]{2,}\S|\t|\||^[\d\W]+$")
"""a sentence, or a row of a table"""


@dataclass(frozen=True)
class _Drawn:
    page: int
    line: int
    text: str
    kind: tuple[str, bool]
    """the sign, and whether it also stands above"""


def with_drawn(pages: Sequence[Page], read: Sequence[Page]) -> list[Page]:
    """The pages with such headings. `read`: the same pages with other plain headings, which stay if they are no fewer
    from the first one on, or if the text has headings of its own.
    """
    is_headed = any(page.headings is None or page.headings for page in pages)
    if is_headed or sum(len(_DRAWN.findall(page.markdown)) for page in pages) < FEWEST:
        return list(read)
    found = [each for at, page in enumerate(pages) for each in _drawn(at, page.markdown.split("\n"))]
    kinds = Counter(each.kind for each in found)
    found = [each for each in found if each is found[0] or kinds[each.kind] > 1]
    length = sum(len(line) for page in pages for line in page.markdown.split("\n") if not _RULE.fullmatch(line))
    if len({each.text for each in found}) < FEWEST or length < TEXT * len(found):
        return list(read)
    others = [(at, heading.line) for at, page in enumerate(read) for heading in page.headings or ()]
    if others and {(each.page, each.line) for each in found if (each.page, each.line) >= others[0]} <= set(others):
        return list(read)
    levels = {kind: level for level, kind in enumerate(dict.fromkeys(each.kind for each in found), 1)}
    headings: list[list[Heading]] = [[] for _ in pages]
    for each in found:
        headings[each.page].append(Heading(line=each.line, level=min(levels[each.kind], 6), text=each.text))
    return with_headings(pages, headings)


def _drawn(page: int, lines: Sequence[str]) -> Iterator[_Drawn]:
    rules = [found[1] if (found := _RULE.fullmatch(line)) else "" for line in lines]
    for at, line in enumerate(lines[:-1]):
        if not rules[at + 1] or rules[at] or not _is_name(line) or _width(lines[at + 1]) < WIDTH * _width(line):
            continue
        is_framed = at > 0 and rules[at - 1] == rules[at + 1]
        above = at - 1 - is_framed
        below = [text for text in lines[at + 2 : at + 5] if text.strip() and not _RULE.fullmatch(text)]
        if below and (above < 0 or not lines[above].strip()):
            yield _Drawn(page, at, line.strip(), (rules[at + 1], is_framed))


def _is_name(line: str) -> bool:
    text = line.strip()
    return 0 < len(text) <= LENGTH and _width(text) <= LENGTH and not _NO_HEADING.search(text)


def _width(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(each) in "WFA" else 1 for each in line.strip())
