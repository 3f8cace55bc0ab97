import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from index_store.base.settings.settings import Settings
from index_store.crawl import CrawlOptions
from index_store.crawl.requests import politeness
from index_store.ingestion.sources import FileSource, SiteSource
from index_store.store.index_store import IndexStore
from index_store.store.user_ingestion import UserIngestion
from tests.helpers.back_doors import catalogue_of
from tests.helpers.waiting import eventually
from tests.index_store.embedding_service import EmbeddingService
from tests.index_store.soundness import assert_sound, originals
from tests.servers.site_server import Asked, Reply, SiteServer, html, moved, with_etag

Write = Callable[..., Path]

PATIENCE = 60.0
"""seconds that a page is held at most"""


@pytest.fixture
def site() -> Iterator[SiteServer]:
    """A start page with three pages below it."""
    with SiteServer() as site:
        site.pages = {
            "/": html("Start", "/a", "/b", "/c", text="This is where it begins."),
            "/a": html("Apples", text="Apples are red."),
            "/b": html("Pears", text="Pears are green."),
            "/c": html("Plums", text="Plums are blue."),
        }
        yield site


@pytest.fixture
def crawling(serviced: Settings) -> Settings:
    """Settings that allow the addresses of this machine to be crawled, without pauses. A page may be held for long."""
    return serviced.model_copy(
        update={"crawl_allowed": "127.0.0.1", "crawl_rate": 1000.0, "crawl_timeout": 2 * PATIENCE}
    )


@pytest.fixture
def store(crawling: Settings) -> Iterator[IndexStore]:
    with IndexStore(crawling) as store:
        yield store


def crawled(store: IndexStore, site: SiteServer, path: str = "/", **options: object) -> UserIngestion:
    return store.ingest("a", [SiteSource(CrawlOptions(url=site.url(path), **options))])


def outcome(site: SiteServer, job: UserIngestion) -> dict[str, str]:
    """Path of each page -> its status, or the code of its error."""
    job.wait()
    assert job.failure is None
    assert len(job.results) == len(job.items)
    return {_path(site, each.source): each.error.code if each.error else each.status.value for each in job.results}


def stood(store: IndexStore, site: SiteServer) -> dict[str, str]:
    return {_path(site, each.source): each.status.value for each in store.documents()}


def _path(site: SiteServer, url: str) -> str:
    return url.removeprefix(site.url(""))


def found(store: IndexStore, question: str) -> str:
    return store.search("a", question, k=1)[0].text


