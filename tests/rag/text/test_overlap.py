import pytest

from rag.text.overlap import features, overlap, words_in


def test_japanese_counts_by_pairs_of_characters_and_english_by_words():
    assert features("日当は") == {"日当", "当は"}
    assert features("The VPN client") == {"vpn", "client"}


def test_width_case_and_the_commas_of_numbers_make_no_difference():
    assert features("ＶＰＮ ２,５００円") == features("vpn 2500円")


def test_a_point_belongs_to_its_number():
    assert "2.5" in features("Version 2.5.")
    assert "2.5" not in features("2 5")


@pytest.mark.parametrize(
    ("part", "whole", "share"),
    [
        ("日当は2,500", "出張の日当は2,500円です", 1.0),
        ("HazeGate client", "The client is called HazeGate", 1.0),
        ("HazeGate client", "The client is called Fog", 0.5),
        ("日当", "The client", 0.0),
        ("", "anything", 0.0),
        ("the of to", "the of to", 0.0),
    ],
)
def test_overlap_is_the_share_of_the_part_that_stands_in_the_whole(part, whole, share):
    assert overlap(part, whole) == share


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
        ("ＺＴ−４０８３の在庫は?", ("ZT-4083", "在庫"), ("ZT-4083", "在庫")),
        ("ZTー4083の在庫は?", ("ZT-4083",), ("ZT-4083",)),
        ("ZT\u20114083の在庫は?", ("ZT-4083",), ("ZT-4083",)),
        ("サーバーの在庫は?", ("サーバ-",), ()),
        ("X′パタンの既定値は?", ("X'パタン", "既定値"), ("X'パタン", "既定値")),
        ("What does the employee’s handbook say?", ("employee's handbook",), ("employee's handbook",)),
        ("國立の会議室", ("国立", "会議室"), ("国立", "会議室")),
        ("日当は?", ("?", "は?", "…"), ("は?",)),
        ("日当は?", (), ()),
    ],
)
def test_only_words_that_stand_in_the_question_are_kept_each_once(question, named, kept):
    assert words_in(question, named) == kept
