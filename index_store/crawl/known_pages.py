"""The pages that are known from last time: which of them a crawl has not reached, and which are gone."""

from collections.abc import Callable, Iterable, Mapping

from index_store.crawl.records import CrawledPage, KnownPage, PageOutcome


class KnownPages:
    def __init__(self, pages: Mapping[str, KnownPage], wanted: Callable[[str], bool]) -> None:
        """`wanted`: whether an address fits the patterns of the crawl."""
        self.is_sure = False
        """whether the start still leads to known pages; otherwise it may be a page for maintenance or sign-in"""
        self.outcomes: dict[str, PageOutcome] = {}
        """of all pages that were delivered, new ones too"""
        self._pages = pages
        self._is_wanted = wanted
        self._beyond: set[str] = set()
        """known pages that are linked further away from the start than the depth"""
        self._moved_for_good: set[str] = set()

    def __contains__(self, url: str) -> bool:
        return url in self._pages

    def get(self, url: str) -> KnownPage | None:
        return self._pages.get(url)

    def note(self, page: CrawledPage) -> None:
        """The page was delivered."""
        self.outcomes[page.url] = page.outcome

    def note_links_beyond(self, links: Iterable[str]) -> None:
        """Links that are not followed, since they lead further away from the start than the depth."""
        self._beyond.update(link for link in links if link in self._pages)

    def note_moved_for_good(self, url: str) -> None:
        """The address only redirects from now on."""
        self._moved_for_good.add(url)

    def unreached(self) -> list[str]:
        """Those that were not delivered, though they are wanted."""
        return [url for url in self._undelivered() if self._is_wanted(url)]

    def gone(self, unreached: Iterable[str]) -> list[str]:
        """Those that the site has no more, or that are not wanted any more. `unreached`: pages that are gone unless a
        link still leads to them.
        """
        orphans = set(unreached) - self._linked_beyond()
        return [
            url
            for url in self._undelivered()
            if url in orphans or url in self._moved_for_good or not self._is_wanted(url)
        ]

    def keeps_any(self, urls: Iterable[str]) -> bool:
        """Whether one of these pages is there still, as far as this crawl can say."""
        lost = (PageOutcome.GONE, PageOutcome.FAILED)
        return any(self.outcomes.get(url) not in lost for url in urls)

    def _undelivered(self) -> list[str]:
        return [url for url in self._pages if url not in self.outcomes]

    def _linked_beyond(self) -> set[str]:
        """Known pages to which links still lead, over more links than the depth."""
        found: set[str] = set()
        waiting = list(self._beyond)
        while waiting:
            url = waiting.pop()
            if url in self._pages and url not in found:
                found.add(url)
                waiting.extend(self._pages[url].links)
        return found
