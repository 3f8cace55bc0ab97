"""Tavily's own client with a local server: its results and its errors."""

import asyncio
import logging

import pytest
from pydantic import SecretStr

from rag.errors import (
    WebAnswerUnreadable,
    WebKeyRefused,
    WebLimitReached,
    WebSearchFailed,
    WebSearchTooSlow,
    WebUnreachable,
)
from rag.web import Tavily, WebResult
from rag.web.search import LONGEST_TEXT, MOST_RESULTS
from tests.rag.conftest import TAVILY_KEY
from tests.servers import Fault, Refusal, TavilyServer
from tests.servers import WebResult as Scripted

WEATHER = Scripted("大阪の天気", "https://weather.example/osaka", "今日の大阪は晴れです。")


def search(url: str, query: str = "?", key: str = TAVILY_KEY, time_limit: float = 60) -> list[WebResult]:
    async def ask() -> list[WebResult]:
        web = Tavily(SecretStr(key), url, time_limit=time_limit)
        try:
            return await web.search(query, "ja")
        finally:
            await web.close()

    return asyncio.run(ask())


def test_a_search_gives_title_address_text_and_date_of_what_was_found(tavily):
    tavily.default = [WEATHER, Scripted("News", "http://news.example/", "It rained.", published_date="2026-11-20")]
    assert search(tavily.url, "今日の天気") == [
        WebResult("大阪の天気", "https://weather.example/osaka", "今日の大阪は晴れです。", 0.9),
        WebResult("News", "http://news.example/", "It rained.", 0.9, "2026-11-20"),
    ]
    assert tavily.queries == ["今日の天気"]
    assert not tavily.requests[0].is_keyless


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        (Refusal(400), WebSearchFailed),
        (Refusal(401), WebKeyRefused),
        (Refusal(403), WebLimitReached),
        (Refusal(429), WebLimitReached),
        (Refusal(432, "over the plan"), WebLimitReached),
        (Refusal(500), WebSearchFailed),
        (Refusal(503), WebSearchFailed),
        (Refusal(302), WebSearchFailed),
        (Refusal(204), WebAnswerUnreadable),
        (Fault.CLOSES, WebUnreachable),
        (Fault.CLOSES_MIDWAY, WebUnreachable),
        (Fault.MALFORMED, WebAnswerUnreadable),
    ],
    ids=str,
)
def test_what_goes_wrong_is_told_in_a_sentence_that_names_the_service(tavily, trouble, error):
    tavily.fails(trouble)
    with pytest.raises(error) as caught:
        search(tavily.url)
    for language in ("en", "ja"):
        assert "Tavily" in caught.value.sentence(language)


def test_a_service_that_says_nothing_is_left_after_the_time_limit(tavily):
    tavily.fails(Fault.HANGS)
    with pytest.raises(WebSearchTooSlow):
        search(tavily.url, time_limit=0.3)
    assert tavily.requests[0].disconnected.wait(60)


def test_a_service_that_is_not_there_is_told_as_unreachable():
    with TavilyServer() as gone:
        url = gone.url
    with pytest.raises(WebUnreachable):
        search(url)


@pytest.mark.parametrize("key", ["tvly-ключ", "tvly-with\nnewline"])
def test_a_key_that_cannot_be_sent_is_told_in_a_sentence_without_it(tavily, key):
    with pytest.raises((WebAnswerUnreadable, WebUnreachable, WebKeyRefused)) as caught:
        search(tavily.url, key=key)
    assert key not in str(caught.value)


def test_a_refusal_that_repeats_the_key_leaves_it_out_of_error_and_log(tavily, caplog):
    caplog.set_level(logging.DEBUG)
    tavily.fails(Refusal(401, message=f"Invalid key {TAVILY_KEY}"))
    with pytest.raises(WebKeyRefused) as caught:
        search(tavily.url)
    assert TAVILY_KEY not in f"{caught.value!r} {caught.value.as_failure()} {caught.value.details}"
    assert TAVILY_KEY not in caplog.text


