"""Which pages a crawl finds, in which order, and where it stops."""

import itertools
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from index_store.crawl import Crawl, CrawlOptions, PageOutcome
from index_store.crawl.errors import BadCrawlOption, BadPattern
from index_store.parsing.loaders.formats import format_of
from tests.index_store.crawl.crawled import settings
from tests.servers.site_server import Reply, SiteServer, html, moved


def test_pages_are_found_by_their_links_those_near_the_start_first(site, crawl):
    site.pages = {
        "/": html("Home", "/a", "/b"),
        "/a": html("A", "/a/deep"),
        "/b": html("B", "/"),
        "/a/deep": html("Deep", "/deeper"),
        "/deeper": html("Deeper"),
    }
    assert crawl(site.url(), depth=2, crawl_at_once=1).paths == ["/", "/a", "/b", "/a/deep"]


def test_a_page_comes_as_a_file_with_the_name_of_its_kind_and_all_that_the_server_says_of_it(site, crawl):
    page = html("手引き")
    site.pages["/guide"] = Reply(page.body, headers={"ETag": '"1"', "Last-Modified": "Mon, 01 Jun 2026 00:00:00 GMT"})
    fetched = crawl(site.url("/guide"), depth=0).only
    assert fetched.path.read_bytes() == page.content
    assert fetched.name == "guide.html"
    assert format_of(fetched.name).kind == "html"
    assert (fetched.charset, fetched.etag) == ("utf-8", '"1"')
    assert fetched.last_modified == "Mon, 01 Jun 2026 00:00:00 GMT"


def test_depth_0_is_the_start_page_alone_and_not_even_the_site_map_is_read(site, crawl):
    site.pages = {"/": html("Home", "/a"), "/a": html("A")}
    assert crawl(site.url(), depth=0).paths == ["/"]
    assert site.paths == ["/robots.txt", "/"]


def test_no_more_pages_come_than_the_limit_and_no_more_are_asked_for(site, crawl):
    site.pages = {"/": html("Home", *(f"/{n}" for n in range(50)))} | {f"/{n}": html(f"Page {n}") for n in range(50)}
    assert len(crawl(site.url(), limit=7).pages) == 7
    assert len([path for path in site.paths if path not in ("/robots.txt", "/sitemap.xml")]) == 7


def test_pages_that_need_a_sign_in_take_no_place_of_the_limit(site, crawl):
    refused = {f"/members/{n}": Reply(status=403) for n in range(6)}
    site.pages = {"/": html("Home", *refused, "/a", "/b"), "/a": html("A"), "/b": html("B"), **refused}
    assert crawl(site.url(), limit=3, crawl_at_once=1).paths == ["/", "/a", "/b"]


@pytest.mark.parametrize("charset", ["utf-8", "cp932"])
def test_a_redirect_to_a_japanese_address_leads_there_in_whatever_charset_it_is_written(site, crawl, charset):
    target = "/旅費.html".encode(charset)
    site.pages = {"/": html("Home", "/a"), "/a": moved(target.decode("latin-1")), quote(target): html("A")}
    assert crawl(site.url()).paths == ["/", quote(target)]


def sign_in(*links: str) -> Reply:
    token = f'<input type="hidden" name="csrf" value="{next(tokens)}"><input name="pw" type="password">'
    return html("Sign in", *links, text=f"<form>{token}</form>")


tokens = itertools.count()


def test_links_are_followed_only_from_the_start_and_from_pages_that_the_patterns_allow(site, crawl):
    site.pages = {
        "/": html("Home", "/top.pdf", "/docs/"),
        "/top.pdf": Reply("%PDF-1.7 top", content_type="application/pdf"),
        "/docs/": html("Docs", "/docs/deep.pdf"),
        "/docs/deep.pdf": Reply("%PDF-1.7 deep", content_type="application/pdf"),
    }
    assert crawl(site.url(), include=("*.pdf",)).paths == ["/top.pdf"]
    with_folder = crawl(site.url(), include=("*.pdf", "/docs/*"))
    assert sorted(with_folder.paths) == ["/docs/", "/docs/deep.pdf", "/top.pdf"]


def test_the_sign_in_to_which_pages_redirect_is_no_page_and_the_pages_say_that_they_need_it(site, crawl):
    paths = [f"/members/{n}" for n in range(3)]
    site.pages = {"/": html("Home", *paths, "/login?back_url=http%3A%2F%2Fsite.example%2F")}
    site.pages |= {path: moved(f"/login?next={path}") for path in paths}
    site.pages |= {f"/login?next={path}": sign_in("/help") for path in paths}
    site.pages |= {"/login?back_url=http%3A%2F%2Fsite.example%2F": sign_in()}
    crawled = crawl(site.url())
    assert crawled.paths == ["/"]
    failed = [page for page in crawled.pages if page.outcome is PageOutcome.FAILED]
    assert sorted(page.url for page in failed) == [site.url(path) for path in paths]
    assert failed[0].error.sentence("en") == f"{failed[0].url} leads to a sign-in. Save the page and add it as a file."


