"""Kinds of files: the crawler fetches every kind that has a loader, and no other."""

import pytest

from index_store.crawl import PageOutcome
from index_store.parsing.loaders.formats import BY_SUFFIX
from tests.servers.site_server import Misbehaviour, Reply, html


@pytest.mark.parametrize(
    ("path", "content_type", "headers", "name"),
    [
        ("/a", "text/html", {}, "a.html"),
        ("/a.php", "text/html; charset=Shift_JIS", {}, "a.html"),
        ("/a.htm", "TEXT/HTML", {}, "a.htm"),
        ("/a", "text/html", {"content-type": "text/html; charset=Shift_JIS"}, "a.html"),  # said twice
        ("/a.xhtml", "application/xhtml+xml", {}, "a.xhtml"),
        ("/a.pdf", "application/pdf", {}, "a.pdf"),
        ("/download?id=5", "application/pdf", {}, "download.pdf"),
        ("/a.pdf", "application/octet-stream", {}, "a.pdf"),
        ("/a.pdf", "text/plain", {}, "a.pdf"),
        ("/a.pdf", "text/html", {}, "a.html"),
        ("/a.md", "text/plain", {}, "a.md"),
        ("/a", "text/markdown", {}, "a.md"),
        ("/a.docx", "application/msword", {}, "a.docx"),
        ("/a.xlsx", "application/vnd.ms-excel", {}, "a.xlsx"),
        ("/a.csv", "application/vnd.ms-excel", {}, "a.csv"),
        ("/a.pptx", "application/vnd.ms-powerpoint", {}, "a.pptx"),
        ("/a.xlsm", "application/vnd.ms-excel.sheet.macroEnabled.12", {}, "a.xlsm"),
        ("/a.docm", "application/vnd.ms-word.document.macroEnabled.12", {}, "a.docm"),
        ("/get", "application/vnd.ms-powerpoint.presentation.macroEnabled.12", {}, "get.pptm"),
        ("/a.xlsx", "application/x-msexcel", {}, "a.xlsx"),
        ("/a.xlsx", "application/excel", {}, "a.xlsx"),
        ("/a.pptx", "application/mspowerpoint", {}, "a.pptx"),
        ("/a.docx", "application/vnd.openxmlformats", {}, "a.docx"),
        ("/a.pdf", "application/octetstream", {}, "a.pdf"),
        ("/a.pdf", "application/unknown", {}, "a.pdf"),
        ("/get", "application/csv", {}, "get.csv"),
        ("/a.csv", "text/comma-separated-values", {}, "a.csv"),
        ("/notes", "text/plain", {}, "notes.txt"),
        ("/a.pdf", None, {}, "a.pdf"),
        ("/a", None, {}, "a.html"),
        ("/%E8%A6%8F%E7%A8%8B.pdf", "application/pdf", {}, "規程.pdf"),
        ("/%8BK%92%F6.pdf", "application/pdf", {}, "規程.pdf"),
        ("/%B5%AC%C4%F8.pdf", "application/pdf", {}, "規程.pdf"),
        ("/%97%B7%94%EF/", "text/html", {}, "旅費.html"),
        ("/caf%E9.pdf", "application/pdf", {}, "café.pdf"),
        ("/get", "application/octet-stream", {"Content-Disposition": 'attachment; filename="b.pdf"'}, "b.pdf"),
        (
            "/get",
            "application/octet-stream",
            {"Content-Disposition": "attachment; filename*=UTF-8''%E8%A6%8F%E7%A8%8B.pdf"},
            "規程.pdf",
        ),
        ("/get", "application/pdf", {"Content-Disposition": 'attachment; filename="../../etc/x.pdf"'}, "x.pdf"),
    ],
)
def test_a_document_is_named_for_its_kind(site, crawl, path, content_type, headers, name):
    site.pages[path] = Reply("content", content_type=content_type, headers=headers)
    assert crawl(site.url(path), depth=0).only.name == name


@pytest.mark.parametrize(
    "named",
    [
        'filename="旅費.pdf"'.encode().decode("latin-1"),
        'filename="旅費.pdf"'.encode("cp932").decode("latin-1"),
        'filename="%E6%97%85%E8%B2%BB.pdf"',
        'filename="%97%B7%94%EF.pdf"',
        'filename="=?UTF-8?B?5peF6LK7LnBkZg==?="',
        "filename=\"travel.pdf\"; filename*=UTF-8''%E6%97%85%E8%B2%BB.pdf",
        "FILENAME*=Shift_JIS'ja'%97%B7%94%EF.pdf",
    ],
    ids=["UTF-8", "Shift_JIS", "percent-encoded", "in Shift_JIS", "as in mail", "twice", "in another charset"],
)
def test_a_japanese_name_of_a_download_is_read_however_its_server_encodes_it(site, crawl, named):
    header = {"Content-Disposition": f"attachment; {named}"}
    site.pages["/get"] = Reply("content", content_type="application/pdf", headers=header)
    assert crawl(site.url("/get"), depth=0).only.name == "旅費.pdf"


