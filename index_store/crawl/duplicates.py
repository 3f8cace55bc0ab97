"""Pages that have the content of another page, or name it as canonical. Each waits for that page, and is then compared
with it: some templates name the front page everywhere.
"""

import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
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


@dataclass(frozen=True)
class VisitedPage:
    """The result of visiting an address."""

    is_page: bool
    look: PageLook | None
    """None if it was not read, and nothing was kept of it from last time"""
    digest: str
    """of its content now; "" if it has none"""


@dataclass(frozen=True)
class Duplicate:
    """A page that waits for the one that it seems to duplicate."""

    visit: CrawlVisit
    look: PageLook | None
    """None if its content is the same"""
    is_doubtful: bool = False
    """whether it must have the same text"""
    digest: str = ""
    """of its content, if that is the same"""

    def is_of(self, visited: VisitedPage) -> bool:
        if not visited.is_page:
            return False
        if self.look is None:
            # Known from last time, the original may have another content now: a news page whose text moved on.
            return visited.digest == self.digest
        if visited.look is None:
            return not self.is_doubtful
        if self.is_doubtful or (self.look.pieces and not self.look.title):
            return self.look.has_text_of(visited.look)
        return (self.look.title, self.look.heading) == (visited.look.title, visited.look.heading)


class Duplicates:
    def __init__(self, digests: Mapping[str, str], looks: Mapping[str, PageLook]) -> None:
        """The digests of the contents of the pages known from last time, and their looks, by address."""
        self._digests = dict(digests)
        self._of_digest = {digest: url for url, digest in digests.items()}
        self._looks = dict(looks)
        self._visited: dict[str, VisitedPage] = {}
        self._waiting: dict[str, list[Duplicate]] = defaultdict(list)
        """by the address that they wait for"""

    def with_content(self, digest: str) -> str | None:
        """The address of the page that has this content."""
        return self._of_digest.get(digest)

    def add_look(self, url: str, look: PageLook) -> None:
        """Adds the look of a page that may be a duplicate itself."""
        self._looks[url] = look

    def is_called_like(self, start: str, look: PageLook) -> bool:
        """Whether it has title and heading of the start, which are then the site's and not the page's."""
        its = self._looks.get(start)
        return its is not None and (its.title, its.heading) == (look.title, look.heading)

    def is_one(self, page: Duplicate, original: str) -> bool:
        """Whether the page is a duplicate of `original`. Until that page has come, the duplicate waits for it."""
        visited = self._visited.get(original)
        if visited:
            return page.is_of(visited)
        if page.visit.stands_alone:
            return False
        self._waiting[original].append(page)
        return True

    def add_page(self, url: str, digest: str, look: PageLook) -> None:
        """Adds a page of its own, with which others are compared."""
        self._digests[url] = digest
        self._of_digest[digest] = url
        self._looks[url] = look

    def conclude(self, url: str, *, is_page: bool) -> list[CrawlVisit]:
        """Ends the visit of an address. Returns the pages that waited for it and differ from it: each stands alone."""
        visited = self._visited[url] = VisitedPage(is_page, self._looks.get(url), self._digests.get(url, ""))
        return _alone(page for page in self._waiting.pop(url, ()) if not page.is_of(visited))

    def take_waiting(self) -> list[CrawlVisit]:
        """The pages that wait for one that did not come: each stands alone."""
        waiting = [page for pages in self._waiting.values() for page in pages]
        self._waiting.clear()
        return _alone(waiting)


def _alone(pages: Iterable[Duplicate]) -> list[CrawlVisit]:
    return [page.visit.alone() for page in pages]


def pieces_of(text: str) -> frozenset[int]:
    """A sample of the texts between the tags of a page."""
    texts = {" ".join(found[1].split()) for found in _PIECE.finditer(text)} - {""}
    return frozenset(sorted(zlib.crc32(each.encode("utf-8", "replace")) for each in texts)[:PIECES])


def is_doubtful(url: str, canonical: str, start: str) -> bool:
    """Whether `canonical` is likely to be a mistake of a template: the front page, or the first of a list."""
    is_front = canonical == start or ada_url.URL(canonical).pathname == "/"
    return is_front or bool(_NUMBER.search(url) and not _NUMBER.search(canonical))
