"""Faults of a web server: only the page with the fault fails, within the limits and with one sentence."""

import gzip
import logging
import time
import tracemalloc
import zlib
from pathlib import Path

import pytest

from index_store.crawl import PageOutcome, frontier
from index_store.crawl.answers import links
from index_store.crawl.answers.links import TAGS
from index_store.crawl.crawler import SILENCES
from tests.servers.site_server import Asked, Misbehaviour, Page, Reply, SiteServer, html, moved


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        (Misbehaviour.HANGS, "did not load within 0.3 seconds"),
        (Misbehaviour.DRIPS, "did not load within 0.3 seconds"),
        (Misbehaviour.NEVER_ENDS, "is larger than 5 MB"),
        (Misbehaviour.RESETS, "arrived damaged"),
        (Misbehaviour.BREAKS_OFF, "arrived damaged"),
        (Misbehaviour.SPEAKS_NOISE, "arrived damaged"),
        (Misbehaviour.HEADERS_NEVER_END, "arrived damaged"),
        (Reply("x", claimed_length=10_000_000_000), "is larger than 5 MB"),
        (Reply("x" * 100, claimed_length=-5), "arrived damaged"),
        (Reply(status=500), "status 500"),
        (Reply(status=502), "status 502"),
        (Reply(status=404), "There is no page"),
        (Reply(status=403), "refuses"),
        (Reply(status=401), "refuses"),
        (Reply(status=429, headers={"Retry-After": "3600"}), "limits the number of requests"),
        (Reply(status=429, headers={"Retry-After": f"Mon, 01 Jan {'9' * 20} 00:00:00 GMT"}), "limits the number"),
        (Reply(status=503, headers={"Retry-After": "3600"}), "is not available at the moment"),
        (Reply(status=304), "status 304"),
        (Reply(status=204), "There is no page"),
        (Reply(status=302), "redirects to an address that can't be fetched"),
        (Reply("x", headers={"Content-Encoding": "br"}), "compression that the app did not ask for (br)"),
        (Reply("x", headers={"Content-Encoding": "gzip, zstd"}), "compression that the app did not ask for (zstd)"),
        (Reply("x", headers={"Content-Encoding": "gzip, gzip"}), "arrived damaged"),
        (Reply("this is no gzip", headers={"Content-Encoding": "gzip"}), "arrived damaged"),
        (Reply(gzip.compress(b"x" * 9999)[:-20], headers={"Content-Encoding": "gzip"}), "arrived damaged"),
        (Reply(gzip.compress(bytes(100_000_000)), headers={"Content-Encoding": "gzip"}), "is larger than 5 MB"),
        (Reply("x", content_type="video/mp4"), "of a kind that can't be loaded (video/mp4)"),
    ],
)
@pytest.mark.timeout(60)  # seconds; it takes one or two
def test_a_start_page_that_is_bad_fails_with_one_sentence(site, crawl, tmp_path: Path, page, sentence):
    site.pages["/"] = page
    failure = crawl(site.url(), crawl_timeout=0.3).failure
    assert sentence in failure
    assert not list((tmp_path / "pages").iterdir())


@pytest.mark.parametrize("page", [*Misbehaviour, Reply(status=500), moved("/bad")])
def test_a_bad_page_leaves_the_others_alone(site, crawl, page):
    site.pages = {"/": html("Home", "/a", "/bad", "/b"), "/a": html("A"), "/bad": page, "/b": html("B")}
    crawled = crawl(site.url(), crawl_timeout=0.3, max_file_mb=1)
    assert sorted(crawled.paths) == ["/", "/a", "/b"]
    assert crawled.of(PageOutcome.FAILED) == [site.url("/bad")]


def test_a_site_that_cannot_be_reached_fails_with_its_host(crawl):
    assert "127.0.0.1:9 can't be reached" in crawl("http://127.0.0.1:9/", crawl_allowed="127.0.0.1").failure


@pytest.mark.timeout(60)  # seconds; it takes one or two
def test_a_site_that_stops_answering_is_given_up(site, crawl):
    site.pages = {"/robots.txt": Reply(status=404), "/": html("Home", *(f"/{n}" for n in range(100)))}
    site.otherwise = Misbehaviour.HANGS
    crawled = crawl(site.url(), crawl_timeout=0.3)
    assert 10 <= len(crawled.of(PageOutcome.FAILED)) < 20


def test_links_to_where_nobody_answers_do_not_mean_that_the_site_stopped_answering(site, crawl):
    """As a site without TLS has whose template links to https."""

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.3" if host.startswith("www.") else "127.0.0.1"]

    dead = [site.url(f"/{number}", host="www.wiki.example") for number in range(2 * SILENCES)]
    site.pages |= {"/": html("Home", *dead, "/a"), "/a": html("A", "/b"), "/b": html("B")}
    crawled = crawl(site.url(host="wiki.example"), resolve=resolve)
    assert crawled.paths == ["/", "/a", "/b"]
    assert set(crawled.of(PageOutcome.FAILED)) == set(dead)
    assert not crawled.of(PageOutcome.KEPT)


