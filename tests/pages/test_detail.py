"""What a row of the trace says, and what it opens to."""

import re
from html import unescape
from html.parser import HTMLParser
from typing import get_args
from urllib.parse import parse_qsl

import pytest

from pages.widgets import detail
from rag.trace import Detail
from tests.pages.reader import for_reader
from tests.pages.trace_examples import DETAILS, HOSTILE, finished

each_detail = pytest.mark.parametrize("example", DETAILS, ids=lambda each: each.type)
each_language = pytest.mark.parametrize("language", ["ja", "en"])


class Tags(HTMLParser):
    """The tags that a browser would see in `html`, and the text between them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_every_kind_of_detail_is_among_the_examples():
    union, *_ = get_args(Detail)
    assert {type(each) for each in DETAILS} == set(get_args(union))


@each_language
@each_detail
def test_every_kind_of_detail_has_a_summary(example, language):
    summary, _ = for_reader(language, lambda: detail.summary(finished(example)))
    assert summary.strip()


@each_language
@each_detail
def test_every_kind_of_detail_opens_to_its_full_account(example, language):
    _, page = for_reader(language, lambda: detail.show(finished(example), "handbook"))
    [shown] = page.html
    assert 'class="detail"' in shown.value


@each_detail
def test_no_words_of_a_document_or_a_model_become_html(example):
    _, page = for_reader("en", lambda: detail.show(finished(example), HOSTILE))
    html = page.html[0].value
    tags = Tags(html)
    assert not tags.names & {"script", "img", "iframe", "style", "link"}
    assert all(address.startswith("search?") for address in re.findall(r"<a href=.([^'\"]*)", html))
    assert not {name for name in tags.attributes if name.startswith("on")}


@each_language
def test_a_retrieval_leads_to_the_same_search_on_the_search_page(language):
    _, page = for_reader(language, lambda: detail.show(finished(DETAILS[0]), "出張 & 旅費"))
    [address] = re.findall(r'<a href="([^"]*)"', page.html[0].value)
    path, _, asked = unescape(address).partition("?")
    assert path == "search"
    wanted = {"q": HOSTILE, "index": "出張 & 旅費", "unit": DETAILS[0].unit, "lang": language}
    assert dict(parse_qsl(asked)) == wanted


def test_what_is_escaped_reads_as_it_was_written():
    _, page = for_reader("en", lambda: detail.show(finished(DETAILS[0]), "handbook"))
    assert HOSTILE in Tags(page.html[0].value).text


@each_detail
def test_no_words_of_a_document_or_a_model_become_markdown_in_a_row(example):
    summary, _ = for_reader("en", lambda: detail.summary(finished(example)))
    assert not re.search(r"(?<!\\)[\[<*`$]", summary)
