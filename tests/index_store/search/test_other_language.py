"""Which passages a question's words can't be found in, because they are in the other language."""

import pytest

from index_store.search.other_language import differ_in_language, is_japanese, translated_share


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("在宅勤務の手当はいくらですか?", True),
        ("VPN設定方法", True),
        ("HazeGateのインストール方法は?", True),
        ("What does the remote work allowance pay?", False),
        ("What is Zパタン?", False),
        ("The office in Osaka (大阪) opens at nine.", False),
        ("2,500", False),
        ("", False),
    ],
)
def test_a_text_is_in_japanese_if_enough_of_its_letters_are(text: str, is_so: bool) -> None:
    assert is_japanese(text) is is_so


@pytest.mark.parametrize(
    ("question", "words", "share"),
    [
        ("在宅勤務の手当は?", ["在宅", "勤務", "手当"], 1.0),
        ("ZT-4083の値段は?", ["ZT-4083", "値段"], 0.5),
        ("VPNの使い方", ["VPN", "使い方"], 0.5),
        ("What does the remote work allowance pay?", ["remote", "work", "allowance", "pay"], 1.0),
        ("What is the price of ZT-4083?", ["price", "ZT-4083"], 0.5),
        ("HazeGate VPN", ["HazeGate", "VPN"], 0.0),
        ("500", ["500"], 0.0),
        ("?", [], 0.0),
    ],
)
def test_names_and_codes_are_not_translated(question: str, words: list[str], share: float) -> None:
    assert translated_share(question, words) == share


@pytest.mark.parametrize(
    ("passage", "question"),
    [
        ("出張の日当は2,500円です。", "What does a business trip pay?"),
        ("A business trip pays 2,500 yen a day.", "出張の日当は?"),
        ("| Trip | Daily allowance |\n| Osaka | 2,500 |", "出張の日当は?"),
    ],
)
def test_english_and_japanese_differ(passage: str, question: str) -> None:
    assert differ_in_language(passage, question)


@pytest.mark.parametrize(
    ("passage", "question"),
    [
        ("| A-100 | 12,000 |", "出張の日当は?"),
        ("03-1234-5678", "出張の日当は?"),
        ("info@example.com https://example.com/ab", "出張の日当は?"),
        ("出張の日当は2,500円です。", "A-100 12,000"),
        ("出張の日当は2,500円です。", "Teams の使い方"),
        ("A business trip pays 2,500 yen a day.", "What does a business trip pay?"),
        ("", "出張の日当は?"),
    ],
)
def test_figures_codes_and_addresses_are_in_no_other_language(passage: str, question: str) -> None:
    assert not differ_in_language(passage, question)
