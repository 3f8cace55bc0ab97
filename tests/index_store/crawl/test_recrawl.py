"""A second crawl: it fetches changed pages and reports missing pages as gone, but not pages that only fail for now."""

import pytest

from index_store.crawl import PageOutcome
from tests.servers.site_server import Misbehaviour, Reply, SiteServer, html, moved, with_etag

DATED = {"Last-Modified": "Mon, 01 Jun 2026 00:00:00 GMT"}


@pytest.fixture
def handbook(site):
    """Three pages: with an ETag, with a date, with neither."""

    def dated(asked):
        page = html("B", "/c")
        is_known = asked.headers.get("if-modified-since") == DATED["Last-Modified"]
        return Reply(status=304, content_type=None) if is_known else Reply(page.body, headers=DATED)

    site.pages = {"/": with_etag(html("Home", "/b")), "/b": dated, "/c": html("C")}
    return site


def test_unchanged_pages_are_asked_for_by_tag_or_date_and_recognised_by_content_where_there_is_neither(handbook, crawl):
    first = crawl(handbook.url())
    assert first.paths == ["/", "/b", "/c"]
    again = crawl(handbook.url(), first.known)
    assert again.of(PageOutcome.UNCHANGED) == first.fetched
    assert again.known == first.known
    assert all(page.path is None for page in again.pages)


@pytest.mark.parametrize("name", ["ETag", "Last-Modified"])
def test_a_tag_or_date_that_is_not_ascii_ends_no_crawl(site, crawl, name):
    page = html("A")
    site.pages = {"/": html("Home", "/a"), "/a": Reply(page.body, headers={name: '"\xe9"'})}
    first = crawl(site.url())
    assert crawl(site.url(), known=first.known).of(PageOutcome.UNCHANGED) == first.fetched


def test_a_changed_page_alone_is_fetched(handbook, crawl):
    first = crawl(handbook.url())
    handbook.pages["/"] = with_etag(html("New home", "/b"))
    again = crawl(handbook.url(), first.known)
    assert again.paths == ["/"]
    assert len(again.of(PageOutcome.UNCHANGED)) == 2


@pytest.mark.parametrize("status", [404, 410, 204])
def test_a_page_that_is_not_there_any_more_is_gone(handbook, crawl, status):
    first = crawl(handbook.url())
    handbook.pages["/c"] = Reply(status=status)
    again = crawl(handbook.url(), first.known)
    assert again.of(PageOutcome.GONE) == [handbook.url("/c")]


def test_a_page_that_nothing_leads_to_any_more_is_gone(handbook, crawl):
    first = crawl(handbook.url())
    handbook.pages["/b"] = html("B without a link")
    again = crawl(handbook.url(), first.known)
    assert again.of(PageOutcome.GONE) == [handbook.url("/c")]


@pytest.mark.parametrize("options", [{"exclude": ("/c",)}, {"include": ("/b",)}])
def test_a_page_that_is_no_longer_wanted_is_gone(handbook, crawl, options):
    first = crawl(handbook.url())
    assert handbook.url("/c") in crawl(handbook.url(), first.known, **options).of(PageOutcome.GONE)


def test_a_page_that_robots_txt_forbids_now_is_gone(handbook, crawl):
    first = crawl(handbook.url())
    handbook.pages["/robots.txt"] = Reply("User-agent: *\nDisallow: /c", content_type="text/plain")
    assert crawl(handbook.url(), first.known).of(PageOutcome.GONE) == [handbook.url("/c")]


def test_a_page_that_may_not_be_indexed_any_more_is_gone(handbook, crawl):
    first = crawl(handbook.url())
    handbook.pages["/c"] = html("C", head='<meta name="robots" content="noindex">')
    assert crawl(handbook.url(), first.known).of(PageOutcome.GONE) == [handbook.url("/c")]


def test_a_page_that_moved_is_gone_and_its_new_address_comes(handbook, crawl):
    first = crawl(handbook.url())
    handbook.pages |= {"/c": moved("/d", 301), "/d": html("C")}
    again = crawl(handbook.url(), first.known)
    assert again.paths == ["/d"]
    assert again.of(PageOutcome.GONE) == [handbook.url("/c")]


@pytest.mark.parametrize("page", [Reply(status=500), Reply(status=403), Misbehaviour.HANGS, Misbehaviour.RESETS])
def test_a_page_that_fails_for_now_is_not_gone_nor_are_those_that_it_led_to(handbook, crawl, page):
    first = crawl(handbook.url())
    handbook.pages["/b"] = page
    again = crawl(handbook.url(), first.known, crawl_timeout=0.3)
    assert again.of(PageOutcome.FAILED) == [handbook.url("/b")]
    assert again.of(PageOutcome.GONE) == []
    assert handbook.url("/c") in again.of(PageOutcome.UNCHANGED)


def test_after_a_failure_pages_without_a_link_are_asked_for_before_they_are_gone(handbook, crawl):
    first = crawl(handbook.url())
    handbook.pages["/"] = html("Home", "/new")
    handbook.pages["/new"] = Reply(status=500)
    handbook.pages["/b"] = Reply(status=404)
    again = crawl(handbook.url(), first.known)
    assert again.of(PageOutcome.GONE) == [handbook.url("/b")]
    assert again.of(PageOutcome.UNCHANGED) == [handbook.url("/c")]