def test_a_site_whose_start_leads_to_a_sign_in_says_so(site, crawl):
    site.pages = {"/": moved("/login?next=%2F"), "/login?next=%2F": sign_in()}
    assert "leads to a sign-in" in crawl(site.url()).failure


def test_a_sign_in_that_asks_for_the_name_first_is_no_page_either(site, crawl):
    paths = [f"/members/{n}" for n in range(3)]
    site.pages = {"/": html("Home", *paths, "/old"), "/old": moved("/new?from=/old"), "/new?from=/old": html("New")}
    site.pages |= {path: moved(f"/sign-in?next={path}") for path in paths}
    site.pages |= {f"/sign-in?next={path}": html("Sign in", text='<input name="mail">' + path) for path in paths}
    crawled = crawl(site.url())
    assert crawled.paths == ["/", "/new?from=/old"]
    failed = [page for page in crawled.pages if page.outcome is PageOutcome.FAILED]
    assert sorted(page.url for page in failed) == [site.url(path) for path in paths]
    assert {page.error.code for page in failed} == {"page_behind_sign_in"}


def test_pages_with_a_box_to_sign_in_are_read(site, crawl):
    site.pages = {"/": html("Home", "/old", "/list?from=/"), "/old": moved("/new"), "/new": sign_in()}
    site.pages["/list?from=/"] = sign_in()
    assert sorted(crawl(site.url()).paths) == ["/", "/list?from=/", "/new"]


def test_links_to_other_hosts_and_ports_are_not_followed(crawl):
    with SiteServer({"/": html("Other")}) as other, SiteServer() as site:
        site.pages["/"] = html(
            "Home", other.url(), site.url("/here", "localhost"), "//example.invalid/", "mailto:a@b.c"
        )
        assert crawl(site.url()).paths == ["/"]
        assert not other.asked


def test_a_start_that_moves_to_another_host_takes_the_crawl_there(crawl):
    with SiteServer() as portal, SiteServer() as site:
        portal.pages = {"/": html("Portal", "/a"), "/a": html("A")}
        site.pages["/"] = moved(portal.url())
        assert crawl(site.url()).fetched == [portal.url(), portal.url("/a")]


def test_only_paths_that_are_included_are_asked_for_the_start_is_read_for_its_links(site, crawl):
    site.pages = {
        "/": html("Home", "/docs", "/docs/a?x=1", "/blog/b", "/%E8%A6%8F%E7%A8%8B/1"),
        "/docs": html("Docs"),
        "/docs/a?x=1": html("A"),
        "/blog/b": html("B"),
        "/%E8%A6%8F%E7%A8%8B/1": html("規程"),
    }
    crawled = crawl(site.url(), include=("/docs/*", "/規程/*"))
    assert sorted(crawled.paths) == ["/%E8%A6%8F%E7%A8%8B/1", "/docs", "/docs/a?x=1"]
    assert "/blog/b" not in site.paths


def test_a_pattern_copied_from_the_address_bar_means_what_people_read(site, crawl):
    inside, open_ = "/%E7%A4%BE%E5%86%85/1", "/%E5%85%AC%E9%96%8B/1"
    site.pages = {"/": html("Home", inside, open_), inside: html("社内"), open_: html("公開")}
    assert crawl(site.url(), exclude=("/%E7%A4%BE%E5%86%85/*",)).paths == ["/", open_]
    assert crawl(site.url(), include=("/%e5%85%ac%e9%96%8b/*",)).paths == [open_]


@pytest.mark.parametrize("encoding", ["cp932", "euc_jp"])
def test_a_pattern_means_what_people_read_whatever_an_address_is_escaped_in(site, crawl, encoding):
    inside, open_ = (f"/{quote(folder, encoding=encoding)}/1" for folder in ("社内", "公開"))
    site.pages = {"/": html("Home", inside, open_), inside: html("社内"), open_: html("公開")}
    assert crawl(site.url(), exclude=("/社内/*",)).paths == ["/", open_]
    assert crawl(site.url(), include=(f"{open_[:-2]}/*",)).paths == [open_]


def test_what_is_excluded_is_left_out_even_when_it_is_included(site, crawl):
    site.pages = {"/": html("Home", "/a.html", "/old/a.html", "/a.html?print=1"), "/a.html": html("A")}
    crawled = crawl(site.url(), include=("*.html",), exclude=("/old/*", "*?print=*"))
    assert crawled.paths == ["/a.html"]
    assert not [path for path in site.paths if "old" in path or "print" in path]


