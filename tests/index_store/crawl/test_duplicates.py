"""Duplicates: a page with several addresses is in the result once."""

import itertools
from dataclasses import replace

import pytest

from index_store.crawl import PageOutcome
from index_store.crawl.crawler import SILENCES
from tests.servers.site_server import Reply, html, moved


def canonical(path: str) -> str:
    return f'<link rel="canonical" href="{path}">'


def test_the_same_content_comes_once(site, crawl):
    site.pages = {"/": html("Home", "/a", "/copy"), "/a": html("A"), "/copy": html("A")}
    assert crawl(site.url(), crawl_at_once=1).paths == ["/", "/a"]


def test_which_of_two_copies_is_kept_stays_the_same_when_it_is_crawled_again(site, crawl):
    site.pages = {"/": html("Home", "/a", "/copy"), "/a": html("A"), "/copy": html("A")}
    first = crawl(site.url(), crawl_at_once=1)
    site.pages["/"] = html("Home", "/copy", "/a")
    again = crawl(site.url(), first.known, crawl_at_once=1)
    assert again.paths == ["/"]
    assert again.of(PageOutcome.UNCHANGED) == [site.url("/a")]
    assert again.of(PageOutcome.GONE) == []


def test_a_copy_takes_the_place_of_its_original_when_that_is_gone(site, crawl):
    site.pages = {"/": html("Home", "/a", "/copy"), "/a": html("A"), "/copy": html("A")}
    first = crawl(site.url(), crawl_at_once=1)
    site.pages["/"] = html("Home", "/copy")
    again = crawl(site.url(), first.known)
    assert sorted(again.paths) == ["/", "/copy"]
    assert again.of(PageOutcome.GONE) == [site.url("/a")]


@pytest.mark.parametrize("at_once", [1, 4])
def test_an_earlier_version_that_is_kept_under_another_address_comes_though_its_content_was_known(site, crawl, at_once):
    site.pages = {"/": html("Home", "/rules.txt"), "/rules.txt": Reply("2024", content_type="text/plain")}
    first = crawl(site.url())
    site.pages["/"] = html("Home", "/rules.txt", "/rules-2024.txt")
    site.pages["/rules-2024.txt"] = site.pages["/rules.txt"]
    site.pages["/rules.txt"] = Reply("2025", content_type="text/plain")
    again = crawl(site.url(), first.known, crawl_at_once=at_once)
    assert sorted(again.paths) == ["/", "/rules-2024.txt", "/rules.txt"]


@pytest.mark.parametrize("links", [("/1", "/2", "/3"), ("/3", "/2", "/1")])
def test_pages_whose_contents_have_all_moved_on_by_one_are_all_kept(site, crawl, links):
    site.pages = {"/": html("Home", *links), "/1": html("May"), "/2": html("April"), "/3": html("March")}
    first = crawl(site.url(), crawl_at_once=1)
    site.pages |= {"/1": html("June"), "/2": html("May"), "/3": html("April")}
    again = crawl(site.url(), first.known, crawl_at_once=1)
    assert sorted(again.paths) == ["/1", "/2", "/3"]
    assert again.of(PageOutcome.GONE) == []


@pytest.mark.parametrize("at_once", [1, 4])
def test_a_variant_gives_way_to_the_page_that_it_names_as_canonical(site, crawl, at_once):
    page = html("Guide", "/next", head=canonical("/guide"))
    site.pages = {
        "/": html("Home", "/guide?sort=a", "/guide?sort=b"),
        "/guide": page,
        "/guide?sort=a": Reply(page.body + "sorted by a"),
        "/guide?sort=b": Reply(page.body + "sorted by b"),
        "/next": html("Next"),
    }
    assert sorted(crawl(site.url(), crawl_at_once=at_once).paths) == ["/", "/guide", "/next"]


def test_a_canonical_page_to_which_only_its_variants_link_stays_the_one_when_it_is_crawled_again(site, crawl):
    guide = html("Guide", head=canonical("/guide"))
    site.pages = {"/": html("Home", "/guide?from=home"), "/guide": guide, "/guide?from=home": guide}
    first = crawl(site.url())
    assert first.paths == ["/", "/guide"]
    again = crawl(site.url(), first.known)
    assert again.of(PageOutcome.UNCHANGED) == [site.url("/"), site.url("/guide")]
    assert len(again.pages) == 2


@pytest.mark.parametrize("depth", [1, 2])
def test_a_canonical_page_is_not_gone_while_the_pages_that_name_it_are_unchanged(site, crawl, depth):
    article = html("Holidays", head=canonical("/news"))
    site.pages = {"/": html("Home", "/news?id=1"), "/news": html("News"), "/news?id=1": article}
    first = crawl(site.url(), depth=depth)
    assert sorted(first.paths) == ["/", "/news", "/news?id=1"]
    assert crawl(site.url(), first.known, depth=depth).of(PageOutcome.GONE) == []


