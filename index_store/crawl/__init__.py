"""A site to its pages: politely, within limits, and never into the network that the app stands in."""

from index_store.crawl.crawl import Crawl
from index_store.crawl.options import CrawlOptions
from index_store.crawl.pages import CrawledPage, KnownPage, PageOutcome

__all__ = ["Crawl", "CrawlOptions", "CrawledPage", "KnownPage", "PageOutcome"]
