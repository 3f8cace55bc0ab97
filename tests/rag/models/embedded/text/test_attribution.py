"""Attribution: if a model does not cite, each sentence of its answer gets its source passage."""

import pytest

from rag.models.embedded.text.attribution import AttributedText
from rag.text.citations import claims
from tests.rag.passages import PASSAGES, numbered
from tests.rag.pieces import in_pieces


def written(text: AttributedText, answer: str, size: int) -> str:
    shown = "".join(text.feed(answer[i : i + size]) for i in range(0, len(answer), size)) + text.end()
    assert shown == text.text
    return shown


def attribute(answer: str, question: str = "", size: int = 1000) -> str:
    return written(AttributedText(question, PASSAGES), answer, size)


@in_pieces(*range(1, 12))
def test_the_size_of_the_pieces_changes_no_attributed_text(size):
    answer = (
        "日当は1日2,500円です。宿泊費は1泊12,000円を上限とします。\nThe VPN client is HazeGate. Version 2.5 needs 8 GB."
    )
    assert attribute(answer, size=size) == attribute(answer)
    assert attribute(answer).count("[") == 4


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("日当は1日2,500円です。", "日当は1日2,500円です[1]。"),
        ("日当は1日2,500円です", "日当は1日2,500円です[1]"),
        ("The VPN client is HazeGate.", "The VPN client is HazeGate[2]."),
        ("日当は1日2,500円です。宿泊費は1泊12,000円です。", "日当は1日2,500円です[1]。宿泊費は1泊12,000円です[3]。"),
    ],
)
def test_an_attributed_sentence_gets_its_number_before_its_full_stop(answer, shown):
    assert attribute(answer) == shown


@in_pieces(*range(1, 12))
def test_a_block_of_code_has_no_number_in_it_and_one_below_it_if_its_source_is_not_cited_yet(size):
    code = "```bash\necho 日当は1日2,500円です。\n```\n"
    assert attribute(f"日当は1日2,500円です。\n\n{code}", size=size) == f"日当は1日2,500円です[1]。\n\n{code}"
    assert attribute(code, size=size) == f"{code.rstrip()}\n[1]\n"


@in_pieces(*range(1, 12))
def test_the_number_of_a_row_stands_in_its_last_cell(size):
    shown = attribute("| 日当 | 宿泊費 |\n|---|---|\n| 1日2,500円 | 1泊12,000円を上限 |\n", size=size)
    header, rule, row = shown.splitlines()
    assert "[" in row
    assert [line.count("|") for line in (header, rule, row)] == [3, 3, 3]
    assert all(line.endswith("|") for line in (header, rule, row))


@in_pieces(*range(1, 12))
def test_a_full_stop_within_brackets_gets_no_number(size):
    rate, hotel = "日当（役員を除く。以下同じ。）は1日2,500円です", "「宿泊費は12,000円。」とあります"
    rest = "（終わり。\n"
    assert attribute(f"{rate}。{hotel}。{rest}日当は", size=size) == f"{rate}[1]。{hotel}[3]。{rest}日当は[1]"


def test_the_point_of_a_number_ends_no_sentence():
    assert attribute("Version 2.5 needs 8 GB of memory.") == "Version 2.5 needs 8 GB of memory[2]."


@in_pieces(*range(1, 12))
@pytest.mark.parametrize("space", ["", "   "])
def test_the_number_of_a_list_is_given_no_source_of_its_own(size, space):
    answer = f"{space}1. 日当は1日2,500円です。\n{space}12. The VPN client is HazeGate."
    assert attribute(answer, size=size) == (
        f"{space}1. 日当は1日2,500円です[1]。\n{space}12. The VPN client is HazeGate[2]."
    )


@in_pieces(*range(1, 12))
def test_an_abbreviation_ends_no_attributed_sentence(size):
    assert attribute("The VPN client of Dr. HazeGate. See it.", size=size) == (
        "The VPN client of Dr. HazeGate[2]. See it."
    )


@in_pieces(1, 4, 7, 100)
def test_spaces_behind_a_point_are_kept_however_many_come(size):
    answer = f"The VPN client is HazeGate.{' ' * 50}Version 2.5 needs 8 GB of memory."
    assert attribute(answer, size=size) == answer.replace("Gate.", "Gate[2].").replace("memory.", "memory[2].")


@in_pieces(*range(1, 12))
def test_a_point_that_no_sentence_begins_after_ends_none(size):
    answer = "The VPN client (ext. 2499, e.g. HazeGate) needs 8 GB. It is new.\nThe VPN client is HazeGate.\n"
    shown = "The VPN client (ext. 2499, e.g. HazeGate) needs 8 GB[2]. It is new.\nThe VPN client is HazeGate[2].\n"
    assert attribute(answer, size=size) == shown
    assert [claim.text for claim in claims(shown)] == [
        "The VPN client (ext. 2499, e.g. HazeGate) needs 8 GB.",
        "It is new.",
        "The VPN client is HazeGate.",
    ]


@pytest.mark.parametrize(
    "said", ["その情報は見当たりませんでした。", "I could not find any mention here.", "Sorry!", "。"]
)
def test_what_no_passage_says_cites_nothing(said):
    assert attribute(said) == said


def test_among_equal_passages_the_one_that_has_the_words_of_the_question_is_the_source():
    passages = numbered("部長の日当は3,000円です。", "宿泊を伴う場合の上限は3,000円です。")
    for question, number in (("部長の日当は?", 1), ("宿泊を伴う場合の上限は?", 2)):
        assert written(AttributedText(question, passages), "3,000円です。", 3) == f"3,000円です[{number}]。"


@pytest.mark.parametrize(
    ("question", "answer", "shown"),
    [
        ("VPNクライアントの名前は?", "名前はHazeGateです。", "名前はHazeGateです[2]。"),
        ("VPNクライアントの名前は?", "VPNの名前は見当たりません。", "VPNの名前は見当たりません。"),
        ("What is the limit for a hotel?", "The limit is 12,000 yen.", "The limit is 12,000 yen[3]."),
        ("What is the limit for a hotel?", "There is no limit.", "There is no limit."),
    ],
)
def test_a_sentence_finds_its_source_in_another_language_by_what_it_names(question, answer, shown):
    assert attribute(answer, question) == shown


def test_without_passages_nothing_is_cited():
    assert written(AttributedText("", []), "日当は2,500円です。", 2) == "日当は2,500円です。"
