"""A crawl that is stopped, or whose loop is left, ends at once and leaves nothing behind."""

import gc
import threading
import time
from pathlib import Path

import pytest

from index_store.crawl import Crawl, CrawlOptions
from index_store.crawl.address import host_of
from index_store.crawl.requests.politeness import Paces
from tests.helpers.waiting import eventually
from tests.index_store.crawl.crawled import settings
from tests.servers.site_server import Misbehaviour, Reply, html

PATIENCE = 60
"""seconds for the end of a crawl"""


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    return tmp_path / "pages"


def crawl_of(url: str, folder: Path, paces: Paces | None = None, **values: object) -> Crawl:
    return Crawl(CrawlOptions(url=url), settings(**values), {}, folder, paces=paces)


def wait_until_left(site) -> None:
    assert eventually(lambda: not site.open_connections), "connections are still open"


@pytest.mark.parametrize("path", ["/", "/robots.txt", "/sitemap.xml", "/a"])
@pytest.mark.parametrize("page", [Misbehaviour.HANGS, Misbehaviour.DRIPS, Misbehaviour.NEVER_ENDS])
def test_a_stop_ends_a_crawl_in_the_midst_of_a_request(site, pages, path, page):
    site.pages = {"/": html("Home", "/a"), path: page} if path != "/" else {"/": page}
    crawl = crawl_of(site.url(), pages, crawl_timeout=10 * PATIENCE, max_file_mb=1000)
    got = []
    reader = threading.Thread(target=lambda: got.extend(crawl))
    reader.start()
    site.wait_for(path)
    if page is not Misbehaviour.HANGS:
        before = 1 if path in ("/a", "/sitemap.xml") else 0  # the first page
        assert eventually(lambda: len(list(pages.iterdir())) > before or not reader.is_alive())  # it is being read
    crawl.stop()
    reader.join(PATIENCE)
    assert not reader.is_alive()
    wait_until_left(site)
    assert set(pages.iterdir()) == {page.path for page in got}


@pytest.mark.timeout(50)  # seconds, less than the 100 between two requests
def test_a_stop_ends_a_crawl_that_waits_for_its_turn(site, pages):
    site.pages = {"/": html("Home", "/a"), "/a": html("A")}
    paces = Paces()
    crawl = crawl_of(site.url(), pages, paces, crawl_rate=0.01)
    got = []
    reader = threading.Thread(target=lambda: got.extend(crawl))
    reader.start()
    site.wait_for("/robots.txt")
    pace = paces.of(host_of(site.url()), 100)
    assert eventually(lambda: pace._next > time.monotonic() + 100)  # the turn of the second request is given away
    crawl.stop()
    reader.join()
    assert (got, site.paths) == ([], ["/robots.txt"])


def test_leaving_the_loop_ends_the_crawl_and_removes_what_was_not_taken(site, pages):
    site.pages = {"/": html("Home", *(f"/{n}" for n in range(50)))} | {f"/{n}": html(f"Page {n}") for n in range(50)}
    taken = crawl_of(site.url(), pages)
    for _ in taken:
        site.wait_for("/3")
        break
    wait_until_left(site)
    assert len(list(pages.iterdir())) <= 1
    assert "crawl" not in [thread.name for thread in threading.enumerate()]  # so no more will be asked


def test_an_error_in_the_loop_ends_the_crawl(site, pages):
    site.pages = {"/": html("Home", *(f"/{n}" for n in range(50)))} | {f"/{n}": html(f"Page {n}") for n in range(50)}

    def read() -> None:
        for _ in crawl_of(site.url(), pages):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        read()
    wait_until_left(site)


def test_a_stop_before_the_start_means_that_nothing_is_asked(site, pages):
    crawl = crawl_of(site.url(), pages)
    crawl.stop()
    assert list(crawl) == []
    assert site.paths == []


def test_a_stop_after_the_end_changes_nothing(site, pages):
    site.pages = {"/": html("Home")}
    crawl = crawl_of(site.url(), pages)
    assert len(list(crawl)) == 1
    crawl.stop()
    crawl.stop()


def test_a_folder_that_cannot_be_written_to_ends_the_crawl_with_that_error(site, tmp_path):
    (tmp_path / "pages").write_text("a file")
    site.pages = {"/": html("Home")}
    with pytest.raises(FileExistsError):
        list(crawl_of(site.url(), tmp_path / "pages"))


@pytest.mark.parametrize("moments", [8, pytest.param(40, marks=pytest.mark.soak)])
def test_a_stop_at_any_moment_leaves_no_file_no_connection_and_no_warning(site, pages, moments):
    closing = {"Connection": "close"}
    site.pages = {"/": html("Home", "/hangs", *(f"/{n}" for n in range(50))), "/hangs": Misbehaviour.HANGS}
    site.pages |= {f"/{n}": Reply(html(f"Page {n}").body, headers=closing) for n in range(50)}
    for moment in range(moments):
        crawl = crawl_of(site.url(), pages)
        timer = threading.Timer(moment * 0.12 / moments, crawl.stop)
        timer.start()
        for page in crawl:
            page.path.unlink()
        timer.join()
    gc.collect()  # Python warns of unfinished coroutines when it collects them
    assert not list(pages.iterdir())
    wait_until_left(site)


def test_two_crawls_side_by_side_do_not_mind_each_other(site, pages):
    site.pages = {"/": html("Home", *(f"/{n}" for n in range(8)))} | {f"/{n}": html(f"Page {n}") for n in range(8)}
    counts = []
    readers = [threading.Thread(target=lambda: counts.append(len(list(crawl_of(site.url(), pages))))) for _ in range(3)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(PATIENCE)
    assert counts == [9, 9, 9]
    assert len(list(pages.iterdir())) == 27
