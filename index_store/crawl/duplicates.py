"""Whether a page is the same as the one that it names as canonical: some templates name the front page everywhere."""

import re
import zlib
from dataclasses import dataclass

import ada_url

from index_store.crawl.frontier import CrawlVisit

PIECES = 32
"""hashes kept of the text of each page, enough to tell nine tenths from half"""
SAME = 0.9
"""share of the pieces of text that two pages have in common if they are one: a token or a time may differ"""

_PIECE = re.compile(r">([^<>]+)")
_NUMBER = re.compile(r"(?:[?&](?:page|paged|pg|p|start|offset)=|/page/)\d", re.I)
"""in the address of a page of a list, which may name the first one as canonical by mistake"""


@dataclass(frozen=True)
class PageLook:
    """What is compared."""

    title: str = ""
    heading: str = ""
    pieces: frozenset[int] = frozenset()

    def has_text_of(self, other: "PageLook") -> bool:
        # The smallest hashes of both together are a fair sample of all (bottom-k sketch).
        sample = sorted(self.pieces | other.pieces)[:PIECES]
        common = [piece for piece in sample if piece in self.pieces and piece in other.pieces]
        return self.title == other.title and bool(sample) and len(common) >= SAME * len(sample)


NO_LOOK = PageLook()
"""of what is not HTML"""


@dataclass
class VisitedPage:
    """The result of visiting an address."""

    is_page: bool
    look: PageLook | None
    """None if it was not read, because it is unchanged"""


@dataclass
class Duplicate:
    """A page that waits for the one that it seems to duplicate."""

    visit: CrawlVisit
    look: PageLook | None
    """None if its content is the same"""
    is_doubtful: bool = False
    """whether it must have the same text"""

    def is_of(self, visited: VisitedPage) -> bool:
        if not visited.is_page or self.look is None:
            return visited.is_page
        if visited.look is None:
            return not self.is_doubtful
        if self.is_doubtful or (self.look.pieces and not self.look.title):
            return self.look.has_text_of(visited.look)
        return (self.look.title, self.look.heading) == (visited.look.title, visited.look.heading)


def pieces_of(text: str) -> frozenset[int]:
    """A sample of the texts between the tags of a page."""
    texts = {" ".join(found[1].split()) for found in _PIECE.finditer(text)} - {""}
    return frozenset(sorted(zlib.crc32(each.encode("utf-8", "replace")) for each in texts)[:PIECES])


def is_doubtful(url: str, canonical: str, start: str) -> bool:
    """Whether `canonical` is likely to be a mistake of a template: the front page, or the first of a list."""
    is_front = canonical == start or ada_url.URL(canonical).pathname == "/"
    return is_front or bool(_NUMBER.search(url) and not _NUMBER.search(canonical))
