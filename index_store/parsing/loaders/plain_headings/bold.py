"""Headings that are only typed in bold, each a paragraph of its own, as many people write them in Word.

A bold line is a heading if it is short and no sentence, if text stands below it, and if there are several. Bold lines
below each other are titles, addresses or the entries of a list.
"""

import re
from collections.abc import Collection

from index_store.parsing.loaders.document import Heading, Page

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


def with_bold(page: Page, bold: Collection[int]) -> Page:
    """The same page with such headings, unless it has others. `bold`: numbers of the lines that are bold."""
    if len(bold) < FEWEST:
        return page
    lines = [(number, line) for number, (line, _, _) in enumerate(page.lines()) if line.strip()]
    if any(level for _, level, _ in page.lines()):
        return page
    headings: list[Heading] = []
    found = length = 0
    for (number, line), (below, _) in zip(lines, [*lines[1:], (-1, "")], strict=True):
        if number not in bold or not _is_name(line):
            length += len(line) if headings else 0
            continue
        if below >= 0 and below not in bold:
            headings.append(Heading(line=number, level=1, text=line.strip()))
        found += bool(headings)
    names = {heading.text for heading in headings}
    is_enough = len(names) >= max(FEWEST, WITH_TEXT * found) and length >= TEXT * len(headings)
    return page.model_copy(update={"headings": tuple(headings)}) if is_enough else page


def _is_name(line: str) -> bool:
    most = LATIN_LENGTH if line.isascii() else LENGTH
    return len(line) <= most and not _NO_HEADING.search(line.strip())
