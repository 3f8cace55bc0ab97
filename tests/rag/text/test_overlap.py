import pytest

from rag.text.overlap import features, overlap, shared_names, unnamed


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
    ("part", "strange"),
    [
        ("It opens at 8:30 on 3 May.", ()),
        ("It opens at 9:30 on 3 May.", ("9",)),
        ("The fee of 2500 yen is paid to Miller.", ("Miller",)),
        ("The fee of ２，５００ yen is paid to Mori's office.", ()),
        ("Nobody knows.", ()),
        ("ヘイズゲートを使います。", ("ヘイズゲート",)),
        ("フォグを使います。", ()),
    ],
)
def test_numbers_and_names_that_the_whole_does_not_have_are_strange_to_it(part, strange):
    whole = "From 3 May it opens at 8:30. The fee is 2,500 yen, paid at the office of Mr Mori. フォグ is the client."
    assert unnamed(part, whole) == strange


@pytest.mark.parametrize(
    ("part", "whole", "share"),
    [
        ("名前はHazeGateです。", "The client is called HazeGate.", 1.0),
        ("名前はＨａｚｅＧａｔｅで、2,500円です。", "HazeGate costs 1200 yen.", 0.5),
        ("The allowance is 2,500 yen.", "日当は2500円です。", 1.0),
        ("It runs on HazeGate and needs Mori.", "HazeGateを使います。", 0.5),
        ("The name is not given.", "HazeGateを使います。", 0.0),
        ("VPNの名前はありません。", "The VPN client is called HazeGate.", 0.0),
        ("S3に置きます。", "It is kept in S3.", 1.0),
    ],
)
def test_names_and_numbers_are_found_across_languages_but_not_those_of_the_question(part, whole, share):
    assert shared_names(part, whole, known="VPNの名前は?") == share
