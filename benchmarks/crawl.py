"""How long a crawl takes, compared with the least time that its politeness allows.

    python -m benchmarks.crawl [--pages 200] [--at-once 4] [--rate 1000]

The site runs in another process and takes the same time for every page. The least time is the larger of pages / rate
and pages x time per page / pages at once. robots.txt, the site map and finding the first links need additional time.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.parts.child import serving
from benchmarks.parts.machine import Machine
from index_store.base.settings.settings import Settings
from index_store.crawl import Crawl, CrawlOptions, PageOutcome
from tests.servers.site_server import Reply, SiteServer, html

MOST = 1.3
"""most time, in multiples of the least: the project's target"""
LINKS = 20
"""links on each page"""
TEXT = "日当は1日2,500円です。宿泊を伴わないときは半額になります。" * 100


def serve(parent: Connection, pages: int, delay: float) -> None:
    """Runs until the parent closes its end or dies. Page n links to the next LINKS pages of a tree."""
    with SiteServer() as site:
        for number in range(pages):
            links = (f"/{child}" for child in range(LINKS * number + 1, LINKS * (number + 1) + 1) if child < pages)
            site.pages[f"/{number}"] = replace(html(f"Page {number}", *links, text=TEXT), delay=delay)
        site.otherwise = Reply("There is no such page.", 404, delay=delay)
        parent.send(site.url("/0"))
        parent.poll(None)


def crawl(url: str, pages: int, rate: float, at_once: int) -> float:
    """Returns seconds for all pages. Raises RuntimeError if some are missing."""
    settings = Settings(_env_file=None, crawl_allowed="127.0.0.1", crawl_rate=rate, crawl_at_once=at_once)
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        outcomes = [page.outcome for page in Crawl(CrawlOptions(url=url, depth=20), settings, {}, Path(folder))]
        seconds = time.perf_counter() - begun
    if outcomes != [PageOutcome.FETCHED] * pages:
        raise RuntimeError(f"{outcomes.count(PageOutcome.FETCHED)} of {pages} pages came")
    return seconds


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Times a crawl of a site of fixed speed.")
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--delay", type=float, default=0.1, help="seconds a page")
    parser.add_argument("--at-once", type=int, default=4, help="pages, as CRAWL_AT_ONCE")
    parser.add_argument("--rate", type=float, default=1000, help="requests a second, as CRAWL_RATE")
    given = parser.parse_args(arguments)
    settings = [(given.rate, given.at_once), (given.rate, 2 * given.at_once), (10 * given.at_once / 2, given.at_once)]
    machine = Machine()
    print("| rate, 1/s | at once | least, s | measured, s | ratio | at most |\n|--:|--:|--:|--:|--:|--:|")
    with serving(serve, given.pages, given.delay) as url:
        for rate, at_once in settings:
            least = max(given.pages / rate, given.pages * given.delay / at_once)
            seconds = crawl(url, given.pages, rate, at_once)
            print(f"| {rate:g} | {at_once} | {least:.2f} | {seconds:.2f} | {seconds / least:.3f} | {MOST:g} |")
    print(f"\n{given.pages} pages of {given.delay * 1000:g} ms. {machine}")


if __name__ == "__main__":
    main()
