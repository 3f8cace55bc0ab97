"""Addresses: one page has one address, in whatever form its links are written."""

import pytest

from index_store.crawl import CrawlOptions
from tests.servers.site_server import html


@pytest.mark.parametrize(
    ("written", "known_as"),
    [
        ("HTTP://EXAMPLE.com:80", "http://example.com/"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("https://example.com/#top", "https://example.com/"),
        ("https://example.com/?", "https://example.com/"),
        ("https://example.com./a", "https://example.com/a"),
        ("https://example.com/a/./b/../c", "https://example.com/a/c"),
        ("https://example.com/a/%2e%2E/c", "https://example.com/c"),
        ("https://example.com/../../c", "https://example.com/c"),
        ("https://example.com/%7euser/%c3%a9", "https://example.com/~user/%C3%A9"),
        ("https://example.com/規程/旅費 1.html", "https://example.com/%E8%A6%8F%E7%A8%8B/%E6%97%85%E8%B2%BB%201.html"),
        ("https://例え.テスト/", "https://xn--r8jz45g.xn--zckzah/"),
        ("https://example.com/a?b=2&a=1", "https://example.com/a?b=2&a=1"),
        ("https://example.com/a?b=2&utm_source=x&gclid=y&fbclid=z", "https://example.com/a?b=2"),
        ("https://example.com/a?PHPSESSID=1&page=2", "https://example.com/a?page=2"),
        ("https://example.com/a;jsessionid=1F2E?page=2", "https://example.com/a?page=2"),
        ("https://example.com/talk?session_id=101", "https://example.com/talk?session_id=101"),
        ("https://example.com/a?sid=autumn-conference-day", "https://example.com/a?sid=autumn-conference-day"),
        ("https://example.com/a?CFID=4711&CFTOKEN=2024", "https://example.com/a?CFID=4711&CFTOKEN=2024"),
        ("https://example.com/a?sessionid=7f3a9c0e1b2d4f68&page=2", "https://example.com/a?page=2"),
        ("https://example.com/a?id=3&print=1", "https://example.com/a?id=3"),
        ("https://example.com/a?action=print&id=3", "https://example.com/a?id=3"),
        ("https://example.com/w?title=A&printable=yes", "https://example.com/w?title=A"),
        ("https://example.com/shop?print=poster&mode=printing", "https://example.com/shop?print=poster&mode=printing"),
        ("https://example.com/a?a=1&a=1&a=2&a=1", "https://example.com/a?a=1&a=2"),
        ("https:\\\\example.com\\a", "https://example.com/a"),
        ("https://example.com/a\n/b\t", "https://example.com/a/b"),
        ("https://[2606:4700::0:1111]/", "https://[2606:4700::1111]/"),
        # sessions of ASP.NET, and what looks like one
        ("https://h/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "https://h/a.aspx"),
        ("https://h/(X(1)S(abc)F(def))/a.aspx?id=1", "https://h/a.aspx?id=1"),
        ("https://h/app/(S(abc))/", "https://h/app/"),
        ("https://h/wiki/Foo_(S(1))", "https://h/wiki/Foo_(S(1))"),
        ("https://h/wiki/(S(1))", "https://h/wiki/(S(1))"),
        ("https://h/wiki/(disambiguation)/a", "https://h/wiki/(disambiguation)/a"),
        ("https://h/wiki/(f(x))/a", "https://h/wiki/(f(x))/a"),
    ],
)
def test_an_address_has_one_form(written, known_as):
    assert CrawlOptions(url=written).url == known_as


def test_links_that_mean_the_same_page_are_asked_for_once(site, crawl):
    links = ("a", "./a", "/a#x", "/b/../a", "/%61", site.url("/a?"), "/a?utm_campaign=1", "//" + site.url("/a")[7:])
    site.pages = {"/": html("Home", *links), "/a": html("A")}
    assert crawl(site.url()).paths == ["/", "/a"]
    assert site.paths.count("/a") == 1


def test_the_form_of_a_page_for_printers_is_no_page_of_its_own(site, crawl):
    site.pages = {"/": html("Home", "/a"), "/a": html("A", "/a?print=1"), "/a?print=1": html("A for printers")}
    assert crawl(site.url()).paths == ["/", "/a"]


def test_a_host_with_and_without_www_is_one_site(crawl, site):
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    www = site.url("/a", host="www.wiki.example")
    site.pages = {"/": html("Home", www), "/a": html("A")}
    crawled = crawl(site.url(host="wiki.example"), resolve=resolve)
    assert crawled.fetched == [site.url(host="wiki.example"), www]


def test_what_follows_a_semicolon_in_an_address_is_asked_for(site, crawl):
    site.pages["/map;zoom=2"] = html("Map")
    assert crawl(site.url("/map;zoom=2"), depth=0).paths == ["/map;zoom=2"]


def test_a_list_of_files_comes_once_though_apache_offers_it_in_eight_orders(site, crawl):
    orders = [f"?C={column};O={order}" for column in "NMSD" for order in "AD"]
    site.pages = {"/files/": html("Index of /files", *orders)}
    site.pages |= {f"/files/{order}": html(f"Index of /files, {order}", *orders) for order in orders}
    assert crawl(site.url("/files/")).paths == ["/files/"]
