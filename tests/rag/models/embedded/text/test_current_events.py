"""Which questions are clearly about things that change daily."""

import pytest

from rag.models.embedded.text.current_events import asks_about_current_events

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
    "What's the current exchange rate between the euro and the dollar?",
    "temperature in Osaka now",
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
    "How many yen is the current per diem?",
    "What is the maximum current and temperature of the power supply?",
    "What is the latest temperature range for the calibration?",
    "Which colours match the current label?",
    "What exchange rate is used for travel claims?",
    "What is the weather sealing rating of the latest model?",
    "出張精算の為替レートはいつのものですか?",
    "現在の降水センサーの校正周期は?",
    "地震のとき、今いる階から動いてよいですか? 最新の案内は?",
    "台風で明日の朝礼は中止ですか?",
    "最近の試合計測モードの使い方",
    "最新のニュースレターはどこ?",
    "ニュースリリースの最新の承認者は?",
    "従業員持株会の現在の株価は?",
)


@pytest.mark.parametrize("text", TODAY)
def test_the_weather_the_news_and_prices_are_of_today(text):
    assert asks_about_current_events(text)


@pytest.mark.parametrize("text", NOT_TODAY)
def test_what_documents_may_hold_is_not_of_today(text):
    assert not asks_about_current_events(text)
