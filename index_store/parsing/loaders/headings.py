"""Which lines of a page are headings."""

import re
from collections.abc import Iterator

from index_store.parsing.loaders.loaded import Heading, Page

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")


def heading_lines(page: Page) -> Iterator[tuple[str, int, str]]:
    """Each line of the page with its heading level and text, or 0 and "" when it is no heading."""
    given = {heading.line: heading for heading in page.headings or ()}
    fence = ""
    for number, line in enumerate(page.markdown.split("\n")):
        if page.headings is not None:
            heading = given.get(number)
            yield (line, heading.level, heading.text) if heading else (line, 0, "")
            continue
        mark = FENCE.match(line)
        if mark and (not fence or (mark[1][0] == fence[0] and len(mark[1]) >= len(fence))):
            fence = "" if fence else mark[1]
        found = None if fence or mark else _HEADING.match(line)
        if found and found[2]:
            yield line, len(found[1]), found[2].replace("**", "").strip()
        else:
            yield line, 0, ""


def under(title: str, pages: list[Page]) -> list[Page]:
    """The pages as one chapter of this title: each heading a level lower."""
    out = []
    for number, page in enumerate(pages):
        above = 0 if number else 2
        headings = [
            Heading(line=line + above, level=min(level + 1, 6), text=text)
            for line, (_, level, text) in enumerate(heading_lines(page))
            if level
        ]
        if above:
            headings.insert(0, Heading(line=0, level=1, text=title))
        markdown = f"{title}\n\n{page.markdown}" if above else page.markdown
        out.append(Page(markdown=markdown, headings=tuple(headings)))
    return out
