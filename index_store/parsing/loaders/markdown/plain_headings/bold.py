"""Headings that are only typed in bold, each a paragraph of its own, as many people write them in Word, and
in PDFs that are made of such files.

A bold line is a heading if it is short and no sentence, if text stands below it, and if there are several. Bold lines
below each other are titles, addresses or the entries of a list.
"""

import re
from collections.abc import Collection, Sequence

from index_store.parsing.loaders.document import Heading, Page, with_headings

FEWEST = 3
"""headings of a text; one or two bold lines may be anything"""
TEXT = 20
"""characters of text for each heading, on average; a text with less is better read as a whole"""
WITH_TEXT = 0.75
"""share of the bold lines from the first heading on that have text directly below them: above it may be titles"""
LENGTH, LATIN_LENGTH = 30, 60
"""characters of a heading in Japanese, and in Latin letters"""

_NO_HEADING = re.compile(
    r"。|[.．、,;；:：…!！]$|\.\s|\t|[.…‥・]{3}|^[\d\W]+$|^\d{4}[年/.-]|^(?:令和|平成).{1,4}年|(?:様|殿|御中)$"
    r"|^(?:記|以上|注意|重要|敬具|note|important|warning|dear .*)$",
    re.I,
)
"""sentences, dates, whom a letter is for, and words that stress what is below"""


def with_bold(pages: Sequence[Page], bold: Collection[tuple[int, int]]) -> list[Page]:
    """The same pages with such headings, unless they have others than one title above them. `bold`: page and number of
    each line that is bold.
    """
    if len(bold) < FEWEST:
        return list(pages)
    lines = [(at, *line) for at, page in enumerate(pages) for line in enumerate(page.lines()) if line[1][0].strip()]
    titles: list[list[Heading]] = [[] for _ in pages]
    headings: list[list[Heading]] = [[] for _ in pages]
    names = set[str]()
    found = count = length = 0
    below = [*((at, number) for at, number, _ in lines[1:]), None]
    for (at, number, (line, level, title)), next_ in zip(lines, below, strict=True):
        if level and (count or any(titles)):
            return list(pages)
        if level:
            titles[at].append(Heading(line=number, level=level, text=title))
        elif (at, number) not in bold or not _is_name(line):
            length += len(line) if count else 0
        else:
            if next_ and next_ not in bold:
                headings[at].append(Heading(line=number, level=1, text=line.strip()))
                names.add(line.strip())
                count += 1
            found += bool(count)
    if len(names) < max(FEWEST, WITH_TEXT * found) or length < TEXT * count:
        return list(pages)
    top = max((title.level for page in titles for title in page), default=0)
    own = [[each.model_copy(update={"level": min(top + 1, 6)}) for each in page] for page in headings]
    return with_headings(pages, [[*above, *below] for above, below in zip(titles, own, strict=True)])


def _is_name(line: str) -> bool:
    most = LATIN_LENGTH if line.isascii() else LENGTH
    return len(line) <= most and not _NO_HEADING.search(line.strip())
