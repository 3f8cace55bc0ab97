"""Which passages a question's words can't be found in, because they are in the other language."""

import pytest

from index_store.search.other_language import is_japanese, translated_share


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
