import pytest

from rag.overlap import features, overlap


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
