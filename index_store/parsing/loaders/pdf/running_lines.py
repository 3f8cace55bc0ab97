"""Headers, footers and page numbers of a PDF: lines at the ends of most pages that differ only in the page's number, or
that name the chapter of their page.

Watermarks of most pages, too. What stays: the header of a table that goes on over pages, as each page is a text of its
own, and once a title in larger type, of the document or of each of its forms.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from index_store.parsing.loaders.pdf.line import COLUMN_GAP, SAME_LINE, Line

SHARE = 0.6
"""share of the pages with the same first or last line, apart from its page number, that makes it a running line"""
PAGES = 3
"""with the same line, at least"""
COUNTED = 2
"""with the same line and their page numbers, at least; many documents have two pages"""
LENGTH = 200
"""characters of a line with a page number, or with the title beside the chapter"""
FACING = 2
"""pages from one with the name of its chapter to the next one of this chapter at most: facing pages may take turns"""
STEP = 4.0
"""times the size of the type, from the header of a table to its rows at most"""

_NUMBER = r"(?<!\d)(\d{1,5})(?: ?(?:/|／|of) ?\d{1,5})?(?!\d)"
_SEPARATOR = r"[\t|｜]|\s[-–—・]\s"
_ALONE = re.compile(
    rf"(?:^|{_SEPARATOR})[^\w\t|｜]{{0,3}}(?:[\dA-Z]{{1,2}}-)?{_NUMBER}[^\w\t|｜]{{0,3}}(?=$|{_SEPARATOR})"
)
_CALLED_PAGE = re.compile(rf"(?:(?<![a-z])p(?:age|\.)?|ページ|頁) ?{_NUMBER}|{_NUMBER} ?(?:ページ|頁)", re.IGNORECASE)


def without_running_lines(pages: list[list[Line]]) -> list[list[Line]]:
    """The pages without what would be in the middle of sentences, and without the watermarks of most pages."""
    stamps = Counter(text for page in pages for text in {line.text for line in page if line.slanted})
    least = max(PAGES, SHARE * len(pages))
    left = [[line for line in page if not line.slanted or stamps[line.text] < least] for page in pages]
    titles: dict[str, tuple[int, Line]] = {}
    for end in (0, -1, 0, -1):
        ends = [page[end] if page and (end or not _names_columns(page, len(left))) else None for page in left]
        running = _running(ends, left)
        if end == 0:
            for number in sorted(running):
                if (line := ends[number]) and _is_title(line, left[number]):
                    titles.setdefault(undigited(line), (number, line))
        running |= _of_chapters(ends, left)
        left = [
            [line for line in page if line is not page[end]] if number in running else page
            for number, page in enumerate(left)
        ]
    # If nothing but numbers is left to tell the pages apart, they are forms, and their titles are no headers.
    texts = ([undigited(line) for line in rest] for page, rest in zip(pages, left, strict=True) if page)
    first = next(texts, [])
    if all(text == first for text in texts):
        return pages
    for number, line in reversed(titles.values()):
        left[number].insert(0, line)
    return left


def _names_columns(page: list[Line], pages: int) -> bool:
    """Whether the first line is the header of a table that goes on over pages: it has no page number, and close below
    is a row with as many cells, or with one more if the header leaves the corner empty.
    """
    header = page[0]
    return (
        len(header.cells) > 1
        and not any(_page_numbers(header, pages))
        and any(
            len(header.cells) in (len(row.cells), len(row.cells) - (header.begin > row.cells[0].end))
            and 0 < row.across - header.across < STEP * header.size
            for row in page[1:3]
            if row.cells
        )
    )


def _running(lines: list[Line | None], pages: list[list[Line]]) -> set[int]:
    """The pages, from 0, whose line is a running one."""
    alike: defaultdict[tuple[str, int | None], set[int]] = defaultdict(set)
    for page, line in enumerate(lines):
        if line:
            alike[line.text.strip(), None].add(page)
            for text, number in _page_numbers(line, len(lines)):
                alike[text, number - page].add(page)
    sharing: defaultdict[str, set[int]] = defaultdict(set)
    counted: set[str] = set()
    for (text, first), found in alike.items():
        # Page numbers may begin again, as those of several reports in one file do.
        if len(found) > 1:
            sharing[text] |= found
            # The titles of two parts are in larger type.
            if first is not None and all(_is_small(lines[page], pages[page]) for page in found):
                counted.add(text)
    return {
        page
        for text, found in sharing.items()
        if len(found) >= max(COUNTED if text in counted else PAGES, SHARE * len(lines))
        for page in found
    }


def _is_small(line: Line | None, page: list[Line]) -> bool:
    """Whether another line of the page is in type of at least its size: it is no title."""
    return line is not None and line.size <= max((each.size for each in page if each is not line), default=0)


def _is_title(line: Line, page: list[Line]) -> bool:
    """Whether it is in larger type than all other lines of the page."""
    return len(page) > 1 and not _is_small(line, page)


def _of_chapters(lines: list[Line | None], pages: list[list[Line]]) -> set[int]:
    """The pages, from 0, whose line names their chapter: most pages have one, in the same place and the same as on a
    page close by. It is also somewhere in the text, so nothing is lost. The titles of slides are in larger type.
    """
    least = max(PAGES, SHARE * len(lines))
    texts = [
        set() if line is None else {line.text.strip(), *(text for text, _ in _page_numbers(line, len(lines)))}
        for line in lines
    ]
    repeated = {
        page
        for page, line in enumerate(lines)
        for other in range(max(0, page - FACING), min(len(lines), page + FACING + 1))
        if other != page
        and line
        and texts[page] & texts[other]
        and _is_level(line, lines[other])
        and _is_small(line, pages[page])
    }
    if len(repeated) < least:
        return set()
    headers = [line if page in repeated else None for page, line in enumerate(lines)]
    elsewhere = {
        _name(line.text) for page, header in zip(pages, headers, strict=True) for line in page if line is not header
    }
    begins, ends = (
        Counter(part for page in repeated for part in {each[at] for text in texts[page] for each in _parts(text)})
        for at in (0, 1)
    )
    # The title of the document may stand beside the chapter: then it is on most pages.
    return {
        page
        for page in repeated
        if any(
            (begin in elsewhere and (not end or ends[end] >= least))
            or (end in elsewhere and (not begin or begins[begin] >= least))
            for text in texts[page]
            for begin, end in _parts(text)
        )
    }


def _parts(text: str) -> list[tuple[str, str]]:
    """The names before and behind each space of a line that is not too long; at first nothing, and all of it."""
    words = text.split() if len(text) <= LENGTH else [text]
    return [(_name("".join(words[:at])), _name("".join(words[at:]))) for at in range(len(words))]


def _is_level(line: Line, other: Line | None) -> bool:
    return other is not None and abs(line.across - other.across) < SAME_LINE * line.height


def _name(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())


def _page_numbers(line: Line, pages: int) -> Iterator[tuple[str, int]]:
    """Each number that may be that of the page, with the rest of the line.

    It is called so, or it stands apart from the words, unlike the number of an invoice or of a form. If it stands apart
    like a figure in a table, it must be the number of a page of this file.
    """
    if len(line.text) > LENGTH:
        return
    text = _with_tabs(line)
    for pattern in (_ALONE, _CALLED_PAGE):
        for found in pattern.finditer(text):
            number = int(found[found.lastindex or 0])
            rest = (text[: found.start()] + text[found.end() :]).strip()
            if pattern is _CALLED_PAGE or number <= pages or not re.search(r"\w", rest):
                yield rest, number


def _with_tabs(line: Line) -> str:
    """Its text, with a tab for each space as wide as between columns."""
    if not line.row:
        return line.text.strip()
    wide = [following.begin - cell.end > COLUMN_GAP * line.height for cell, following in pairwise(line.cells)]
    gaps = ["\t" if is_wide else " " for is_wide in wide]
    return "".join(cell.text + gap for cell, gap in zip(line.cells, [*gaps, ""], strict=True))


def undigited(line: Line) -> str:
    """Its text, with the same sign for each number."""
    return re.sub(r"\d+", "0", line.text.strip())
