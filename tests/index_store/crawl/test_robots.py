"""The crawler obeys robots.txt and reads site maps."""

import gzip
import time
import tracemalloc

import pytest

from index_store.crawl import PageOutcome
from index_store.crawl.requests.fetch import USER_AGENT
from index_store.crawl.requests.politeness import ROBOTS_SIZE
from tests.servers.site_server import Misbehaviour, Reply, SiteServer, html, moved


def robots(*lines: str) -> Reply:
    return Reply("\n".join(lines), content_type="text/plain")


def sitemap(*addresses: str, kind: str = "urlset") -> Reply:
    entry = "url" if kind == "urlset" else "sitemap"
    entries = "".join(f"<{entry}><loc>{address}</loc></{entry}>" for address in addresses)
    return Reply(
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{kind}>',
        content_type="application/xml",
    )


@pytest.fixture
def pages(site):
    site.pages = {"/": html("Home", "/a", "/private/b"), "/a": html("A"), "/private/b": html("B")}
    return site.pages


def test_what_robots_txt_forbids_is_not_asked_for(site, pages, crawl):
    pages["/robots.txt"] = robots("User-agent: *", "Disallow: /private/")
    assert crawl(site.url()).paths == ["/", "/a"]
    assert "/private/b" not in site.paths


def test_rules_for_this_crawler_come_before_those_for_all(site, pages, crawl):
    pages["/robots.txt"] = robots(
        "User-agent: *", "Disallow: /", "", "User-agent: glassbox-rag", "Disallow: /private", "Allow: /private/b$"
    )
    assert len(crawl(site.url()).paths) == 3


def test_a_start_that_robots_txt_forbids_fails_and_is_not_asked_for(site, pages, crawl):
    pages["/robots.txt"] = robots("User-agent: *", "Disallow: /")
    assert "robots.txt does not allow fetching" in crawl(site.url()).failure
    assert site.paths == ["/robots.txt"]


def test_a_redirect_to_what_robots_txt_forbids_is_not_followed(site, pages, crawl):
    pages["/a"] = moved("/private/b")
    pages["/robots.txt"] = robots("User-agent: *", "Disallow: /private/")
    assert crawl(site.url()).paths == ["/"]
    assert "/private/b" not in site.paths


@pytest.mark.parametrize(
    "answer",
    [
        Reply(status=404),
        Reply(status=403),
        html("Not a robots.txt", text="Disallow: /"),
        Reply(b"\xff\xfe\x00" * 100),
        Reply("Disallow: /x\n" * 100_000),
        Reply(""),
        moved("http://127.0.0.1:1/"),
    ],
)
def test_where_there_are_no_rules_everything_may_be_crawled(site, pages, crawl, answer):
    pages["/robots.txt"] = answer
    expected = 1 if answer.status == 302 else 3
    assert len(crawl(site.url()).pages) == expected