@pytest.mark.parametrize("answer", [Reply(status=500), Misbehaviour.HANGS, Misbehaviour.BREAKS_OFF])
def test_pages_of_a_site_map_that_fails_are_asked_for_before_they_are_gone(site, crawl, answer):
    addresses = "".join(f"<url><loc>{site.url(path)}</loc></url>" for path in ("/a", "/b"))
    listing = Reply(f"<urlset>{addresses}</urlset>", content_type="text/xml")
    site.pages = {"/": html("Home"), "/sitemap.xml": listing, "/a": html("A"), "/b": html("B")}
    first = crawl(site.url())
    assert sorted(first.paths) == ["/", "/a", "/b"]
    site.pages["/sitemap.xml"] = answer
    site.pages["/b"] = Reply(status=404)
    again = crawl(site.url(), first.known, crawl_timeout=0.3)
    assert sorted(again.of(PageOutcome.UNCHANGED)) == [site.url("/"), site.url("/a")]
    assert again.of(PageOutcome.GONE) == [site.url("/b")]


@pytest.mark.parametrize("limit", ["MAPS", "ADDRESSES"])
def test_pages_that_are_left_out_of_a_long_site_map_are_asked_for_before_they_are_gone(site, crawl, monkeypatch, limit):
    def listing(*paths: str) -> Reply:
        return Reply("\n".join(map(site.url, paths)), content_type="text/plain")

    maps = "".join(f"<sitemap><loc>{site.url(path)}</loc></sitemap>" for path in ("/1.txt", "/2.txt"))
    site.pages = {"/": html("Home", "/a"), "/a": html("A"), "/b": html("B"), "/c": html("C")}
    site.pages |= {"/sitemap.xml": Reply(f"<sitemapindex>{maps}</sitemapindex>", content_type="text/xml")}
    site.pages |= {"/1.txt": listing("/a"), "/2.txt": listing("/b", "/c")}
    first = crawl(site.url())
    assert sorted(first.paths) == ["/", "/a", "/b", "/c"]
    monkeypatch.setattr(f"index_store.crawl.answers.sitemap.{limit}", 2)
    assert crawl(site.url(), first.known).of(PageOutcome.GONE) == []


def test_nothing_is_gone_when_the_start_fails(handbook, crawl):
    first = crawl(handbook.url())
    handbook.pages["/"] = Reply(status=500)
    again = crawl(handbook.url(), first.known)
    assert again.of(PageOutcome.FAILED) == [handbook.url()]
    assert again.of(PageOutcome.GONE) == []
    assert len(again.of(PageOutcome.UNCHANGED)) == 2


def test_nothing_is_gone_when_robots_txt_fails(handbook, crawl):
    first = crawl(handbook.url())
    handbook.pages["/robots.txt"] = Reply(status=500)
    again = crawl(handbook.url(), first.known)
    assert again.of(PageOutcome.GONE) == []
    assert handbook.url() in again.of(PageOutcome.FAILED)


def test_nothing_is_gone_when_robots_txt_forbids_the_start(handbook, crawl):
    first = crawl(handbook.url())
    handbook.pages["/robots.txt"] = Reply("User-agent: *\nDisallow: /", content_type="text/plain")
    again = crawl(handbook.url(), first.known)
    assert "robots.txt" in again.failure


def test_a_known_page_behind_a_redirect_fails_under_its_own_address(site, crawl):
    site.pages = {"/": html("Home", "/old"), "/old": moved("/new"), "/new": html("New")}
    first = crawl(site.url())
    site.pages["/new"] = Reply(status=500)
    again = crawl(site.url(), first.known)
    assert again.of(PageOutcome.FAILED) == [site.url("/new")]
    assert again.of(PageOutcome.GONE) == []


def test_a_start_that_redirects_is_unchanged_behind_it(site, crawl):
    site.pages = {"/": moved("/index.html"), "/index.html": with_etag(html("Home", "/a")), "/a": html("A")}
    first = crawl(site.url())
    assert first.paths == ["/index.html", "/a"]
    again = crawl(site.url(), first.known)
    assert again.of(PageOutcome.UNCHANGED) == first.fetched
    assert len(again.pages) == 2


def test_nothing_is_gone_when_the_limit_ended_the_crawl(handbook, crawl):
    first = crawl(handbook.url())
    again = crawl(handbook.url(), first.known, limit=1)
    assert [page.outcome for page in again.pages] == [PageOutcome.UNCHANGED]


def test_a_server_that_says_unchanged_for_what_is_not_known_fails_that_page(site, crawl):
    site.pages = {"/": html("Home", "/a"), "/a": Reply(status=304, content_type=None)}
    assert crawl(site.url()).of(PageOutcome.FAILED) == [site.url("/a")]


@pytest.fixture
def elsewhere():
    with SiteServer({"/": html("We are busy.")}) as other:
        yield other


