"""What the markers of an answer cite, and the claims that they support."""

import pytest

from rag.text.citations import cited_passages, claims, markers_of, without_markers
from rag.trace.details import Claim
from tests.rag.passages import PASSAGES


def test_an_answer_is_taken_apart_into_its_claims():
    assert list(claims("日当は2,500円です[1][3]。半額です。[2]\nIt costs 2.5 EUR [2]. Yes [1][1]")) == [
        Claim(text="日当は2,500円です。", sources=(1, 3)),
        Claim(text="半額です。", sources=(2,)),
        Claim(text="It costs 2.5 EUR.", sources=(2,)),
        Claim(text="Yes", sources=(1,)),
    ]


def test_of_markers_in_brackets_a_claim_keeps_nothing():
    assert list(claims("It ends (after 10 hours) ([1], [2]). 終わります（[1]、[3]）。")) == [
        Claim(text="It ends (after 10 hours).", sources=(1, 2)),
        Claim(text="終わります。", sources=(1, 3)),
    ]


def test_a_full_stop_within_brackets_ends_no_claim_unless_markers_follow_them():
    answer = (
        "社員（パートを除く。以下同じ。）は2,500円です[1]。「半額とする。」とあります[2]。\n"
        "以上です。（役員を除く。）[3] It is so (is it?) here [1]."
    )
    assert list(claims(answer)) == [
        Claim(text="社員（パートを除く。以下同じ。）は2,500円です。", sources=(1,)),
        Claim(text="「半額とする。」とあります。", sources=(2,)),
        Claim(text="以上です。", sources=()),
        Claim(text="（役員を除く。）", sources=(3,)),
        Claim(text="It is so (is it?) here.", sources=(1,)),
    ]


def test_citations_are_listed_by_number_and_once():
    assert [each.number for each in cited_passages([3, 1, 3], PASSAGES)] == [1, 3]
    assert cited_passages([], PASSAGES) == ()


def test_a_number_of_no_passage_cites_nothing():
    assert [each.number for each in cited_passages(markers_of("Yes [5] [2]."), PASSAGES)] == [2]


def test_a_number_that_is_too_long_for_a_marker_is_text():
    assert markers_of(f"[{'1' * 5000}] and [2]") == (2,)
    assert [each.text for each in claims("ISO [9001] and a[0] apply [2].")] == ["ISO [9001] and a[0] apply."]


def test_blank_lines_between_a_sentence_and_its_marker_change_nothing():
    assert list(claims("It is so.\n \n[1]\n\n\nAnd more.  [2]")) == [
        Claim(text="It is so.", sources=(1,)),
        Claim(text="And more.", sources=(2,)),
    ]


@pytest.mark.parametrize(
    "answer",
    [
        "[1] The rate is 2,500 yen. [2][3] Meals cost 500 yen! It ends [1].",
        "[1] The rate is 2,500 yen.\n[2][3] Meals cost 500 yen!\n\nIt ends. [1]",
        "([1]) The rate is 2,500 yen. **[2]** [3] Meals cost 500 yen!\nIt ends.\n[1]",
    ],
)
def test_in_a_line_that_begins_with_a_marker_markers_belong_to_the_sentence_behind_them(answer):
    assert [(claim.text.strip("* "), claim.sources) for claim in claims(answer)] == [
        ("The rate is 2,500 yen.", (1,)),
        ("Meals cost 500 yen!", (2, 3)),
        ("It ends.", (1,)),
    ]


def test_so_it_is_in_japanese_and_in_the_items_of_a_list():
    answer = "[1]によると日当は2,500円です。[2]によると半額です。\n1. [3] 会社が払う。\n- [1] 終わり。[2]"
    assert [claim.sources for claim in claims(answer)] == [(1,), (2,), (3,), (1, 2)]


def test_the_number_of_a_list_is_no_claim_of_its_own():
    assert [
        claim.text for claim in claims("Steps:\n1. Open HazeGate [1].\n   10. Choose it.\n## 3. 申請 [2]\n4. 終わり")
    ] == [
        "Steps:",
        "1. Open HazeGate.",
        "10. Choose it.",
        "## 3. 申請",
        "4. 終わり",
    ]


@pytest.mark.parametrize(
    "claim",
    [
        "Ask Dr. Smith.",
        "It was made by Shimamiru Ltd. Tokyo.",
        "See No. A-2.",
        "The U.S. Virgin Islands.",
        "Ask the Sr. Manager of the Dept. (Asst. Manager if away).",
        "See Art. IV, Sec. B and Fig. C.",
        "It takes five days incl. Saturdays, approx. Monday to Friday.",
    ],
)
def test_the_point_of_an_abbreviation_ends_no_claim(claim):
    assert [each.text for each in claims(f"{claim} That is all.")] == [claim, "That is all."]


def test_a_number_that_ends_a_sentence_ends_its_claim():
    assert [each.text for each in claims("You get 3. The rest is in 12. Done.")] == [
        "You get 3.",
        "The rest is in 12.",
        "Done.",
    ]


def test_a_number_in_code_is_no_marker_and_stays():
    answer = "The first is `items[0]` [2].\n```\nsys.argv[1]\n```\nThat is all [1]."
    assert markers_of(answer) == (2, 1)
    assert without_markers(answer) == "The first is `items[0]`.\n```\nsys.argv[1]\n```\nThat is all."
    assert [(claim.text, claim.sources) for claim in claims(answer)] == [
        ("The first is `items[0]`.", (2,)),
        ("sys.argv[1]", ()),
        ("That is all.", (1,)),
    ]


@pytest.mark.parametrize(
    "above", ["| 項目 | 金額 |\n|---|:-:|\n", "項目 | 金額\n--- | ---\n", "```sh\n```\n\n***\n", ""]
)
def test_lines_that_state_nothing_are_no_claims(above):
    answer = f"一覧です。\n\n{above}| 日当 | 2,500円 [1] |\n\n---\n以上 | 終"
    assert [(claim.text, claim.sources) for claim in claims(answer)] == [
        ("一覧です。", ()),
        ("| 日当 | 2,500円 |", (1,)),
        ("以上 | 終", ()),
    ]
