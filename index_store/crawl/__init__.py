"""A site to its pages: politely, within limits, and never into the network that the app stands in."""

from index_store.crawl.crawl import Crawl
from index_store.crawl.politeness import Paces
from index_store.crawl.records import CrawledPage, CrawlOptions, KnownPage, PageOutcome

__all__ = ["Crawl", "CrawlOptions", "CrawledPage", "KnownPage", "Paces", "PageOutcome"]
