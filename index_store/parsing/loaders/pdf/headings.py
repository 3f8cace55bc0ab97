"""Headings of a PDF whose outline does not list them: lines in larger type than its text, and numbered ones in bold."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from index_store.parsing.loaders.document import Page
from index_store.parsing.loaders.pdf.line import SAME_LINE, Line
from index_store.parsing.loaders.pdf.paragraphs import is_row, joined, unhyphenated

LARGER = 1.09
"""times the size of the text; a heading of 12 points may be above a text of 10.9"""
TITLE = 1.3
"""times the size of the text, for a document's title"""
LENGTH = 100
"""characters of a heading's line"""
LINES = 3
"""of a heading at most; with more, it is a text in large type"""
SHARE = 0.2
"""share of a document's characters; if more are in large type, it is not for headings, as on slides and posters"""
BOLD = 600
"""weight"""
LISTED_SHARE = 0.75
"""share of the headings by type that an outline must list; with fewer, it is incomplete"""

_NUMBERED = re.compile(
    r"(\d+(\.\d+)*\.?|第[\d〇一二三四五六七八九十百]+[章節条項])[\s\u3000]+\S|第[\d一二三四五六七八九十百]+[章節条]"
    # 1.目的, （1）目的, 一、目的 and 1－1 目的, as Japanese documents write them; but not 1.5倍 or a telephone number.
    r"|(\d{1,2}([.．－-]\d{1,2})*[.．、]|[一二三四五六七八九十]+、|[（(]\d{1,2}[)）])\s*(?!\d)\S"
    r"|\d{1,2}([．－-]\d{1,2})+\s+\S"
)
_SENTENCE = re.compile(r"[。、，,;；]$|[a-z0-9)]\.$|[-\u2010\u00ad\x02\ufffe]$")
_WORD = re.compile(r"[^\W\d_]{2}|[一-鿿]")


Headings = dict[int, list[tuple[int, int, int]]]
"""page, from 0 -> its headings: first line, number of lines, level from 1"""


@dataclass(frozen=True)
class FoundHeading:
    """A heading of `count` lines; `size` is the size of its type, in points."""

    start: int
    count: int
    size: float


def completed(outlined: Headings, pages: list[list[Line]]) -> Headings:
    """The headings of the outline; if it is incomplete, with those by type between them."""
    by_size = headings_by_size(pages)
    if not outlined:
        return by_size
    lines = {
        (page, line) for page in outlined for start, count, _ in outlined[page] for line in range(start, start + count)
    }
    missing = {
        page: [each for each in by_size[page] if not any((page, each[0] + at) in lines for at in range(each[1]))]
        for page in by_size
    }
    found, unlisted = (sum(map(len, headings.values())) for headings in (by_size, missing))
    if found - unlisted >= LISTED_SHARE * found:
        return outlined
    levels = _levels(outlined, missing, pages)
    return {
        page: sorted([
            *outlined.get(page, []),
            *((start, count, levels[pages[page][start].size]) for start, count, _ in missing.get(page, [])),
        ])
        for page in outlined.keys() | missing.keys()
    }  # fmt: skip


def _levels(outlined: Headings, missing: Headings, pages: list[list[Line]]) -> dict[float, int]:
    """Size of type -> level: that of the outline; for other sizes, one below those of larger type."""
    levels: dict[float, int] = {}
    for page, headings in outlined.items():
        for start, _, level in headings:
            levels.setdefault(pages[page][start].size, level)
    others = {pages[page][start].size for page, headings in missing.items() for start, _, _ in headings}
    deepest = 0
    for size in sorted(levels.keys() | others, reverse=True):
        deepest = max(deepest, levels.setdefault(size, min(deepest + 1, 6)))
    return levels


def headings_by_size(pages: list[list[Line]]) -> Headings:
    """Empty if type shows no headings."""
    body = _body(pages)
    found = {number: _on_page(lines, *body) for number, lines in enumerate(pages)} if body else {}
    length = sum(
        len(line.text)
        for number, headings in found.items()
        for heading in headings
        for line in pages[number][heading.start : heading.start + heading.count]
    )
    if length > SHARE * sum(len(line.text) for page in pages for line in page):
        return {}
    sizes = sorted({heading.size for headings in found.values() for heading in headings}, reverse=True)
    # If there are more than four sizes, the smallest ones are one level: the exact depth matters little there.
    levels = {size: min(level, 4) for level, size in enumerate(sizes, 1)}
    return {
        number: [(heading.start, heading.count, levels[heading.size]) for heading in headings]
        for number, headings in found.items()
        if headings
    }