def test_patterns_with_many_stars_take_no_longer(site, crawl):
    site.pages = {"/": html("Home", "/" + "a" * 1900), "/" + "a" * 1900: html("Long")}
    assert len(crawl(site.url(), exclude=("*a" * 40 + "*b",)).pages) == 2


@pytest.mark.parametrize("pattern", ["", "docs/*", "https://example.com/docs/*", "/a b", "/a#b", "/" + "a" * 600])
def test_a_pattern_that_can_match_nothing_is_refused_with_its_text(pattern):
    with pytest.raises(BadPattern) as caught:
        CrawlOptions(url="https://example.com", include=(pattern,))
    assert pattern[:500] in str(caught.value)


def test_what_may_be_a_password_in_a_pattern_is_not_repeated():
    with pytest.raises(BadPattern) as caught:
        CrawlOptions(url="https://example.com", exclude=("https://me:hunter2@example.com/*",))
    assert "hunter2" not in caught.value.sentence("en") + caught.value.sentence("ja")


@pytest.mark.parametrize(("option", "value"), [("depth", -1), ("depth", 21), ("limit", 0), ("limit", 10_001)])
def test_a_depth_or_limit_out_of_range_is_refused_with_the_range(option, value):
    with pytest.raises(BadCrawlOption, match=option):
        CrawlOptions(url="https://example.com", **{option: value})


def test_a_crawl_of_patterns_that_match_nothing_says_so(site, crawl):
    site.pages["/"] = html("Home", "/a")
    assert "No page was found" in crawl(site.url(), include=("/nowhere/*",)).failure


def test_links_in_frames_areas_and_next_pages_count_and_those_to_pictures_and_programs_do_not(site, crawl):
    links = (
        '<base href="/sub/"><frame src="menu.html"><map><area href="area.html"></map><iframe src="frame.html"></iframe>'
        '<link rel="next" href="2.html"><link rel="stylesheet" href="style.html"><a href="logo.png">x</a>'
        '<a href="setup.exe">x</a><a href="video.mp4">x</a><a rel="nofollow" href="login.html">x</a>'
    )
    site.pages["/"] = html("Home", head=links)
    for path in ("menu", "area", "frame", "2"):
        site.pages[f"/sub/{path}.html"] = html(path)
    crawled = crawl(site.url())
    assert sorted(crawled.paths) == ["/", "/sub/2.html", "/sub/area.html", "/sub/frame.html", "/sub/menu.html"]
    assert not [path for path in site.paths if path.endswith((".png", ".exe", ".mp4", "style.html", "login.html"))]


def test_a_pdf_that_is_shown_within_a_page_is_fetched(site, crawl):
    shown = '<object data="rules.pdf" type="application/pdf"></object><embed src="form.pdf#view=FitH"><object></object>'
    site.pages["/"] = html("Home", text=f'{shown}<embed src="movie.swf"><object data="map.svg"></object>')
    site.pages |= {f"/{name}.pdf": Reply(name, content_type="application/pdf") for name in ("rules", "form")}
    assert sorted(crawl(site.url()).paths) == ["/", "/form.pdf", "/rules.pdf"]
    assert not [path for path in site.paths if path.endswith((".swf", ".svg"))]


def test_frames_take_the_place_of_the_page_that_they_are_in(site, crawl):
    site.pages = {
        "/": Reply('<title>Company</title><frameset><frame src="menu.html"><frame src="main.html"></frameset>'),
        "/menu.html": html("Menu", "/a"),
        "/main.html": html("Main"),
        "/a": html("A", "/b"),
    }
    first = crawl(site.url(), depth=1)
    assert sorted(first.paths) == ["/a", "/main.html", "/menu.html"]
    again = crawl(site.url(), first.known, depth=1)
    assert sorted(again.of(PageOutcome.UNCHANGED)) == sorted(first.fetched)
    assert sorted(crawl(site.url(), depth=0).paths) == ["/main.html", "/menu.html"]


def test_a_frameset_whose_frames_are_elsewhere_is_reported(site, crawl):
    site.pages["/"] = Reply('<title>Company</title><frameset><frame src="http://elsewhere.invalid/"></frameset>')
    assert crawl(site.url()).paths == ["/"]