def test_redirects_without_an_end_fail(site, crawl):
    site.otherwise = lambda asked: moved(f"/{len(site.paths)}")
    site.pages["/robots.txt"] = Reply(status=404)
    assert "redirects without end" in crawl(site.url("/start"), depth=0).failure
    assert len(site.paths) == 12


def test_redirects_in_a_circle_fail(site, crawl):
    site.pages = {"/a": moved("/b"), "/b": moved("/a")}
    assert "redirects without end" in crawl(site.url("/a"), depth=0).failure


def with_cookie(reply: Reply, to: str = "", cookie: str = "seen=1") -> Page:
    """Sends those who don't bring the cookie to another address, or here again, and sets it."""

    def page(asked: Asked) -> Reply:
        is_brought = cookie in asked.headers.get("cookie", "").split("; ")
        set_cookie = {"Set-Cookie": f"{cookie}; Path=/; HttpOnly", "Location": to or asked.path}
        return reply if is_brought else Reply(status=302, headers=set_cookie)

    return page


def test_a_site_that_leads_in_a_circle_gets_the_cookies_that_it_has_set(site, crawl):
    site.pages = {
        "/": with_cookie(html("Home", "/a", "/b")),
        "/a": with_cookie(html("A")),
        "/b": with_cookie(html("B"), "/check", "checked=2"),
        "/check": moved("/b"),
    }
    assert crawl(site.url()).paths == ["/", "/a", "/b"]
    assert site.paths.count("/a") == 1
    assert not any("cookie" in asked.headers for asked in site.asked if asked.path == "/robots.txt")


def test_a_circle_that_cookies_do_not_end_fails(site, crawl):
    site.pages = {"/": lambda _: Reply(status=302, headers={"Set-Cookie": f"n={len(site.paths)}", "Location": "/"})}
    assert "redirects without end" in crawl(site.url(), depth=0).failure
    assert site.paths.count("/") == 2


@pytest.mark.parametrize("cookie", ["long=" + "x" * 5000, "name=日本", "=1", ""])
def test_cookies_that_no_header_may_hold_are_not_sent_back(site, crawl, cookie):
    site.pages = {"/": Reply(status=302, headers={"Set-Cookie": cookie.encode().decode("latin-1"), "Location": "/"})}
    assert "redirects without end" in crawl(site.url(), depth=0).failure
    assert not any("cookie" in asked.headers for asked in site.asked)


def test_cookies_are_not_sent_where_they_are_not_demanded_nor_to_another_site(site, crawl):
    german = Reply(status=302, headers={"Set-Cookie": "language=de", "Location": "/"})
    with SiteServer() as other:
        other.pages = {"/": html("Elsewhere")}
        site.pages = {
            "/": html("Home", "/de", "/a"), "/de": german, "/a": with_cookie(moved(other.url()))
        }  # fmt: skip
        crawl(site.url())
        assert not any("language" in asked.headers.get("cookie", "") for asked in site.asked if asked.path == "/")
        assert not any("cookie" in asked.headers for asked in other.asked)


@pytest.mark.parametrize("status", [200, 203])
def test_a_page_that_a_proxy_has_changed_is_a_page(site, crawl, status):
    site.pages = {"/": Reply(html("Home", "/a").body, status), "/a": Reply(html("A").body, status)}
    assert crawl(site.url()).paths == ["/", "/a"]


@pytest.mark.parametrize("written", ["/;jsessionid=A1B2C3", "/?utm_source=portal", "/(S(lit3py55t21z5v55vlm25s55))/"])
def test_a_redirect_to_the_same_page_with_a_session_is_followed_once(site, crawl, written):
    site.pages = {"/": moved(written), written: html("Home", "/a;jsessionid=A1B2C3"), "/a": html("A")}
    assert crawl(site.url()).paths == ["/", "/a"]
    site.pages[written] = moved("/;jsessionid=D4E5F6")
    site.pages["/;jsessionid=D4E5F6"] = moved(written)
    assert "redirects without end" in crawl(site.url(), depth=0).failure


def test_a_calendar_that_loops_for_ever_ends_at_the_limit(site, crawl):
    site.pages["/robots.txt"] = Reply(status=404)
    site.otherwise = lambda asked: html(asked.path, f"/calendar?day={len(site.paths)}", f"/d/{len(site.paths)}")
    assert len(crawl(site.url(), depth=20, limit=30).pages) == 30


def test_an_endless_row_of_the_same_page_ends_too(site, crawl, monkeypatch):
    monkeypatch.setattr(frontier, "REQUESTS_MORE", 20)
    site.pages["/robots.txt"] = Reply(status=404)
    page = "".join(f'<a href="?n={n}">{n}</a>' for n in range(80))
    site.otherwise = Reply(page)
    assert len(crawl(site.url(), depth=20, limit=2).pages) == 1
    assert 30 < len(site.paths) < 60


