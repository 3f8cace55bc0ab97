"""A site becomes documents: its pages, as the crawler brings them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Row

from index_store.catalogue import Draft
from index_store.crawl import Crawl, CrawledPage, KnownPage, PageOutcome
from index_store.ingestion.outcomes import unchanged
from index_store.ingestion.progress import Course, Item, Stage
from index_store.ingestion.reception import Reception
from index_store.ingestion.sources import SiteSource
from index_store.ingestion.stop import Stop
from index_store.ingestion.workshop import Workshop
from index_store.library.versions import Arrival

NOTHING_KNOWN = KnownPage(etag=None, last_modified=None, digest="", links=())
"""of a page that has no version that is ready: it is fetched anew, and may be gone"""


class SiteFeeder:
    """One is crawled after another."""

    def __init__(self, workshop: Workshop, course: Course, stop: Stop, reception: Reception) -> None:
        self._shop = workshop
        self._course = course
        self._stop = stop
        self._reception = reception
        self._crawl: Crawl | None = None

    @property
    def waiting(self) -> int:
        """Pages of a site that are known of and not fetched yet; of a crawl that goes on, one at least."""
        crawl = self._crawl
        return max(crawl.waiting, 1) if crawl else 0

    def interrupt(self) -> None:
        """After `stop` was set: ends the crawl that is under way."""
        crawl = self._crawl
        if crawl:
            crawl.stop()

    def note(self, index: Row, site: SiteSource) -> None:
        if not site.parent:
            options = site.options.model_dump(mode="json")
            self._shop.library.catalogue.sites.begin_crawl(index.id, site.options.url, options)

    def drafts(self, index: Row, site: SiteSource, item: Item) -> Iterator[tuple[Draft, Item]]:
        """The documents of a site, as its pages come."""
        catalogue = self._shop.library.catalogue
        parent = site.parent or site.options.url
        # A single page that is tried again says nothing of the others.
        pages = {} if site.parent else catalogue.sites.known_pages(index.id, parent)
        known = {url: KnownPage(**page) if page else NOTHING_KNOWN for url, page in pages.items()}
        item.stage = Stage.READING
        answers = False
        with self._shop.library.originals.work_folder() as folder:
            self._crawl = Crawl(site.options, self._shop.settings, known, folder)
            if self._stop.is_set:
                self._crawl.stop()
            for page in self._crawl:
                if not site.parent and not catalogue.sites.has(index.id, parent):
                    break  # it was removed
                answers |= page.outcome is not PageOutcome.FAILED
                if item in self._course.items:
                    self._course.items.remove(item)
                each = self._course.add(page.url, page.path.stat().st_size if page.path else 0)
                draft = self._take_page(index, page, parent, each)
                if draft:
                    yield draft, each
            self._crawl = None
        if item in self._course.items:
            self._course.items.remove(item)
        if not site.parent and not self._stop.is_suspended:
            catalogue.sites.end_crawl(index.id, parent, is_complete=answers and not self._stop.is_set)

    def _take_page(self, index: Row, page: CrawledPage, parent: str, item: Item) -> Draft | None:
        row = self._shop.library.catalogue.documents.of_source(index.id, page.url)
        arrival = Arrival(page.url, page.name or page.url, "", page.path or Path(), True, parent, page.charset)
        match page.outcome:
            case PageOutcome.FETCHED:
                known = KnownPage(
                    etag=page.etag, last_modified=page.last_modified, digest=page.digest, links=page.links
                )
                return self._reception.begin(index, replace(arrival, known=known.model_dump(mode="json")), item)
            case PageOutcome.UNCHANGED if row:
                self._shop.intake.settle(row, None)
                self._reception.settle(item, unchanged(row))
            case PageOutcome.GONE if row:
                self._course.items.remove(item)
                self._shop.library.remove([row])
                self._reception.tell_removed([row])
            case PageOutcome.FAILED if page.error:
                self._reception.refuse(index, arrival, item, page.error)
            case _:
                self._course.items.remove(item)
        return None
