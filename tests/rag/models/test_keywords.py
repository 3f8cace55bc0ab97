"""Search words as models write them, and which of them count."""

import pytest

from rag.models.keywords import read_keywords, standing_in


@pytest.mark.parametrize(
    "text",
    [
        '{"words": ["日当", "VPN client"]}',
        'Sure!\n```json\n{"words": ["日当", "VPN client"]}\n```',
        '{"keywords": ["日当", 5, "VPN client", ""]}',
        "日当, VPN client",
        "日当、VPN client。",
        "Search words: 日当, VPN client",
        "検索語：「日当」、「VPN client」",
        "- 日当\n- VPN client",
        "1. 日当\n2. VPN client\n",
        '"日当"; *VPN  client*',
    ],
)
def test_words_are_read_from_json_and_from_lists_of_any_kind(text):
    assert read_keywords(text) == ("日当", "VPN client")


@pytest.mark.parametrize("text", ["", " \n", '{"words": []}', '{"words": [null, {}]}', "、、", "{" * 3000])
def test_where_there_are_none_none_are_read_but_what_stands_there(text):
    assert standing_in("日当はいくらですか?", read_keywords(text)) == ()


def test_a_number_with_its_unit_stays_whole():
    assert read_keywords("1.5 km, ver. 2.0") == ("1.5 km", "ver. 2.0")


@pytest.mark.parametrize(
    ("question", "named", "kept"),
    [
        ("出張の日当はいくらですか?", ("日当", "交通費", "出張"), ("日当", "出張")),
        ("ＶＰＮクライアントとは", ("vpn", "VPNクライアント"), ("vpn", "VPNクライアント")),
        ("ﾃﾚﾜｰｸの申請は?", ("テレワーク",), ("テレワーク",)),
        ("What is Form K-5 for?", ("form k-5", "Form  K-5", "K-5"), ("form k-5", "K-5")),
        ("Who is in the party?", ("art", "part", "party"), ("party",)),
        ("VPN設定の手順", ("設定", "VPN"), ("設定", "VPN")),
        ("2020年の規程は?", ("2020年", "2020", "020"), ("2020年", "2020")),
        ("日当は?", ("?", "は?", "…"), ("は?",)),
        ("日当は?", (), ()),
    ],
)
def test_only_words_that_stand_in_the_question_are_kept_each_once(question, named, kept):
    assert standing_in(question, named) == kept
