import pytest

from rag.models.embedded.text.names import shared_names, unstated_codes, unstated_names


@pytest.mark.parametrize(
    ("part", "unstated"),
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
def test_numbers_and_names_that_the_whole_does_not_have_are_unstated(part, unstated):
    whole = "From 3 May it opens at 8:30. The fee is 2,500 yen, paid at the office of Mr Mori. フォグ is the client."
    assert unstated_names(part, whole) == unstated


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


@pytest.mark.parametrize(
    ("part", "unstated"),
    [
        ("What is part ZT-4083?", ("ZT-4083",)),
        ("部品ＱＦ－７７１２とqf-7713は何ですか？", ("QF-7712",)),
        ("In FY2024, S3 and S3 cost 2,500 yen in May 2024.", ("S3",)),
        ("Who is on call from 9-17?", ()),
    ],
)
def test_a_code_is_letters_with_digits(part, unstated):
    assert unstated_codes(part, "Part QF-7713 is a buckle, bought in fy2024.") == unstated


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ("9時に始まります。", "始業 09:00"),
        ("2024年4月1日からです。", "施行日: 2024-04-01"),
        ("It opens at 9.", "09:00から"),
    ],
)
def test_a_time_or_a_date_is_the_same_without_the_zeros_before_it(part, whole):
    assert unstated_names(part, whole) == ()
    assert shared_names(part, whole, known="") == 1.0


@pytest.mark.parametrize("whole", ["100円", "09:00", "1.0"])
def test_a_zero_that_is_a_number_or_within_one_counts(whole):
    assert unstated_names("0円か10円です。", whole) == ("0", "10")


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ("サーバーを再起動します。", "サーバの再起動は情報システム課が行う。"),
        ("プリンタは2階です。", "プリンターは２階にある。"),
        ("30日前までに申請します。", "三十日前までに申請する。"),
        ("30%です。", "違約金は三割とする。"),
        ("2024年4月からです。", "令和6年4月1日から施行する。"),
    ],
)
def test_a_name_or_number_in_another_spelling_is_stated(part, whole):
    assert unstated_names(part, whole) == ()