def test_a_canonical_address_may_stand_in_the_header(site, crawl):
    header = {"Link": '</style.css>; rel=preload, </report.txt>; rel="canonical"'}
    site.pages = {
        "/": html("Home", "/report.txt?download=1"),
        "/report.txt?download=1": Reply("draft", content_type="text/plain", headers=header),
        "/report.txt": Reply("report", content_type="text/plain"),
    }
    assert crawl(site.url()).paths == ["/", "/report.txt"]


@pytest.mark.parametrize("target", [Reply(status=404), Reply(status=500), moved("/variant")])
def test_a_page_whose_canonical_one_does_not_come_stands_alone(site, crawl, target):
    site.pages = {"/": html("Home", "/variant"), "/variant": html("V", head=canonical("/lost")), "/lost": target}
    assert crawl(site.url()).paths == ["/", "/variant"]


def test_pages_whose_canonical_ones_are_where_nobody_answers_are_fetched_without_a_failure(site, crawl):
    """As in a copy of a site inside the network: its pages go on naming the address outside."""

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.3" if host.startswith("www.") else "127.0.0.1"]

    paths = [f"/{number}" for number in range(2 * SILENCES)]
    site.pages["/"] = html("Home", *paths)
    for path in paths:
        site.pages[path] = html(path, f"{path}/more", head=canonical(site.url(path, host="www.wiki.example")))
        site.pages[f"{path}/more"] = html(f"More of {path}")
    first = crawl(site.url(host="wiki.example"), resolve=resolve)
    assert set(first.paths) == set(site.pages)
    assert not first.of(PageOutcome.FAILED)
    for path in paths:
        site.pages[path] = replace(site.pages[path], body=site.pages[path].body + "<p>News")
    second = crawl(site.url(host="wiki.example"), first.known, resolve)
    third = crawl(site.url(host="wiki.example"), first.known | second.known, resolve)
    assert len(second.fetched) == len(paths)
    assert {page.outcome for page in (*second.pages, *third.pages)} == {PageOutcome.FETCHED, PageOutcome.UNCHANGED}


def test_pages_that_all_name_the_front_page_as_canonical_are_kept(site, crawl):
    """A common mistake: the template of all pages has this line."""
    site.pages = {path: html(f"Page {path}", "/a", "/b", head=canonical("/")) for path in ("/", "/a", "/b")}
    assert sorted(crawl(site.url()).paths) == ["/", "/a", "/b"]


@pytest.mark.parametrize("title", ["<title>Yamada Trading</title>", ""])
def test_pages_whose_template_names_the_front_page_and_its_title_everywhere_are_kept(site, crawl, title):
    def page(text: str) -> Reply:
        links = "".join(f'<a href="{path}">{path}</a>' for path in ("/", "/a", "/b", "/index.html"))
        logo = "<h1>Yamada Trading</h1>"
        return Reply(f"<head>{title}{canonical('/')}</head><body>{logo}{links}<p>{text}</p><i>{next(now)}</i></body>")

    now = itertools.count()
    texts = {"/": "Home", "/a": "The rules of travel", "/b": "The prices", "/index.html": "Home"}
    site.pages = {path: lambda asked, text=text: page(text) for path, text in texts.items()}
    assert sorted(set(crawl(site.url(), crawl_at_once=1).paths) - {"/index.html"}) == ["/", "/a", "/b"]


def test_pages_that_have_the_title_of_the_site_are_kept_whichever_page_all_of_them_name(site, crawl):
    def page(text: str) -> Reply:
        return html("Yamada Trading", "/a", "/b", "/index.html", head=canonical("/index.html"), text=text)

    site.pages = {"/": page("Home"), "/a": page("Travel"), "/b": page("Prices"), "/index.html": page("Home")}
    first = crawl(site.url())
    assert {"/a", "/b", "/index.html"} <= set(first.paths)
    site.pages["/c"] = page("Holidays")
    site.pages["/a"] = html("Yamada Trading", "/c", head=canonical("/index.html"), text="Travel in Japan")
    assert sorted(crawl(site.url(), first.known).paths) == ["/a", "/c"]


def test_the_front_page_under_another_address_comes_once_though_a_token_differs(site, crawl):
    lines = "".join(f"<p>Line {n} of the front page</p>" for n in range(40))
    tokens = itertools.count()
    body = html("Home", "/index.html", head=canonical("/")).body + lines
    page = lambda asked: Reply(f"{body}<i>token {next(tokens)}</i>")  # noqa: E731
    site.pages = {"/": page, "/index.html": page}
    assert crawl(site.url()).paths == ["/"]