@pytest.mark.parametrize(
    "named",
    [
        "filename*=undefined''%E6.pdf",
        "filename*0*=undefined''%E6.pdf",
        'filename="=?undefined?Q?a?=.pdf"',
        "filename*0=a; filename*1*=b; filename*=c",
        "filename*=raw_unicode_escape''%5Cud83d.pdf",
        'filename="=?utf-7?Q?+2D0-?=.pdf"',
    ],
)
def test_a_name_that_cannot_be_read_ends_no_crawl(site, crawl, named):
    header = {"Content-Disposition": f"attachment; {named}"}
    site.pages = {"/": html("Home", "/get"), "/get": Reply("content", content_type="application/pdf", headers=header)}
    crawled = crawl(site.url())
    assert crawled.paths == ["/", "/get"]
    assert all(page.name.encode() for page in crawled.pages)


def test_every_kind_of_the_loaders_can_be_crawled_by_its_suffix(site, crawl):
    paths = [f"/file{suffix}" for suffix in BY_SUFFIX]
    site.pages = {"/": html("Home", *paths)}
    site.pages |= {path: Reply(f"content of {path}", content_type="application/octet-stream") for path in paths}
    assert sorted(crawl(site.url()).paths) == sorted(["/", *paths])


def test_a_page_that_is_named_like_a_script_is_crawled(site, crawl):
    script = Reply("let a", content_type="text/javascript")
    site.pages = {"/": html("Home", "/wiki/Node.js", "/menu.js"), "/wiki/Node.js": html("Node.js"), "/menu.js": script}
    assert sorted(crawl(site.url()).paths) == ["/", "/wiki/Node.js"]


@pytest.mark.parametrize("content_type", ["image/png", "video/mp4", "application/json", "text/css", "x/y", "nonsense"])
def test_other_kinds_are_left_without_reading_them(site, crawl, content_type):
    large = Reply("x" * 4_000_000, content_type=content_type)
    site.pages = {"/": html("Home", "/a", "/b"), "/a": large, "/b": html("B")}
    assert crawl(site.url(), max_file_mb=1).paths == ["/", "/b"]


def test_an_endless_stream_of_another_kind_costs_nothing(site, crawl):
    endless = lambda asked: Misbehaviour.NEVER_ENDS  # noqa: E731
    site.pages = {"/": html("Home", "/stream.mp3"), "/stream.mp3": endless}
    assert crawl(site.url()).paths == ["/"]
    assert "/stream.mp3" not in site.paths


@pytest.mark.parametrize(
    ("content_type", "charset"),
    [
        ("text/html; charset=Shift_JIS", "shift_jis"),
        ('text/html;charset="EUC-JP"', "euc-jp"),
        ("text/html; charset='utf-8'; x=y", "utf-8"),
        ("text/html", None),
        ("text/html; charset=", None),
        ("text/html; charset=\x7f\x01", None),
    ],
)
def test_the_charset_is_the_servers_word(site, crawl, content_type, charset):
    site.pages["/"] = Reply("<p>x", content_type=content_type)
    assert crawl(site.url(), depth=0).only.charset == charset


def test_documents_in_formats_that_can_not_be_read_are_told_and_take_no_place_of_the_limit(site, crawl):
    old = Reply("x", content_type="application/msword")
    site.pages = {"/": html("Home", "/form.doc", "/list.xls", "/x.bin", "/a"), "/a": html("A")}
    site.pages |= {"/form.doc": old, "/list.xls": old, "/x.bin": old}
    crawled = crawl(site.url(), limit=2, crawl_at_once=1)
    assert crawled.paths == ["/", "/a"]
    assert crawled.of(PageOutcome.FAILED) == [site.url("/form.doc"), site.url("/list.xls")]


def test_the_source_of_a_page_of_sphinx_does_not_bring_its_text_twice(site, crawl):
    source = Reply("Guide\n=====\nText.", content_type="text/plain")
    site.pages = {"/": html("Home", "/guide.html"), "/guide.html": html("Guide", "/_sources/guide.rst.txt")}
    site.pages["/_sources/guide.rst.txt"] = source
    assert crawl(site.url()).paths == ["/", "/guide.html"]


def test_a_folder_that_is_named_like_a_picture_or_a_program_is_crawled(site, crawl):
    site.pages = {"/": html("Home", "/news/open.ai/", "/logo.ai"), "/news/open.ai/": html("AI")}
    assert crawl(site.url()).paths == ["/", "/news/open.ai/"]
    assert "/logo.ai" not in site.paths
