import pytest

from rag.text.citations import AttributedText, CitedText, cited_passages, claims
from rag.trace import Claim, Passage


def passage(number: int, text: str = "", title: str = "規程") -> Passage:
    return Passage(
        number=number, rank=number, score=0.8, document_id="d", section_id=f"s{number}", source="a.md", title=title,
        headings=(), page=None, text=text, start=0, end=len(text),
    )  # fmt: skip


PASSAGES = [
    passage(1, "日当は1日2,500円です。宿泊を伴わない出張では半額になります。"),
    passage(2, "The VPN client is called HazeGate. Version 2.5 needs 8 GB of memory."),
    passage(3, "宿泊費は1泊12,000円を上限とします。"),
]


def written(text: CitedText | AttributedText, answer: str, size: int) -> str:
    shown = "".join(text.feed(answer[i : i + size]) for i in range(0, len(answer), size)) + text.end()
    assert shown == text.written
    return shown


def cite(answer: str, size: int = 1000) -> str:
    return written(CitedText(PASSAGES), answer, size)


def attribute(answer: str, question: str = "", size: int = 1000) -> str:
    return written(AttributedText(question, PASSAGES), answer, size)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("2,500円です[1]。", "2,500円です[1]。"),
        ("2,500円です[1, 3]。", "2,500円です[1][3]。"),
        ("2,500円です[1、3]。", "2,500円です[1][3]。"),
        ("2,500円です【1】。", "2,500円です[1]。"),
        ("2,500円です［２］。", "2,500円です[2]。"),
        ("2,500円です[ 1 ]。", "2,500円です[1]。"),
        ("2,500円です[1][9]。", "2,500円です[1]。"),
        ("2,500円です[1, 9]。", "2,500円です[1]。"),
        ("2,500円です[0]。", "2,500円です。"),
        ("It is so [9].", "It is so."),
        ("It is so [1] [9].", "It is so [1]."),
        ("An [optional] word, a[i], [", "An [optional] word, a[i], ["),
        ("Not closed [1", "Not closed [1"),
        ("", ""),
    ],
)
def test_markers_take_one_form_and_invented_numbers_are_dropped(answer, shown):
    assert cite(answer) == shown


@pytest.mark.parametrize("size", range(1, 12))
def test_the_size_of_the_pieces_changes_no_cited_text(size):
    answer = "日当は2,500円です[1, 3]。半額[9]にも【２】なります ［３］。[x] 12 [1"
    assert cite(answer, size) == cite(answer)


@pytest.mark.parametrize("size", range(1, 12))
def test_the_size_of_the_pieces_changes_no_attributed_text(size):
    answer = (
        "日当は1日2,500円です。宿泊費は1泊12,000円を上限とします。\nThe VPN client is HazeGate. Version 2.5 needs 8 GB."
    )
    assert attribute(answer, size=size) == attribute(answer)
    assert attribute(answer).count("[") == 4


def test_what_is_cited_is_listed_once_in_the_order_of_the_answer():
    text = CitedText(PASSAGES)
    text.feed("a[3]b[1]c[3]")
    text.end()
    assert text.cited == [3, 1]


def test_a_piece_is_passed_on_at_once_unless_a_marker_may_have_begun():
    text = CitedText(PASSAGES)
    assert [text.feed(piece) for piece in ("日当は", "です[", "1", "]", "。")] == ["日当は", "です", "", "[1]", "。"]


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


def test_the_point_of_a_number_ends_no_sentence():
    assert attribute("Version 2.5 needs 8 GB of memory.") == "Version 2.5 needs 8 GB of memory[2]."


@pytest.mark.parametrize("size", range(1, 12))
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
    "refusal", ["その情報は見当たりませんでした。", "I could not find any mention here.", "Sorry!", "。"]
)
def test_a_refusal_cites_nothing(refusal):
    assert attribute(refusal) == refusal


def test_among_equal_passages_the_one_that_speaks_of_the_question_is_the_source():
    passages = [passage(1, "部長の日当は3,000円です。"), passage(2, "宿泊を伴う場合の上限は3,000円です。")]
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
    assert written(CitedText([]), "日当は2,500円です[1]。", 2) == "日当は2,500円です。"


def test_an_answer_is_taken_apart_into_its_claims():
    assert list(claims("日当は2,500円です[1][3]。半額です。[2]\nIt costs 2.5 EUR [2]. Yes [1][1]")) == [
        Claim(text="日当は2,500円です。", sources=(1, 3)),
        Claim(text="半額です。", sources=(2,)),
        Claim(text="It costs 2.5 EUR.", sources=(2,)),
        Claim(text="Yes", sources=(1,)),
    ]


def test_citations_are_listed_by_number_and_once():
    assert [each.number for each in cited_passages([3, 1, 3], PASSAGES)] == [1, 3]
    assert cited_passages([], PASSAGES) == ()