@pytest.mark.parametrize("front", ["maintenance", "sign-in", "another host"])
def test_nothing_is_gone_while_the_start_leads_to_no_known_page_but_what_is_missing(handbook, elsewhere, crawl, front):
    handbook.pages["/"] = html("Home", "/b", "/d")
    handbook.pages["/d"] = html("D")
    first = crawl(handbook.url())
    handbook.pages["/login"] = html("Please sign in.", "/")
    handbook.pages["/"] = {
        "maintenance": html("We are back soon.", "/"),
        "sign-in": moved("/login"),
        "another host": moved(elsewhere.url()),
    }[front]
    del handbook.pages["/d"]
    again = crawl(handbook.url(), first.known)
    assert again.of(PageOutcome.GONE) == [handbook.url("/d")]
    assert {handbook.url("/b"), handbook.url("/c")} <= set(again.of(PageOutcome.UNCHANGED))
    (kept,) = [page for page in again.pages if page.outcome is PageOutcome.KEPT]
    assert "leads to none of the pages" in kept.error.sentence("en")
    assert "残しました" in kept.error.sentence("ja")


def test_nothing_is_gone_while_every_page_of_a_site_is_under_maintenance_however_often_it_is_crawled(handbook, crawl):
    known = crawl(handbook.url()).known
    handbook.pages = dict.fromkeys(handbook.pages, html("We are back soon."))
    for _ in range(2):
        again = crawl(handbook.url(), known)
        assert again.of(PageOutcome.GONE) == []
        known |= again.known


def test_pages_that_moved_for_good_are_gone_though_the_start_leads_to_no_known_page(handbook, crawl):
    first = crawl(handbook.url())
    handbook.pages = {
        "/": html("New home", "/new"), "/new": html("B and C"), "/b": moved("/new", 301), "/c": moved("/new", 302)
    }  # fmt: skip
    again = crawl(handbook.url(), first.known)
    assert again.paths == ["/", "/new"]
    assert again.of(PageOutcome.GONE) == [handbook.url("/b")]


@pytest.mark.parametrize("options", [{"depth": 0}, {"depth": 1}, {"include": ("/nowhere/*",)}])
def test_less_depth_or_a_pattern_that_matches_nothing_removes_nothing(handbook, crawl, options):
    first = crawl(handbook.url())
    assert crawl(handbook.url(), first.known, **options).of(PageOutcome.GONE) == []


PASSWORD = '<form method="post"><input name="user"><input type="password" name="password"></form>'


@pytest.mark.parametrize("at_once", [pytest.param(1, marks=pytest.mark.soak), 4])
@pytest.mark.parametrize("is_linked", [True, False])
def test_pages_that_lead_to_a_form_for_a_password_say_so_and_are_not_gone(handbook, crawl, at_once, is_linked):
    known = crawl(handbook.url()).known
    form = "/users/sign_in"
    links = ("/b", "/members/new", *([form] if is_linked else []))
    handbook.pages |= {
        "/": html("Home", *links), "/b": moved(form), "/members/new": moved(form), form: html("Sign in", text=PASSWORD)
    }  # fmt: skip
    again = crawl(handbook.url(), known, crawl_at_once=at_once)
    assert sorted(again.of(PageOutcome.FAILED)) == [handbook.url("/b"), handbook.url("/members/new")]
    assert handbook.url("/b") not in again.of(PageOutcome.GONE)
    assert all("leads to a sign-in" in page.error.sentence("en") for page in again.pages if page.error)


def test_a_page_that_leads_to_the_sign_in_of_another_host_says_so_and_is_not_gone(handbook, elsewhere, crawl):
    known = crawl(handbook.url()).known
    handbook.pages["/b"] = moved(elsewhere.url("/oauth2/authorize?client_id=1&redirect_uri=https%3A%2F%2Fx%2Fback"))
    again = crawl(handbook.url(), known)
    assert again.of(PageOutcome.FAILED) == [handbook.url("/b")]
    assert again.of(PageOutcome.GONE) == []


def test_a_site_whose_start_leads_to_a_form_for_a_password_says_so(site, crawl):
    site.pages = {"/": moved("/users/sign_in"), "/users/sign_in": html("Sign in", text=PASSWORD)}
    assert "leads to a sign-in" in crawl(site.url()).failure


def test_a_file_that_may_not_be_indexed_any_more_is_gone_though_its_content_is_the_same(site, crawl):
    pdf = Reply(b"%PDF-1.7", content_type="application/pdf")
    site.pages = {"/": html("Home", "/a", "/rules.pdf"), "/a": html("A"), "/rules.pdf": pdf}
    known = crawl(site.url()).known
    site.pages["/rules.pdf"] = Reply(pdf.body, content_type=pdf.content_type, headers={"X-Robots-Tag": "noindex"})
    assert crawl(site.url(), known).of(PageOutcome.GONE) == [site.url("/rules.pdf")]


def test_pages_about_members_with_a_box_to_sign_in_are_read_behind_a_redirect(site, crawl):
    site.pages = {"/": html("Home", "/members"), "/members": moved("/members/list")}
    site.pages["/members/list"] = html("Members", text=PASSWORD)
    assert crawl(site.url()).paths == ["/", "/members/list"]
