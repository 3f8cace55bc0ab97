"""What rules say of a question's way."""

import pytest

from rag.text.routing import asks_of_today, is_small_talk, read_route

TALK = (
    "こんにちは",
    "こんばんは!",
    "おはようございます。",
    "ありがとう",
    "どうもありがとうございました",
    "お疲れ様です",
    "おつかれさまでした",
    "はじめまして、よろしくお願いします",
    "こんにちは、元気ですか?",
    "了解です",
    "さようなら",
    "あなたは誰ですか?",
    "何ができますか",
    "Hello",
    "hi there!",
    "Hey",
    "Good morning, everyone.",
    "Thanks!",
    "Thank you very much",
    "thanks a lot, bye",
    "How are you?",
    "How are you doing",
    "What can you do?",
    "Who are you",
    "OK, got it. Thanks!",
    "Ｈｅｌｌｏ",
)
NO_TALK = (
    "こんにちは。日当はいくらですか?",
    "ありがとうの言い方の規程は?",
    "お疲れ様会の予算は?",
    "元気",
    "何ができますか、この製品で",
    "Hello World in Python?",
    "Thanks to whom is the award given?",
    "hi-fi equipment rules",
    "What can you do about late expenses?",
    "good",
    "",
    "???",
    "Who are you supposed to call?",
    "okay " * 40,
)
TODAY = (
    "今日の東京の天気は?",
    "明日の大阪の天気予報を教えて",
    "最新のニュースは?",
    "現在の株価は",
    "いまのドル円は?",
    "円相場を教えて",
    "昨日の試合の結果は?",
    "今週末の台風の進路は",
    "What is the weather in Osaka today?",
    "what's the weather for tomorrow",
    "Latest news please",
    "What is the exchange rate of the yen?",
    "stock price right now",
    "今日の気温",
)
NOT_TODAY = (
    "出張の日当はいくらですか?",
    "今日の締め切りは何ですか",
    "社内ニュースの投稿手順は?",
    "台風の日の出社の規程は?",
    "最新の就業規則はどこですか",
    "天気と売上の関係を述べた章は?",
    "今日の申請はいつ届きますか",
    "What is our policy for news releases today?",
    "How do I order a now-or-never kit?",
    "What are the latest rules for travel?",
    "為替予約の手順は",
    "Weather sealing of the X-100",
    "現在の有給の残りは?",
)


@pytest.mark.parametrize("text", TALK)
def test_greetings_and_thanks_are_small_talk(text):
    assert is_small_talk(text)


@pytest.mark.parametrize("text", NO_TALK)
def test_what_asks_for_more_is_none(text):
    assert not is_small_talk(text)


@pytest.mark.parametrize("text", TODAY)
def test_the_weather_the_news_and_prices_are_of_today(text):
    assert asks_of_today(text)


@pytest.mark.parametrize("text", NOT_TODAY)
def test_what_documents_may_hold_is_not_of_today(text):
    assert not asks_of_today(text)


@pytest.mark.parametrize(
    ("written", "route"),
    [
        ('{"reason": "x", "route": "web"}', "web"),
        ('```json\n{"route": "Documents."}\n```', "documents"),
        ("talk", "talk"),
        ("**web**", "web"),
        ("I would go to the web.", None),
        ('{"route": ["web"]}', None),
        ('{"route": null}', None),
        ("", None),
    ],
)
def test_a_route_is_read_from_what_a_model_wrote(written, route):
    routed = read_route(written)
    assert (routed and routed.route) == route