def title_by_size(pages: list[list[Line]]) -> str:
    """The text of the first page in by far the largest type, if nothing else has that size; otherwise empty."""
    body = _body(pages)
    if body is None:
        return ""
    headings = _on_page(pages[0], *body)
    largest = max(headings, key=lambda heading: heading.size, default=None)
    if largest is None or largest.size < TITLE * body[0]:
        return ""
    if sum(heading.size >= largest.size for page in pages for heading in _on_page(page, *body)) > 1:
        return ""
    return reduce(joined, (line.text.strip() for line in pages[0][largest.start : largest.start + largest.count]))


def bold_lines(pages: list[list[Line]], written: Sequence[Page]) -> set[tuple[int, int]]:
    """Page and number of each paragraph that is bold as a whole, where other text is not. `written`: the same pages."""
    body = _body(pages)
    if body is None or body[1]:
        return set()
    found: set[tuple[int, int]] = set()
    for at, (lines, page) in enumerate(zip(pages, written, strict=True)):
        texts = set(_bold_texts(lines))
        found |= {(at, number) for number, line in enumerate(page.markdown.split("\n")) if line.strip() in texts}
    return found


def _bold_texts(lines: list[Line]) -> Iterator[str]:
    """Those of one line, and of several that are bold, as paragraphs join them."""
    is_bold = [
        line.weight >= BOLD and not (is_row(line) or line.table or line.slanted) and not _is_piece(lines, at)
        for at, line in enumerate(lines)
    ]
    for at in range(len(lines)):
        text = ""
        for line, bold in zip(lines[at : at + LINES], is_bold[at : at + LINES], strict=True):
            if not bold:
                break
            text = joined(text, line.text.strip()) if text else line.text.strip()
            yield unhyphenated(text)


def _body(pages: list[list[Line]]) -> tuple[float, bool, bool] | None:
    """Size of the type of most characters, whether it is bold, and whether their lines are vertical."""
    sizes: Counter[tuple[float, bool, bool]] = Counter()
    for page in pages:
        for line in page:
            sizes[line.size, line.weight >= BOLD, line.vertical] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else None


def _on_page(lines: list[Line], size: float, is_bold: bool, is_vertical: bool) -> list[FoundHeading]:
    found: list[FoundHeading] = []
    at = 0
    while at < len(lines):
        count = 1
        if _stands_out(lines, at, size, is_bold, is_vertical):
            while (
                at + count < len(lines)
                and lines[at + count].size == lines[at].size
                and lines[at + count].weight == lines[at].weight
                and _stands_out(lines, at + count, size, is_bold, is_vertical)
                and not _NUMBERED.match(lines[at + count].text.strip())
            ):
                count += 1
            if count <= LINES and _WORD.search(lines[at].text):
                found.append(FoundHeading(at, count, lines[at].size))
        at += count
    return found


def _stands_out(lines: list[Line], at: int, size: float, is_bold: bool, is_vertical: bool) -> bool:
    line, text = lines[at], lines[at].text.strip()
    # A label that is written downwards beside horizontal text is no heading.
    if len(text) > LENGTH or "@" in text or is_row(line) or line.table or line.vertical != is_vertical:
        return False
    if _is_piece(lines, at):
        return False
    larger = line.size >= LARGER * size and not re.match(r"[,.;)]", text)
    numbered = line.weight >= BOLD and not is_bold and line.size >= size and bool(_NUMBERED.match(text))
    return (larger or numbered) and not (_SENTENCE.search(text) and line.size < TITLE * size)


def _is_piece(lines: list[Line], at: int) -> bool:
    """Whether the end or beginning of another line is at the same height, close by."""
    line = lines[at]
    return any(
        abs(other.across - line.across) < SAME_LINE * line.height
        and min(abs(other.begin - line.end), abs(line.begin - other.end)) < line.height
        for other in lines[max(0, at - 1) : at + 2]
        if other is not line
    )
