"""Turns a site into pending versions: one per crawled page."""

from collections.abc import Iterator
from pathlib import Path

from index_store.base.errors import Superseded
from index_store.catalogue.pending_versions import PendingVersion
from index_store.catalogue.records import IndexRecord
from index_store.catalogue.sites import NOTHING_KNOWN
from index_store.crawl import Crawl, CrawledPage, KnownPage, PageOutcome
from index_store.ingestion.context import JobContext
from index_store.ingestion.progress import Item, Stage
from index_store.ingestion.sources import SiteSource
from index_store.ingestion.stages.admission import SourceAdmission
from index_store.ingestion.stages.completion import DocumentTask
from index_store.library.versions import IncomingFile


class SiteAdmission:
    """Crawls sites one after another."""

    def __init__(self, context: JobContext, admission: SourceAdmission) -> None:
        self._services = context.services
        self._catalogue = context.services.library.catalogue
        self._items = context.items
        self._stop = context.stop
        self._admission = admission
        self._crawl: Crawl | None = None

    @property
    def waiting(self) -> int:
        """Pages of a site that are known and not fetched yet; at least one while a crawl runs."""
        crawl = self._crawl
        return max(crawl.waiting, 1) if crawl else 0

    def interrupt(self) -> None:
        """Ends the running crawl. Call it after `stop` is set."""
        crawl = self._crawl
        if crawl:
            crawl.stop()

    def note(self, index: IndexRecord, site: SiteSource) -> None:
        """Records the site, so that the next start continues if the process dies before the crawl ends."""
        if not site.parent:
            options = site.options.model_dump(mode="json")
            self._catalogue.sites.begin_crawl(index.id, site.options.url, options)

    def tasks(self, index: IndexRecord, site: SiteSource, item: Item) -> Iterator[DocumentTask]:
        """Yields the documents of a site as its pages come."""
        parent = site.parent or site.options.url
        # A single page that is tried again tells nothing about the other pages. It is fetched as if for the first time.
        single = {site.options.url: NOTHING_KNOWN}
        known = single if site.parent else self._catalogue.sites.known_pages(index.id, parent)
        item.stage = Stage.READING
        answers = False
        with self._services.library.originals.work_folder() as folder:
            crawl = Crawl(site.options, self._services.settings, known, folder, paces=self._services.paces)
            self._crawl = crawl
            if self._stop.is_set:
                crawl.stop()
            try:
                for page in crawl:
                    if not site.parent and not self._catalogue.sites.has(index.id, parent):
                        break  # the site was removed
                    answers |= page.outcome is not PageOutcome.FAILED
                    self._items.remove(item)
                    each = self._items.add(page.url, page.path.stat().st_size if page.path else 0)
                    try:
                        version = self._admit_page(index, page, parent, each)
                    except Exception as error:
                        self._items.remove(each)
                        if isinstance(error, Superseded):  # its site was removed at this moment
                            continue
                        raise
                    if version:
                        yield DocumentTask(version, each)
            finally:
                self._crawl = None
        self._items.remove(item)
        if not site.parent and not self._stop.is_suspended:
            is_complete = answers and not crawl.gave_up and not self._stop.is_set
            self._catalogue.sites.end_crawl(index.id, parent, is_complete=is_complete)

    def _admit_page(self, index: IndexRecord, page: CrawledPage, parent: str, item: Item) -> PendingVersion | None:
        document = self._catalogue.documents.of_source(index.id, page.url)
        if document and document.parent and self._catalogue.sites.has(index.id, document.parent):
            parent = document.parent  # two sites may overlap: the page stays with the first, which alone removes it
        known = KnownPage(
            etag=page.etag, last_modified=page.last_modified, digest=page.digest, links=page.links, look=page.look
        )
        file = IncomingFile(
            page.url, page.name or page.url, "", page.path or Path(), True, parent, page.charset,
            page=known.model_dump(mode="json") if page.outcome is PageOutcome.FETCHED else None,
        )  # fmt: skip
        match page.outcome:
            case PageOutcome.FETCHED:
                return self._admission.admit(index, file, item)
            case PageOutcome.UNCHANGED if document:
                self._admission.confirm(document, item)
            case PageOutcome.GONE if document:
                self._items.remove(item)
                self._services.library.remove([document])
                self._admission.tell_removed([document])
            case PageOutcome.FAILED if page.error:
                self._admission.refuse(index, file, item, page.error)
            case PageOutcome.KEPT if page.error:
                self._admission.tell(item, page.error)
            case _:
                self._items.remove(item)
        return None