def test_pages_without_a_title_are_not_the_same_for_lack_of_one(site, crawl):
    site.pages = {
        "/": html("Home", "/a", "/b"),
        "/a": Reply("<p>The rules of travel"),
        "/b": Reply(f"{canonical('/a')}<p>The prices"),
    }
    assert sorted(crawl(site.url()).paths) == ["/", "/a", "/b"]


def test_the_second_page_of_a_list_is_kept_though_it_names_the_first_as_canonical(site, crawl):
    head = canonical("/list")
    site.pages = {
        "/list": html("News", "/list?page=2", head=head, text="The office is closed in August."),
        "/list?page=2": html("News", "/list", head=head, text="The allowance is 3,000 yen."),
    }
    assert sorted(crawl(site.url("/list")).paths) == ["/list", "/list?page=2"]


def test_pages_that_name_each_other_as_canonical_come_once(site, crawl):
    site.pages = {
        "/": html("Home", "/a", "/b"),
        "/a": html("Same", head=canonical("/b")),
        "/b": html("Same", head=canonical("/a"), text="b"),
    }
    assert len(crawl(site.url()).paths) == 2


def test_a_canonical_page_elsewhere_is_not_asked_for(site, crawl):
    site.pages["/"] = html("Home", head=canonical("http://elsewhere.invalid/"))
    assert crawl(site.url()).paths == ["/"]


def test_redirects_to_a_page_that_is_there_already_add_nothing(site, crawl):
    site.pages = {
        "/": html("Home", "/a", "/old", "/older"),
        "/a": html("A"),
        "/old": moved("/a"),
        "/older": moved("/old"),
    }
    assert sorted(crawl(site.url()).paths) == ["/", "/a"]


def test_a_page_that_is_moved_is_known_by_where_it_is(site, crawl):
    site.pages = {
        "/": html("Home", "/old"),
        "/old": moved("/new/", 301),
        "/new/": html("New", "page"),
        "/new/page": html("P"),
    }
    assert crawl(site.url()).paths == ["/", "/new/", "/new/page"]


@pytest.mark.parametrize("said", ["0;URL='start.html'", "0 url=/start.html", ".5;url=/start.html", "0 , /start.html"])
def test_a_page_that_refreshes_to_another_at_once_is_a_redirect(site, crawl, said):
    refresh = f'<meta http-equiv="Refresh" content="{said}">'
    site.pages = {"/": html("", head=refresh), "/start.html": html("Start")}
    assert crawl(site.url()).paths == ["/start.html"]


def test_a_page_that_leads_to_another_after_some_seconds_links_to_it(site, crawl):
    refresh = '<meta http-equiv="refresh" content="5;url=/new/">'
    site.pages = {"/": html("We have moved", head=refresh), "/new/": html("New")}
    assert crawl(site.url()).paths == ["/", "/new/"]


def test_what_a_page_tells_browsers_without_scripts_does_not_lead_away_from_it(site, crawl):
    without_scripts = '<noscript><meta http-equiv="refresh" content="0; url=/no-scripts"></noscript>'
    site.pages = {
        "/": html("Rules", "/travel", head=without_scripts),
        "/travel": html("Travel", head=without_scripts),
        "/no-scripts": html("Please turn on JavaScript."),
    }
    assert crawl(site.url()).paths == ["/", "/travel"]


def test_pages_that_may_not_be_indexed_are_read_for_links_alone(site, crawl):
    site.pages = {
        "/": html("Home", "/list", "/header"),
        "/list": html("List", "/a", head='<meta name="ROBOTS" content="NoIndex">'),
        "/header": Reply(html("Header", "/b").body, headers={"X-Robots-Tag": "noindex"}),
        "/a": html("A"),
        "/b": html("B"),
    }
    assert sorted(crawl(site.url()).paths) == ["/", "/a", "/b"]


def test_a_rule_with_a_colon_does_not_hide_the_next_one(site, crawl):
    header = {"X-Robots-Tag": "max-snippet:-1, noindex"}
    site.pages = {"/": html("Home", "/a"), "/a": Reply(html("A").body, headers=header)}
    assert crawl(site.url()).paths == ["/"]


@pytest.mark.parametrize("said", ["nofollow", "noindex, nofollow", "none"])
def test_links_that_may_not_be_followed_are_not(site, crawl, said):
    site.pages = {
        "/": html("Home", "/a"),
        "/a": html("A", "/b", head=f'<meta name="robots" content="{said}">'),
        "/b": html("B"),
    }
    crawl(site.url())
    assert "/b" not in site.paths


def test_what_another_crawler_is_told_does_not_matter(site, crawl):
    meta = '<meta name="googlebot" content="noindex">'
    site.pages["/"] = Reply(html("Home", head=meta).body, headers={"X-Robots-Tag": "otherbot: noindex"})
    assert crawl(site.url()).paths == ["/"]