@pytest.mark.parametrize(
    "body", [[], "text", {"results": None}, {"results": {"a": 1}}, {"results": 5}], ids=lambda body: repr(body)
)
def test_an_answer_of_another_shape_is_unreadable(tavily, body):
    tavily.routes[("POST", "/search")] = lambda request, connection, fault: connection.send_json(200, body)
    with pytest.raises(WebAnswerUnreadable):
        search(tavily.url)


def test_of_the_results_those_without_text_or_web_address_are_left_out(tavily):
    rows = [
        {"title": "no text", "url": "https://a.example/"},
        {"title": "script", "url": "javascript:alert(1)", "content": "x"},
        {"title": "file", "url": "file:///etc/passwd", "content": "x"},
        {"title": "no host", "url": "https:///x", "content": "x"},
        {"title": "broken", "url": "http://[::1", "content": "x"},
        {"title": None, "url": "https://b.example/", "content": " kept \n\n as   lines ", "score": "high"},
        {"title": "the same again", "url": "https://b.example/", "content": "x"},
        "no object",
    ]
    body = {"results": rows}
    tavily.routes[("POST", "/search")] = lambda request, connection, fault: connection.send_json(200, body)
    assert search(tavily.url) == [WebResult("https://b.example/", "https://b.example/", "kept\nas lines", 0.0)]


def test_a_page_is_one_result_whatever_the_part_of_it_or_the_slash_behind_its_address(tavily):
    urls = [
        "https://a.example/rates",
        "https://a.example/rates#abroad",
        "https://A.example/rates/",
        "http://a.example/rates",
        "https://a.example",
        "https://a.example/",
        "https://a.example/rates?year=2026",
        "https://a.example/#/rates",
        "https://a.example/#!/rates",
    ]
    rows = [{"title": "t", "url": url, "content": "x"} for url in urls]
    tavily.routes[("POST", "/search")] = lambda request, connection, fault: connection.send_json(200, {"results": rows})
    assert [result.url for result in search(tavily.url)] == [urls[0], urls[4], *urls[6:]]


def test_the_words_of_a_page_turn_nothing_around_them(tavily):
    row = {"title": "Rates \u202e", "url": "https://a.example/\u2066", "content": "It is \u202e003\u202c yen."}
    body = {"results": [row]}
    tavily.routes[("POST", "/search")] = lambda request, connection, fault: connection.send_json(200, body)
    assert search(tavily.url) == [WebResult("Rates", "https://a.example/", "It is 003 yen.", 0.0)]


def test_the_signs_of_a_page_that_come_as_entities_are_signs(tavily):
    row = {
        "title": "旅費 Q&amp;A",
        "url": "https://a.example/?q=1&copy=2",
        "content": "日当は&yen;2,500&nbsp;&#65374;&#x300C;半額&#x300D;、R&D; と AT&T &#0; &#8238;",
    }
    body = {"results": [row]}
    tavily.routes[("POST", "/search")] = lambda request, connection, fault: connection.send_json(200, body)
    expected = "日当は¥2,500 ～「半額」、R&D; と AT&T \ufffd"
    assert search(tavily.url) == [WebResult("旅費 Q&A", "https://a.example/?q=1&copy=2", expected, 0.0)]


def test_only_so_many_results_of_so_much_text_are_taken(tavily):
    rows = [{"title": "t", "url": f"https://a.example/{i}", "content": "あ" * 10_000} for i in range(50)]
    tavily.routes[("POST", "/search")] = lambda request, connection, fault: connection.send_json(200, {"results": rows})
    found = search(tavily.url)
    assert len(found) == MOST_RESULTS
    assert {len(result.text) for result in found} == {LONGEST_TEXT}


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("日" * 500, "日" * 400),
        ("rule " * 100, ("rule " * 80).rstrip()),
        ("abcdefgh " * 60, ("abcdefgh " * 44).rstrip()),
    ],
)
def test_a_query_that_is_too_long_for_the_service_is_cut_at_a_word(tavily, query, sent):
    tavily.default = [WEATHER]
    assert search(tavily.url, query)
    assert tavily.queries == [sent]
