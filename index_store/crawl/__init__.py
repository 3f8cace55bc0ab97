"""Crawls a site: politely, within limits, and never into the internal network."""

from index_store.crawl.crawl import Crawl
from index_store.crawl.politeness import Paces
from index_store.crawl.records import CrawledPage, CrawlOptions, KnownPage, PageOutcome

__all__ = ["Crawl", "CrawlOptions", "CrawledPage", "KnownPage", "Paces", "PageOutcome"]