def test_a_robots_txt_with_a_byte_order_mark_or_behind_redirects_is_obeyed(site, pages, crawl):
    pages["/robots.txt"] = moved("/r1")
    pages["/r1"] = moved("/r2")
    pages["/r2"] = robots("\ufeffUser-agent: *", "Disallow: /private/")
    assert crawl(site.url()).paths == ["/", "/a"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_robots_txt_in_utf_16_is_obeyed(site, pages, crawl, encoding):
    text = "\ufeff" * (encoding == "utf-16-be") + "User-agent: *\r\nDisallow: /private/\r\n"
    pages["/robots.txt"] = Reply(text.encode(encoding), content_type="text/plain")
    assert crawl(site.url()).paths == ["/", "/a"]


@pytest.mark.parametrize("is_packed", [False, True])
def test_of_a_long_robots_txt_the_whole_lines_at_its_beginning_are_obeyed(site, pages, crawl, is_packed):
    beginning = "User-agent: *\nDisallow: /private/\n"
    cut = "Disallow: /elsewhere/\n"  # behind its first /, which alone would forbid everything
    padding = "#" * (ROBOTS_SIZE - len(beginning) - len("\nDisallow: /")) + "\n"
    text = (beginning + padding + cut + "# more\n" * 100_000).encode()
    pages["/robots.txt"] = (
        Reply(gzip.compress(text), headers={"Content-Encoding": "gzip"}, content_type="text/plain")
        if is_packed
        else Reply(text, content_type="text/plain")
    )
    assert crawl(site.url()).paths == ["/", "/a"]


@pytest.mark.parametrize("name", ["User-agent: *", "user agent GlassBox-RAG", "User-Agent:glassbox* # ours"])
def test_rules_that_this_crawler_shares_with_others_are_obeyed(site, pages, crawl, name):
    pages["/robots.txt"] = robots(
        "User-agent: a", name, "User-agent: b", "Disallow: /private/", "User-agent: c", "Disallow: /"
    )
    assert crawl(site.url()).paths == ["/", "/a"]


@pytest.mark.parametrize("name", [USER_AGENT, USER_AGENT.split()[0]])
def test_rules_for_the_name_as_it_stands_in_logs_are_obeyed(site, pages, crawl, name):
    pages["/robots.txt"] = robots(f"User-agent: {name}", "Disallow: /private/", "User-agent: a/1", "Disallow: /")
    assert crawl(site.url()).paths == ["/", "/a"]


def test_rules_for_thousands_of_crawlers_take_little_memory(site, pages, crawl):
    names = [f"User-agent: {number}" for number in range(1_000)]
    pages["/robots.txt"] = robots(*names, *["Disallow: /private/"] * 1_000)
    tracemalloc.start()
    assert len(crawl(site.url()).pages) == 3
    assert tracemalloc.get_traced_memory()[1] < 30_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("answer", [Reply(status=500), Reply(status=503), Misbehaviour.HANGS, Misbehaviour.RESETS])
def test_a_site_whose_rules_fail_is_not_crawled(site, pages, crawl, answer):
    pages["/robots.txt"] = answer
    assert "robots.txt" in crawl(site.url(), crawl_timeout=0.3).failure
    assert set(site.paths) == {"/robots.txt"}


@pytest.mark.parametrize("line", ["Crawl-delay: 0.2", "Request-rate: 5/1s"])
def test_a_delay_that_the_site_asks_for_is_kept(site, pages, crawl, line):
    pages["/robots.txt"] = robots("User-agent: *", line)
    begun = time.monotonic()  # here: the server may note a request late
    crawl(site.url())
    assert time.monotonic() - begun >= 0.2 * (len(site.asked) - 2)


def test_a_rate_in_a_number_without_end_ends_no_crawl(site, pages, crawl, monkeypatch):
    monkeypatch.setattr("index_store.crawl.requests.politeness.LONGEST_DELAY", 0.1)
    pages["/robots.txt"] = robots("User-agent: *", f"Request-rate: 1/{'9' * 400}")
    assert len(crawl(site.url()).pages) == 3


def test_pages_that_only_the_site_map_names_come_last(site, pages, crawl):
    pages["/sitemap.xml"] = sitemap(site.url("/hidden"), site.url("/a"), "http://elsewhere.invalid/")
    pages["/hidden"] = html("Hidden", "/below")
    pages["/below"] = html("Below")
    assert crawl(site.url(), crawl_at_once=1).paths == ["/", "/a", "/private/b", "/hidden", "/below"]


def test_maps_of_maps_compressed_ones_and_lists_are_read_where_robots_txt_says(site, pages, crawl):
    pages["/robots.txt"] = robots(f"Sitemap: {site.url('/maps.xml')}", "Sitemap: /list.txt", "Sitemap: http://[")
    pages["/maps.xml"] = sitemap(site.url("/packed.xml.gz"), site.url("/missing.xml"), kind="sitemapindex")
    pages["/packed.xml.gz"] = Reply(gzip.compress(sitemap(site.url("/x")).content), content_type="application/gzip")
    pages["/list.txt"] = Reply(f"\ufeff{site.url('/y')}\n\n{site.url('/z')}\n", content_type="text/plain")
    pages |= {f"/{name}": html(name) for name in "xyz"}
    assert {"/x", "/y", "/z"} <= set(crawl(site.url()).paths)


@pytest.mark.parametrize(
    "feed",
    [
        "<rss><channel><link>/channel</link><item><guid>/guid</guid><link> /x </link></item></channel></rss>",
        "<r:RDF xmlns:r='urn:rdf' xmlns='urn:rss'><item><title>X</title><link><![CDATA[/x]]></link></item></r:RDF>",
        "<feed xmlns='a'><link href='/self'/><entry><link href='/edit' rel='edit'/><link href='/x'/></entry></feed>",
    ],
)
def test_a_feed_may_be_the_site_map(site, pages, crawl, feed):
    pages["/robots.txt"] = robots("Sitemap: /feed")
    pages["/feed"] = Reply(feed, content_type="application/xml")
    site.otherwise = lambda asked: html(asked.path)
    assert crawl(site.url(), crawl_at_once=1).paths == ["/", "/a", "/private/b", "/x"]


def test_a_map_for_each_month_of_many_years_is_read(site, pages, crawl):
    months = [f"/{month}.xml" for month in range(60)]
    pages["/sitemap.xml"] = sitemap(*map(site.url, months), kind="sitemapindex")
    pages |= {month: sitemap(site.url(f"/page{month}")) for month in months}
    pages["/page/59.xml"] = html("The first month")
    assert "/page/59.xml" in crawl(site.url()).paths


def test_of_a_site_map_only_what_lies_in_the_folder_of_the_start_counts(site, pages, crawl):
    pages["/sitemap.xml"] = sitemap(site.url("/docs/b"), site.url("/news"))
    pages |= {"/docs/": html("Docs"), "/docs/b": html("B"), "/news": html("News")}
    assert crawl(site.url("/docs/")).paths == ["/docs/", "/docs/b"]


@pytest.mark.parametrize(
    "answer",
    [
        Reply("<urlset><url><loc>/x</loc></url><url><loc>", content_type="text/xml"),
        Reply("<html><body>no map", content_type="text/html"),
        Reply("<urlset><url><loc>&#xD800;</loc></url></urlset>", content_type="text/xml"),
        Reply(gzip.compress(b"<urlset><url>" * 1000)[:-30], content_type="application/gzip"),
        Reply(
            '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
            '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d SYSTEM "file:///etc/passwd">]>'
            "<urlset><url><loc>&c;&d;</loc></url></urlset>",
            content_type="text/xml",
        ),
        Misbehaviour.NEVER_ENDS,
        Misbehaviour.HANGS,
        Reply(status=500),
        moved("/sitemap.xml"),
    ],
)
def test_a_bad_site_map_costs_nothing_but_itself(site, pages, crawl, answer):
    pages["/sitemap.xml"] = answer
    assert_all_pages_are_found(crawl(site.url(), crawl_timeout=0.3))


def test_a_site_map_that_unpacks_to_far_more_than_is_read_costs_nothing_but_itself(site, pages, crawl):
    spaces = gzip.compress(b"<urlset>" + b" " * 80_000_000, compresslevel=1)
    pages["/sitemap.xml"] = Reply(spaces, content_type="application/gzip")
    assert_all_pages_are_found(crawl(site.url(), crawl_timeout=0.3))


def assert_all_pages_are_found(crawled):
    assert {"/", "/a", "/private/b"} <= set(crawled.paths)
    assert crawled.of(PageOutcome.FAILED) == []


@pytest.mark.parametrize(
    ("part", "times"),
    [
        ("<u>&</u>", 100_000),
        *(pytest.param(each, 500_000, marks=pytest.mark.soak) for each in ("<u>&</u>", "<a/>", "&b; ")),
    ],
)
def test_a_site_map_of_nothing_but_elements_or_errors_takes_little_memory(site, pages, crawl, part, times):
    pages["/sitemap.xml"] = Reply(gzip.compress(f"<urlset>{part * times}".encode()), content_type="application/gzip")
    tracemalloc.start()
    assert len(crawl(site.url()).pages) == 3
    assert tracemalloc.get_traced_memory()[1] < 1_000_000 + 58 * times
    tracemalloc.stop()


QUERIES = [
    pytest.param(before, between, marks=pytest.mark.soak if before and between != "&amp;" else ())
    for before in ("", "\n", "\ufeff\n")
    for between in ("&amp;", "&#38;", "&#x26;", "&")
]
"""what stands before the map, and how it writes &: in `make test`, not both odd"""


def test_of_a_site_map_with_errors_the_addresses_behind_them_count(site, pages, crawl):
    pages["/sitemap.xml"] = sitemap(site.url("/x?a=1&b=2"), site.url("/y"))
    pages["/y"] = html("Y")
    assert "/y" in crawl(site.url()).paths


@pytest.mark.parametrize(("before", "between"), QUERIES)
def test_addresses_of_a_site_map_keep_their_queries_whatever_is_wrong_with_it(site, pages, crawl, before, between):
    query = f"a=1{between}region=2"
    said = f"<urlset><url><loc>/x?{query}</loc></url><url><loc><![CDATA[/y?a=1&region=2]]></loc></url></urlset>"
    pages["/sitemap.xml"] = Reply(f'{before}<?xml version="1.0" encoding="UTF-8"?>{said}', content_type="text/xml")
    pages |= {"/x?a=1&region=2": html("X"), "/y?a=1&region=2": html("Y")}
    assert {"/x?a=1&region=2", "/y?a=1&region=2"} <= set(crawl(site.url()).paths)


def test_of_a_site_map_the_folder_counts_to_which_the_start_redirects(site, crawl):
    site.pages = {"/docs": moved("/docs/"), "/docs/": html("Docs"), "/docs/a": html("A"), "/blog/": html("Blog")}
    site.pages["/sitemap.xml"] = Reply("/docs/a\n/blog/", content_type="text/plain")
    assert crawl(site.url("/docs")).paths == ["/docs/", "/docs/a"]
    site.pages["/"] = moved("/docs/")
    assert sorted(crawl(site.url("/")).paths) == ["/blog/", "/docs/", "/docs/a"]


def test_the_site_map_of_the_host_to_which_the_start_redirects_is_read(site, crawl):
    with SiteServer({"/portal/": html("Portal"), "/portal/a": html("A")}) as portal:
        portal.pages["/sitemap.xml"] = Reply("/portal/a", content_type="text/plain")
        site.pages["/"] = moved(portal.url("/portal/"))
        assert crawl(site.url()).fetched == [portal.url("/portal/"), portal.url("/portal/a")]