class Gate:
    """A page that is sent only after `open` was called."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._is_open = threading.Event()

    def open(self) -> None:
        self._is_open.set()

    def __call__(self, _: Asked) -> Reply:
        assert self._is_open.wait(PATIENCE)
        return self._reply


def test_the_pages_of_a_site_are_documents_below_its_address(
    store: IndexStore, site: SiteServer, crawling: Settings
) -> None:
    site.pages["/c"] = Reply(
        "<title>李</title><p>すももは青い。</p>".encode("cp932"), content_type="text/html; charset=cp932"
    )
    job = crawled(store, site)
    assert outcome(site, job) == {"/": "ready", "/a": "ready", "/b": "ready", "/c": "ready"}
    assert job.progress.share == 1
    assert {each.parent for each in store.documents()} == {site.url()}
    (page,) = [each for each in store.documents() if each.source == site.url("/c")]
    assert (page.title, page.kind) == ("李", "html")
    assert store.original(page.id).charset == "cp932"
    assert found(store, "すももは何色") == "すももは青い。"
    (kept,) = store.sites("a")
    assert (kept.options.url, kept.is_crawling) == (site.url(), False)
    assert kept.crawled_at
    assert_sound(store, crawling.data_dir)


def test_options_are_carried_through_and_kept_with_the_site(store: IndexStore, site: SiteServer) -> None:
    site.pages |= {
        "/docs/": html("Docs", "/docs/1", "/docs/old/2", "/blog/3"),
        "/docs/1": html("One", "/docs/deep"),
        "/docs/deep": html("Deep", "/docs/deeper"),
        "/docs/deeper": html("Deeper"),
    }
    options = {"depth": 2, "limit": 50, "include": ("/docs/*",), "exclude": ("/docs/old/*",)}
    job = crawled(store, site, "/docs/", **options)
    assert outcome(site, job).keys() == {"/docs/", "/docs/1", "/docs/deep"}
    assert store.sites("a")[0].options == CrawlOptions(url=site.url("/docs/"), **options)
    # The next options replace these.
    assert outcome(site, crawled(store, site, "/docs/", depth=1, include=("/docs/*",))) == {
        "/docs/": "unchanged", "/docs/1": "unchanged"
    }  # fmt: skip
    assert [each.options.depth for each in store.sites("a")] == [1]
    assert stood(store, site)["/docs/deep"] == "ready"  # what lies further away than the new depth stays
    options = {"depth": 1, "exclude": ("/docs/d*",)}
    assert outcome(site, crawled(store, site, "/docs/", **options))["/docs/deep"] == "removed"


@pytest.mark.soak
def test_pages_are_kept_while_the_start_is_under_maintenance_and_the_result_says_so(
    store: IndexStore, site: SiteServer, crawling: Settings
) -> None:
    crawled(store, site).wait()
    site.pages["/"] = html("We are back soon.")
    job = crawled(store, site)
    assert outcome(site, job) == {"/": "known_pages_kept", "/a": "unchanged", "/b": "unchanged", "/c": "unchanged"}
    assert stood(store, site) == dict.fromkeys(("/", "/a", "/b", "/c"), "ready")
    assert [each.error for each in store.documents()] == [None] * 4
    assert_sound(store, crawling.data_dir)


def test_no_more_pages_are_added_than_the_limit(store: IndexStore, site: SiteServer) -> None:
    assert len(outcome(site, crawled(store, site, limit=2))) == 2
    assert len(store.documents()) == 2


@pytest.mark.parametrize("tagged", [True, pytest.param(False, marks=pytest.mark.soak)], ids=["with tags", "without"])
def test_what_has_not_changed_is_not_embedded_again(
    store: IndexStore, site: SiteServer, service: EmbeddingService, crawling: Settings, tagged: bool
) -> None:
    if tagged:
        site.pages = {path: with_etag(page) for path, page in site.pages.items()}
    crawled(store, site).wait()
    before = len(service.texts), stood(store, site), {each.id for each in store.documents()}
    assert set(outcome(site, crawled(store, site)).values()) == {"unchanged"}
    assert (len(service.texts), stood(store, site), {each.id for each in store.documents()}) == before
    assert_sound(store, crawling.data_dir)


def test_a_second_crawl_takes_what_changed_what_is_new_what_is_gone_and_what_has_moved(
    store: IndexStore, site: SiteServer, crawling: Settings
) -> None:
    crawled(store, site).wait()
    site.pages |= {
        "/": html("Start", "/a", "/b", "/c", "/d", text="This is where it begins, with figs."),
        "/a": html("Apples", text="Apples are yellow."),
        "/c": moved("/z"),
        "/z": html("Plums", text="Plums are violet."),
        "/d": html("Figs", text="Figs are brown."),
    }
    del site.pages["/b"]
    assert outcome(site, crawled(store, site)) == {
        "/": "ready", "/a": "ready", "/b": "removed", "/c": "removed", "/d": "ready", "/z": "ready"
    }  # fmt: skip
    assert stood(store, site) == dict.fromkeys(("/", "/a", "/d", "/z"), "ready")
    assert found(store, "Apples are red.") == "Apples are yellow."
    assert len(originals(crawling.data_dir)) == 4
    assert_sound(store, crawling.data_dir)


@pytest.mark.parametrize("is_tagged", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_new_page_is_added_though_its_template_names_a_page_as_canonical_that_has_not_changed(
    store: IndexStore, site: SiteServer, is_tagged: bool
) -> None:
    head = '<link rel="canonical" href="/news">'
    news = html("News", text="Choose an article.", head=head)
    site.pages = {
        "/": html("Start", "/news", "/news?id=1"),
        "/news": with_etag(news) if is_tagged else news,
        "/news?id=1": html("Holidays", text="The office is closed in August.", head=head),
    }
    crawled(store, site).wait()
    site.pages |= {
        "/": html("Start", "/news", "/news?id=1", "/news?id=2", "/news?from=start"),
        "/news?id=2": html("Allowances", text="The allowance is 3,000 yen.", head=head),
        "/news?from=start": html("News", text="Choose one of the articles.", head=head),
    }
    assert outcome(site, crawled(store, site)) == {
        "/": "ready", "/news": "unchanged", "/news?id=1": "unchanged", "/news?id=2": "ready"
    }  # fmt: skip


def test_a_page_that_fails_for_now_keeps_its_version_and_says_why_until_it_is_tried_again_alone(
    store: IndexStore, site: SiteServer, crawling: Settings
) -> None:
    crawled(store, site).wait()
    site.pages["/a"] = Reply(status=500)
    assert outcome(site, crawled(store, site)) == {
        "/": "unchanged", "/a": "page_failed", "/b": "unchanged", "/c": "unchanged"
    }  # fmt: skip
    assert found(store, "Apples are red.") == "Apples are red."
    (failed,) = [each for each in store.documents() if each.error]
    assert (_path(site, failed.source), failed.status) == ("/a", "ready")

    asked = len(site.paths)
    assert outcome(site, store.retry("a")) == {"/a": "page_failed"}
    site.pages["/a"] = html("Apples", "/new", text="Apples are yellow.")
    assert outcome(site, store.retry("a")) == {"/a": "ready"}
    assert set(site.paths[asked:]) <= {"/robots.txt", "/a"}
    assert "Apples are yellow." in found(store, "Apples are red.")
    assert stood(store, site) == dict.fromkeys(("/", "/a", "/b", "/c"), "ready")
    assert {each.parent for each in store.documents()} == {site.url()}
    assert_sound(store, crawling.data_dir)


@pytest.mark.soak  # without a re-index: above; a file: tests/index_store/ingestion/test_ingest.py
def test_a_page_that_failed_is_still_told_and_tried_again_after_the_index_was_re_indexed(
    store: IndexStore, site: SiteServer
) -> None:
    crawled(store, site).wait()
    site.pages["/a"] = Reply(status=500)
    crawled(store, site).wait()
    assert set(outcome(site, store.reindex("a")).values()) == {"ready"}
    (failed,) = [each for each in store.documents() if each.error]
    assert (_path(site, failed.source), failed.error.code) == ("/a", "page_failed")
    site.pages["/a"] = html("Apples", text="Apples are yellow.")
    assert outcome(site, store.retry("a")) == {"/a": "ready"}
    assert not [each for each in store.documents() if each.error]


def test_a_single_page_that_moved_for_good_goes_and_comes_under_its_new_address(
    store: IndexStore, site: SiteServer, crawling: Settings
) -> None:
    crawled(store, site).wait()
    site.pages |= {"/a": moved("/z", 301), "/z": html("Apples", text="Apples are yellow.")}
    page = SiteSource(CrawlOptions(url=site.url("/a"), depth=0, limit=1), parent=site.url())
    assert outcome(site, store.ingest("a", [page])) == {"/z": "ready", "/a": "removed"}
    assert stood(store, site) == dict.fromkeys(("/", "/b", "/c", "/z"), "ready")
    assert_sound(store, crawling.data_dir)


def test_a_page_that_never_came_is_listed_and_can_be_tried_again(store: IndexStore, site: SiteServer) -> None:
    site.pages["/a"] = Reply(status=500)
    assert outcome(site, crawled(store, site))["/a"] == "page_failed"
    assert stood(store, site)["/a"] == "failed"
    site.pages["/a"] = html("Apples", text="Apples are red.")
    assert outcome(site, store.retry("a")) == {"/a": "ready"}
    assert set(outcome(site, crawled(store, site)).values()) == {"unchanged"}


def test_a_site_that_was_down_when_it_was_added_is_fetched_whole_by_a_retry(
    store: IndexStore, site: SiteServer, crawling: Settings
) -> None:
    working, site.pages = site.pages, {"/": Reply(status=500)}
    assert outcome(site, crawled(store, site, limit=3)) == {"/": "page_failed"}
    site.pages = working
    (failed,) = store.documents()
    assert len(outcome(site, store.retry("a", [failed.id]))) == 3
    assert [each.options.limit for each in store.sites("a")] == [3]
    assert_sound(store, crawling.data_dir)


def test_a_first_page_that_only_redirects_is_no_failure_any_more_when_the_site_answers_again(
    store: IndexStore, site: SiteServer
) -> None:
    site.pages = {"/": Reply(status=500)}
    crawled(store, site).wait()
    site.pages = {"/": moved("/ja/"), "/ja/": html("Start", "/ja/a"), "/ja/a": html("Apples")}
    assert outcome(site, store.retry("a")) == {"/": "removed", "/ja/": "ready", "/ja/a": "ready"}
    assert stood(store, site) == dict.fromkeys(("/ja/", "/ja/a"), "ready")


def test_a_page_that_redirects_for_now_stays_after_its_index_was_rebuilt(
    store: IndexStore, site: SiteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(politeness, "RETRY_AFTER", 0.05)
    crawled(store, site).wait()
    store.reindex("a").wait()
    site.pages["/"] = moved("/maintenance")
    site.pages["/maintenance"] = Reply(status=503)
    crawled(store, site).wait()
    assert stood(store, site)["/"] == "ready"


@pytest.mark.no_queue  # it goes on by itself
def test_a_retry_goes_on_with_a_crawl_that_was_interrupted(crawling: Settings, site: SiteServer) -> None:
    site.pages["/b"] = Gate(html("Pears"))
    with IndexStore(crawling) as store:
        crawled(store, site)
        site.wait_for("/b")
    site.pages["/b"].open()
    with IndexStore(crawling) as store:
        assert store.sites("a")[0].is_crawling
        store.retry("a", []).wait()
        assert store.sites("a")[0].is_crawling  # these documents were asked for, and no site
        store.retry("a").wait()
        assert stood(store, site) == dict.fromkeys(("/", "/a", "/b", "/c"), "ready")
        assert not store.sites("a")[0].is_crawling
        assert store.retry("a").wait() == ()


def test_a_retry_leaves_a_crawl_alone_that_is_at_work(store: IndexStore, site: SiteServer) -> None:
    site.pages["/b"] = Gate(html("Pears"))
    job = crawled(store, site)
    site.wait_for("/b")
    assert eventually(lambda: len(job.results) == 3)
    assert store.retry("a").wait() == ()
    site.pages["/b"].open()
    assert len(outcome(site, job)) == 4


@pytest.mark.soak  # one page that failed, and a site that was down at first: above
def test_a_retry_takes_all_pages_when_the_whole_site_had_failed(store: IndexStore, site: SiteServer) -> None:
    crawled(store, site).wait()
    working, site.pages = site.pages, dict.fromkeys(site.pages, Reply(status=500))
    assert set(outcome(site, crawled(store, site)).values()) == {"page_failed"}
    site.pages = working
    job = store.retry("a")
    assert outcome(site, job).keys() == {"/", "/a", "/b", "/c"}
    assert [each.error for each in store.documents()] == [None] * 4


@pytest.mark.parametrize(
    "model", [pytest.param("model-a", marks=pytest.mark.soak), "model-b"], ids=["the same model", "another model"]
)
def test_the_pages_of_a_site_are_read_again_when_its_index_is_rebuilt(
    store: IndexStore, site: SiteServer, crawling: Settings, model: str
) -> None:
    crawled(store, site).wait()
    store.close()
    with IndexStore(crawling.model_copy(update={"embedding_model": model})) as again:
        every = dict.fromkeys(("/", "/a", "/b", "/c"), "ready")
        assert outcome(site, again.reindex("a")) == every
        assert stood(again, site) == every
        assert "Apples are red." in found(again, "Apples are red.")
        assert_sound(again, crawling.data_dir)


def test_a_page_without_text_fails_and_the_others_are_added(store: IndexStore, site: SiteServer) -> None:
    site.pages["/a"] = Reply("<title></title><body></body>")
    assert outcome(site, crawled(store, site)) == {
        "/": "ready",
        "/a": "page_without_text",
        "/b": "ready",
        "/c": "ready",
    }


@pytest.mark.soak
def test_a_crawl_that_was_given_up_says_so_and_is_not_called_complete(
    store: IndexStore, site: SiteServer, crawling: Settings
) -> None:
    gone = {f"/{number}": Reply(status=503, headers={"Retry-After": "3600"}) for number in range(30)}
    site.pages |= {"/": html("Start", "/a", *gone), **gone}
    job = crawled(store, site)
    codes = [each.error.code for each in job.wait() if each.error]
    assert codes.count("site_given_up") == 1
    assert 10 <= codes.count("site_unavailable") < 20
    assert {stood(store, site)[path] for path in ("/", "/a")} == {"ready"}
    assert [(each.is_crawling, each.crawled_at) for each in store.sites("a")] == [(False, None)]
    assert_sound(store, crawling.data_dir)
    # Once its first page fails too, that says enough.
    site.pages |= {"/": Reply(status=500)}
    assert set(outcome(site, crawled(store, site)).values()) == {"unchanged", "page_failed", "site_unavailable"}
    assert store.sites("a")[0].crawled_at is None


def test_pages_that_robots_txt_forbids_from_now_on_go(store: IndexStore, site: SiteServer) -> None:
    crawled(store, site).wait()
    site.pages["/robots.txt"] = Reply("User-agent: *\nDisallow: /b", content_type="text/plain")
    assert outcome(site, crawled(store, site))["/b"] == "removed"
    assert "/b" not in stood(store, site)
    site.pages["/robots.txt"] = Reply("User-agent: *\nDisallow: /", content_type="text/plain")
    assert outcome(site, crawled(store, site)) == {"/": "robots_forbids"}
    assert stood(store, site) == dict.fromkeys(("/", "/a", "/c"), "ready")


def test_nothing_goes_when_the_whole_site_fails(store: IndexStore, site: SiteServer, crawling: Settings) -> None:
    crawled(store, site).wait()
    site.pages = dict.fromkeys(site.pages, Reply(status=500))
    assert set(outcome(site, crawled(store, site)).values()) == {"page_failed"}
    assert stood(store, site) == dict.fromkeys(("/", "/a", "/b", "/c"), "ready")
    assert found(store, "Apples are red.") == "Apples are red."
    assert_sound(store, crawling.data_dir)


def test_an_address_inside_is_refused_with_the_setting_that_would_allow_it(
    serviced: Settings, site: SiteServer
) -> None:
    with IndexStore(serviced) as store:
        (result,) = crawled(store, site).wait()
        assert result.error
        assert result.error.code == "address_inside"
        assert "CRAWL_ALLOWED" in result.error.en
        assert "CRAWL_ALLOWED" in result.error.ja
        assert site.paths == []
        assert [each.status for each in store.documents()] == ["failed"]
        assert [each.crawled_at for each in store.sites("a")] == [None]


def test_a_cancelled_crawl_leaves_the_pages_that_were_done(
    store: IndexStore, site: SiteServer, crawling: Settings
) -> None:
    site.pages["/b"] = Gate(html("Pears"))
    job = crawled(store, site)
    site.wait_for("/b")
    assert eventually(lambda: len(job.results) == 3)
    assert job.progress.share < 1
    assert store.sites("a")[0].is_crawling
    job.cancel()
    job.wait()
    assert stood(store, site) == dict.fromkeys(("/", "/a", "/c"), "ready")
    (kept,) = store.sites("a")
    assert (kept.is_crawling, kept.crawled_at) == (False, None)
    assert_sound(store, crawling.data_dir)
    site.pages["/b"].open()
    assert outcome(site, crawled(store, site)) == {
        "/": "unchanged",
        "/a": "unchanged",
        "/b": "ready",
        "/c": "unchanged",
    }


@pytest.mark.usefixtures("impatient")
def test_a_crawl_in_the_midst_of_which_the_store_is_closed_goes_on_at_the_next_start(
    crawling: Settings, site: SiteServer, service: EmbeddingService
) -> None:
    site.pages["/b"] = Gate(html("Pears", "/d"))
    site.pages["/d"] = html("Figs")
    with IndexStore(crawling) as store:
        service.is_held = True
        crawled(store, site)
        site.wait_for("/b")
        assert eventually(lambda: list(stood(store, site).values()) == ["pending"] * 3)
    service.is_held = False
    site.pages["/b"].open()
    with IndexStore(crawling) as store:
        assert store.sites("a")[0].is_crawling
        (job,) = store.resume()
        assert outcome(site, job).keys() == {"/", "/a", "/b", "/c", "/d"}
        assert set(outcome(site, job).values()) <= {"ready", "unchanged"}
        assert stood(store, site) == dict.fromkeys(("/", "/a", "/b", "/c", "/d"), "ready")
        assert not store.sites("a")[0].is_crawling
        assert store.resume() == []
        assert_sound(store, crawling.data_dir)


@pytest.mark.soak  # pages of a crawl that is at work wait too: above
@pytest.mark.usefixtures("impatient")
def test_pages_that_wait_for_the_model_when_the_store_is_closed_are_added_at_the_next_start(
    crawling: Settings, site: SiteServer, service: EmbeddingService
) -> None:
    with IndexStore(crawling) as store:
        service.is_held = True
        crawled(store, site)
        assert eventually(lambda: stood(store, site) == dict.fromkeys(("/", "/a", "/b", "/c"), "pending"))
        assert eventually(lambda: not store.sites("a")[0].is_crawling)
    service.is_held = False
    with IndexStore(crawling) as store:
        (job,) = store.resume()
        # With a queue, a crawl that had ended at this very moment is made again, and finds its pages unchanged.
        assert set(outcome(site, job).values()) <= {"ready", "unchanged"}
        assert stood(store, site) == dict.fromkeys(("/", "/a", "/b", "/c"), "ready")
        assert_sound(store, crawling.data_dir)


@pytest.mark.soak
def test_no_site_is_lost_when_the_store_is_closed_as_soon_as_it_is_given(
    crawling: Settings, site: SiteServer, service: EmbeddingService, write: Write
) -> None:
    with IndexStore(crawling) as store, SiteServer() as other:
        other.pages["/"] = Gate(html("Other"))
        sources = [SiteSource(CrawlOptions(url=each.url())) for each in (other, site)]
        store.ingest("a", [*sources, FileSource(write("a.md"))])
        other.wait_for("/")
        other.pages["/"].open()
    with IndexStore(crawling) as store:
        assert {each.options.url for each in store.sites("a")} >= {site.url()}
        for job in store.resume():
            job.wait()
        assert {site.url(path) for path in ("/", "/a", "/b", "/c")} <= {each.source for each in store.documents()}


def test_a_site_is_removed_with_all_its_pages(store: IndexStore, site: SiteServer, crawling: Settings) -> None:
    crawled(store, site).wait()
    assert len(store.remove("a", site.url())) == 4
    assert (store.documents(), store.sites("a"), originals(crawling.data_dir)) == ([], [], [])
    assert_sound(store, crawling.data_dir)
    # The same for a site of which no page was ever fetched.
    site.pages = {"/": Reply(status=500)}
    crawled(store, site).wait()
    assert len(store.remove("a", site.url())) == 1
    assert store.sites("a") == []


def test_one_page_can_be_removed_by_its_address(store: IndexStore, site: SiteServer) -> None:
    crawled(store, site).wait()
    assert [each.source for each in store.remove("a", site.url("/a"))] == [site.url("/a")]
    assert stood(store, site) == dict.fromkeys(("/", "/b", "/c"), "ready")
    assert store.sites("a")


def test_a_site_that_is_removed_while_it_is_crawled_does_not_come_back(
    store: IndexStore, site: SiteServer, crawling: Settings
) -> None:
    site.pages["/b"] = Gate(html("Pears", "/d"))
    site.pages["/d"] = html("Figs")
    job = crawled(store, site)
    site.wait_for("/b")
    assert eventually(lambda: len(job.results) == 3)
    store.remove("a", site.url())
    site.pages["/b"].open()
    job.wait()
    assert (store.documents(), store.sites("a")) == ([], [])
    assert_sound(store, crawling.data_dir)


@pytest.mark.parametrize(
    "page",
    [html("Pears"), pytest.param(Reply(status=500), marks=pytest.mark.soak)],
    ids=["it is fetched", "it fails"],
)
def test_a_site_that_is_removed_just_before_its_next_page_is_recorded_does_not_come_back(
    store: IndexStore, site: SiteServer, crawling: Settings, monkeypatch: pytest.MonkeyPatch, page: Reply
) -> None:
    site.pages["/b"] = Gate(page)
    job = crawled(store, site)
    site.wait_for("/b")
    assert eventually(lambda: len(job.results) == 3)
    sites = catalogue_of(store).sites
    has = sites.has
    removals = [lambda: store.remove("a", site.url())]

    def removed_as_soon_as_found(index_id: str, url: str) -> bool:
        found = has(index_id, url)
        while removals:
            removals.pop()()
        return found

    monkeypatch.setattr(sites, "has", removed_as_soon_as_found)
    site.pages["/b"].open()
    assert len(outcome(site, job)) == 3
    assert (store.documents(), store.sites("a")) == ([], [])
    assert_sound(store, crawling.data_dir)


def test_an_index_that_is_deleted_while_a_site_is_crawled_into_it_is_gone(
    store: IndexStore, site: SiteServer, crawling: Settings
) -> None:
    site.pages["/b"] = Gate(html("Pears"))
    job = crawled(store, site)
    site.wait_for("/b")
    store.delete_index("a")
    site.pages["/b"].open()
    assert job.is_finished
    assert (store.indexes(), store.documents(), originals(crawling.data_dir)) == ([], [], [])
    assert_sound(store, crawling.data_dir)


def test_files_are_added_before_the_sites_that_were_given_with_them(
    store: IndexStore, site: SiteServer, write: Write
) -> None:
    site.pages["/"] = Gate(html("Start"))
    job = store.ingest("a", [SiteSource(CrawlOptions(url=site.url())), FileSource(write("a.md"))])
    assert eventually(lambda: [Path(each.source).name for each in job.results] == ["a.md"])
    site.pages["/"].open()
    job.wait()
    assert len(store.documents()) == 2


@pytest.mark.soak
def test_a_page_of_two_sites_belongs_to_the_first_that_brought_it_and_only_that_one_removes_it(
    store: IndexStore, site: SiteServer, crawling: Settings
) -> None:
    site.pages = {
        "/": html("Start", "/docs/"),
        "/docs/": html("Docs", "/docs/1"),
        "/docs/1": html("One", text="Apples are red."),
    }
    crawled(store, site, "/docs/", depth=1).wait()
    site.pages["/docs/1"] = html("One", text="Apples are yellow.")
    assert outcome(site, crawled(store, site)) == {"/": "ready", "/docs/": "unchanged", "/docs/1": "ready"}
    parents = {_path(site, each.source): _path(site, each.parent or "") for each in store.documents()}
    assert parents == {"/": "/", "/docs/": "/docs/", "/docs/1": "/docs/"}
    # Removed by the crawl of its own site alone, which also knows how it left.
    del site.pages["/docs/1"]
    assert outcome(site, crawled(store, site)) == {"/": "unchanged", "/docs/": "unchanged"}
    assert outcome(site, crawled(store, site, "/docs/", depth=1)) == {"/docs/": "unchanged", "/docs/1": "removed"}
    store.remove("a", site.url())
    assert stood(store, site) == {"/docs/": "ready"}
    assert_sound(store, crawling.data_dir)


def test_a_site_that_is_removed_leaves_its_first_page_to_the_site_that_brought_it(
    store: IndexStore, site: SiteServer
) -> None:
    site.pages = {"/": html("Start", "/docs/"), "/docs/": html("Docs", "/docs/1"), "/docs/1": html("One")}
    crawled(store, site).wait()
    crawled(store, site, "/docs/").wait()
    assert store.remove("a", site.url("/docs/")) == []
    assert stood(store, site) == dict.fromkeys(("/", "/docs/", "/docs/1"), "ready")
    assert [each.options.url for each in store.sites("a")] == [site.url()]
    assert [each.source for each in store.remove("a", site.url("/docs/"))] == [site.url("/docs/")]  # now it is a page


@pytest.mark.soak
def test_two_sites_on_one_host_that_are_crawled_at_once_keep_its_rate_together(
    crawling: Settings, site: SiteServer
) -> None:
    site.pages = {f"/{name}/": html(name, *(f"/{name}/{n}" for n in range(3))) for name in "ab"}
    site.pages |= {f"/{name}/{n}": html(f"{name} {n}", text=f"Page {n} of {name}.") for name in "ab" for n in range(3)}
    with IndexStore(crawling.model_copy(update={"crawl_rate": 20.0})) as store:
        jobs = [store.ingest(name, [SiteSource(CrawlOptions(url=site.url(f"/{name}/")))]) for name in "ab"]
        assert [len(job.wait()) for job in jobs] == [4, 4]
    times = sorted(asked.at for asked in site.asked)
    assert times[-1] - times[0] >= (len(times) - 1) / 20 - 0.15