@pytest.mark.parametrize("link", ["a/b/", "?a=1&a=1&a=1", "x/../y/", "./././", "?b=2&utm_source=here"])
def test_links_that_grow_with_every_page_end(site, crawl, link):
    site.pages["/robots.txt"] = Reply(status=404)
    site.otherwise = lambda asked: html(asked.path, asked.path + link, link)
    crawled = crawl(site.url("/start/"), depth=20, limit=200)
    assert len(crawled.pages) < 40


def test_a_page_that_was_busy_is_asked_for_again_when_its_server_says(site, crawl):
    asked = []

    def busy_at_first(request):
        asked.append(request)
        return html("Home") if len(asked) > 1 else Reply(status=429, headers={"Retry-After": "1"})

    site.pages["/"] = busy_at_first
    begun = time.monotonic()  # here: the server may note a request late
    assert crawl(site.url(), depth=0).paths == ["/"]
    assert len(asked) == 2
    assert time.monotonic() - begun >= 1


def test_a_connection_that_broke_once_costs_nothing(site, crawl):
    site.pages["/"] = lambda asked: html("Home") if site.paths.count("/") > 1 else Misbehaviour.RESETS
    assert crawl(site.url(), depth=0).paths == ["/"]


@pytest.mark.parametrize(
    ("encoding", "content"),
    [
        ("gzip", gzip.compress(html("Home").content, mtime=0)),
        ("x-gzip", gzip.compress(html("Home").content, mtime=0)),
        ("gzip", gzip.compress(html("Home").content[:50]) + gzip.compress(html("Home").content[50:])),
        ("deflate", zlib.compress(html("Home").content)),
        ("deflate", zlib.compress(html("Home").content)[2:-4]),
        ("identity", html("Home").content),
        ("utf-8", html("Home").content),
        ("none", html("Home").content),
        ("binary, gzip", gzip.compress(html("Home").content, mtime=0)),
    ],
    ids=["gzip", "x-gzip", "two gzip files in one", "zlib", "bare deflate", "identity", "utf-8", "none", "binary gzip"],
)
def test_compressed_pages_are_unpacked(site, crawl, encoding, content):
    site.pages["/"] = Reply(content, headers={"Content-Encoding": encoding})
    assert crawl(site.url(), depth=0).only.path.read_bytes() == html("Home").content


def test_a_claimed_length_that_is_too_short_cuts_the_page_and_no_more(site, crawl):
    site.pages = {"/": html("Home", "/short", "/b"), "/short": Reply("x" * 500, claimed_length=10), "/b": html("B")}
    crawled = crawl(site.url(), crawl_at_once=1)
    assert sorted(crawled.paths) == ["/", "/b", "/short"]


def test_a_long_page_may_take_longer_than_its_time_as_long_as_it_comes(site, crawl):
    site.pages["/"] = Reply("x" * 3_000_000, content_type="text/plain")
    assert crawl(site.url(), depth=0, crawl_timeout=1).only.outcome is PageOutcome.FETCHED


def test_tags_nested_60_000_deep_and_html_in_pieces_are_read_for_their_links(site, crawl):
    deep = "<div>" * 60_000 + '<a href="/a">a</a>'
    xml = Reply('<?xml version="1.0"?><feed><a href="/e">e</a></feed>')
    broken = '<a href="/b">b<a href=/c>c<<<table><a href="http://[">bad<a href=\'/d\'>d'
    site.pages = {"/": Reply('<a href="/a">a</a>' + deep + broken), "/a": Reply(broken + "<title>A"), "/b": xml}
    site.otherwise = lambda asked: html(asked.path)
    crawled = crawl(site.url(), depth=3)
    assert {"/", "/a", "/b", "/c", "/d", "/e"} <= set(crawled.paths)


@pytest.mark.parametrize("tags", [TAGS // 10, pytest.param(TAGS, marks=pytest.mark.soak)])
def test_a_page_of_nothing_but_tags_takes_little_memory(site, crawl, monkeypatch, tags):
    monkeypatch.setattr(links, "TAGS", tags)
    site.pages["/"] = Reply("<a>" * tags * 4)
    tracemalloc.start()
    assert crawl(site.url(), depth=0).paths == ["/"]
    assert tracemalloc.get_traced_memory()[1] < 600 * tags
    tracemalloc.stop()


def test_no_password_of_a_link_reaches_a_page_an_error_or_the_log(site, crawl, caplog):
    caplog.set_level(logging.DEBUG)
    with_password = site.url("/private").replace("//", "//me:hunter2@")
    site.pages = {"/": html("Home", with_password, "/moved"), "/moved": moved(with_password)}
    crawled = crawl(site.url())
    assert "hunter2" not in repr(crawled.pages) + caplog.text
    assert "/private" not in site.paths
    site.pages["/"] = moved(with_password)
    crawled = crawl(site.url())
    assert "hunter2" not in crawled.failure + repr(crawled.pages) + caplog.text
