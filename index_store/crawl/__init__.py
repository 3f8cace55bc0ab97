"""Crawls a site: politely, within limits, and never into the internal network."""

from index_store.crawl.crawl import Crawl
from index_store.crawl.records import CrawledPage, CrawlOptions, KnownPage, PageOutcome
from index_store.crawl.requests.politeness import Paces

__all__ = ["Crawl", "CrawlOptions", "CrawledPage", "KnownPage", "Paces", "PageOutcome"]