@pytest.mark.parametrize("encoding", ["utf-8", "shift_jis", "euc_jp", "iso2022_jp"])
def test_links_written_in_japanese_are_followed_whatever_the_page_is_encoded_in(site, crawl, encoding):
    page = '<html><head><title>社内規程の一覧</title></head><body><a href="/規程/旅費.html">旅費の規程です</a></body>'
    site.pages["/"] = Reply(page.encode(encoding), content_type=f"text/html; charset={encoding}")
    site.pages["/%E8%A6%8F%E7%A8%8B/%E6%97%85%E8%B2%BB.html"] = html("旅費")
    crawled = crawl(site.url())
    assert len(crawled.fetched) == 2
    assert crawled.pages[1].name == "旅費.html"


@pytest.mark.parametrize(
    ("encoding", "asked"),
    [("utf-8", "%E6%97%85%E8%B2%BB"), ("cp932", "%97%B7%94%EF"), ("euc_jp", "%CE%B9%C8%F1")],
)
def test_a_japanese_query_is_asked_for_in_the_encoding_of_its_page(site, crawl, encoding, asked):
    page = "<title>規程の一覧</title><p>一覧から選んでください。</p><a href='list.cgi?cat=旅費#最初'>旅費</a>"
    site.pages = {"/": Reply(page.encode(encoding), content_type="text/html"), f"/list.cgi?cat={asked}": html("旅費")}
    assert crawl(site.url()).paths == ["/", f"/list.cgi?cat={asked}"]


def test_pages_are_fetched_some_at_once_but_not_more(site, crawl):
    site.pages = {"/": html("Home", *(f"/{n}" for n in range(20)))}
    site.pages |= {f"/{n}": Reply(html(f"Page {n}").body, delay=0.1) for n in range(20)}
    assert len(crawl(site.url(), crawl_at_once=3).pages) == 21
    assert 2 <= site.most_at_once <= 3


def test_a_host_is_asked_no_more_often_than_the_rate_says(site, crawl):
    site.pages = {"/": html("Home", *(f"/{n}" for n in range(10)))} | {f"/{n}": html(f"Page {n}") for n in range(10)}
    begun = time.monotonic()  # here: the server may note a request late
    crawl(site.url(), crawl_rate=20, crawl_at_once=8)
    assert time.monotonic() - begun >= (len(site.asked) - 1) / 20


def test_a_slow_reader_slows_the_crawl_and_few_files_lie_on_disk(site, tmp_path: Path):
    site.pages = {"/": html("Home", *(f"/{n}" for n in range(40)))} | {f"/{n}": html(f"Page {n}") for n in range(40)}
    folder = tmp_path / "pages"
    most = 0
    for page in Crawl(CrawlOptions(url=site.url()), settings(crawl_at_once=2), {}, folder):
        site.wait_for("/1")
        most = max(most, len(list(folder.iterdir())))
        page.path.unlink()
    assert most <= 5
    assert not list(folder.iterdir())


def test_what_waits_can_be_read_while_it_runs(site, tmp_path: Path):
    site.pages = {"/": html("Home", *(f"/{n}" for n in range(50)))} | {f"/{n}": html(f"Page {n}") for n in range(50)}
    crawl = Crawl(CrawlOptions(url=site.url()), settings(crawl_at_once=1), {}, tmp_path / "pages")
    assert crawl.waiting == 0
    waiting = [crawl.waiting for _ in crawl]
    assert max(waiting) > 40
    assert waiting[-1] == 0


def test_an_address_typed_without_its_scheme_means_https():
    assert CrawlOptions(url=" example.com/docs ").url == "https://example.com/docs"
    assert CrawlOptions(url="wiki:8080").url == "https://wiki:8080/"


def test_broken_links_are_left_out_without_a_word(site, crawl):
    site.pages = {"/": html("Home", "/missing", "/gone"), "/gone": Reply(status=410)}
    assert crawl(site.url()).of(PageOutcome.FAILED) == []


@pytest.mark.parametrize("at_once", [1, 4])
def test_links_of_a_page_count_from_where_a_redirect_to_it_is_nearest(site, crawl, at_once):
    site.pages = {
        "/": html("Home", "/a", "/docs"), "/a": html("A", "/docs/"), "/docs": moved("/docs/"),
        "/docs/": html("Docs", "/docs/x"), "/docs/x": html("X"),
    }  # fmt: skip
    assert crawl(site.url(), depth=2, crawl_at_once=at_once).paths == ["/", "/a", "/docs/", "/docs/x"]


@pytest.mark.parametrize("path", ["/規程.PDF", "/Docs/a.pdf"])
def test_a_pattern_matches_in_any_case(site, crawl, path):
    site.pages = {"/": html("Home", path), quote(path): Reply(b"%PDF-1.7", content_type="application/pdf")}
    assert crawl(site.url(), include=("/docs/*", "*.pdf")).paths == [quote(path)]
    assert crawl(site.url(), exclude=("/docs/*", "/規程.pdf")).paths == ["/"]
