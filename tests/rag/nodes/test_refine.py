"""Passages are split into strips; the strips that help with the question are put together again."""

import pytest

from rag.models.context_window import ContextWindow, length
from rag.nodes.refine import GAP, SHORT, refined, split_into_strips, strips
from rag.text.language import language_of
from tests.rag.documents import QUESTION
from tests.rag.passages import passage

WINDOW = ContextWindow(passage=1e6, passages=1e6)
FACT = f"出張の日当は{'、どの行き先であっても' * 5}、1日2,500円です。"
ASIDE = f"冷蔵庫は{'、食品に名前がないときには' * 4}、毎週金曜日に掃除します。"
ENGLISH = "The client is called HazeGate. " * 3


def kept(question: str, *texts: str, window: ContextWindow = WINDOW) -> list[str]:
    passages = [passage(text).model_copy(update={"number": number}) for number, text in enumerate(texts, 1)]
    return [each.text for each in refined(passages, strips(question, passages, window))]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "一文。",
        FACT + ASIDE,
        ENGLISH,
        "a. b! c? 2.5 d\n\n- e\n- f",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\nc\n\n\n・d\n  e\n  ・f\ng",
        "「そうか。」と言った。",
        "。。。",
        "no end",
    ],
)
def test_strips_joined_give_the_text_again(text):
    assert "".join(split_into_strips(text)).strip() == text.strip()


def test_a_short_sentence_takes_the_next_one_along_but_no_more():
    assert split_into_strips("一。二。三。四。五。") == ["一。二。", "三。四。", "五。"]
    assert length(FACT) >= SHORT
    assert split_into_strips(FACT + ASIDE) == [FACT, ASIDE]


def test_a_number_is_not_cut_at_its_point():
    assert split_into_strips("It costs 2.5 dollars today") == ["It costs 2.5 dollars today"]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who approves hotels above the limit?", "Book hotels early. Those above the limit are approved by Dr. Sato."),
        (
            "How do I reach the travel desk?",
            "Hotels are booked by the travel desk. You reach them at ext. 2499.",
        ),
        (
            "年次有給休暇は何日ですか?",
            "正社員（試用期間中の者を除く。以下この章において「社員」という。）は、六か月の勤続により、十日の年次有給休暇を取得する。",
        ),
    ],
)
def test_a_point_behind_an_abbreviation_or_within_brackets_ends_no_sentence(question, text):
    aside = FACT if language_of(question) == "ja" else f" {ENGLISH}"
    assert kept(question, text + aside)[0].startswith(text)


def test_what_bears_on_the_question_stays_and_gaps_are_shown():
    assert kept(QUESTION, FACT + ASIDE + FACT) == [f"{FACT}{GAP}{FACT}"]
    assert kept(QUESTION, ASIDE + FACT + ASIDE) == [FACT]
    assert kept(QUESTION, FACT + FACT) == [FACT + FACT]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "部長の宿泊費の上限はいくらですか?",
            "費用の上限を次の表に示す。\n\n| 役職 | 宿泊費(円/泊) | 日当(円/日) |\n|---|---|---|\n"
            "| 役員 | 20,000 | 5,000 |\n| 部長 | 15,000 | 3,500 |\n| 課長 | 12,000 | 3,000 |",
        ),
        ("駐車場代は精算できますか?", "次の費用は支給しない。\n・飲酒代\n・駐車場代\n・洗濯代"),
        *(
            ("駐車場代は精算できますか?", f"次の費用は支給しない。\n{one}飲酒代\n{two}駐車場代\n{three}洗濯代")
            for one, two, three in (
                ("(1) ", "(2) ", "(3) "),
                ("１．", "２．", "３．"),
                ("1、", "2、", "3、"),
                ("ア ", "イ ", "ウ "),
                ("（ア）", "（イ）", "（ウ）"),
                ("一　", "二　", "三　"),
                ("○", "○", "○"),
            )
        ),
        ("駐車場代は精算できますか?", "次の費用は支給しない。\n- 飲酒代（会食の費用を\n  含む）\n- 駐車場代\n- 洗濯代"),
        (
            "Can I claim parking tickets?",
            "The following items are not reimbursed:\n\n- alcohol and minibar\n- parking tickets\n- laundry",
        ),
        *(
            (
                "Can I claim parking tickets?",
                f"Not reimbursed:\n\n{one} alcohol\n{two} laundry\n\n{three} parking tickets",
            )
            for one, two, three in (("a.", "b.", "c."), ("a)", "b)", "c)"), ("(i)", "(ii)", "(iii)"), ("–", "–", "–"))
        ),
    ],
)
def test_a_table_and_a_list_stay_whole_with_the_line_above_them(question, text):
    aside = ASIDE if language_of(question) == "ja" else "The fridge is cleaned on Fridays, with all that is in it."
    assert kept(question, f"{text}\n\n{aside} {aside}")[0].startswith(text)


def test_a_mark_that_stands_alone_is_that_of_a_heading_and_stays_with_what_is_below_it():
    assert split_into_strips(f"{ASIDE}\n○ 日当\n{FACT}") == [f"{ASIDE}\n", f"○ 日当\n{FACT}"]


ROWS = (
    "| 大阪 | 12,000 | 前日の 18 時まで |\n| 仙台 | 11,000 | 前日の 18 時まで |\n| 札幌 | 10,000 | 当日の 10 時まで |"
)
BELOW = "上限を超える宿泊費は、あらかじめ出張の前に部門の責任者に申請し、承認を得たうえで精算する。"


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("北の支店に出張する場合の宿泊費の上限は?", f"{{header}}{ROWS}\n\n{BELOW}"),
        ("部門の責任者の承認はいつ得ますか?", BELOW),
    ],
)
def test_rows_are_compared_with_the_header_above_them_which_goes_with_them(question, read):
    header = "| 支店 | 宿泊費の上限 | 予約を取り消せる期限 |\n|---|---|---|\n"
    rows = passage(f"{ROWS}\n\n{BELOW}").model_copy(update={"header": header})
    [left] = refined([rows], strips(question, [rows], WINDOW))
    assert left.as_read == read.format(header=header)


def test_what_shares_no_word_with_the_question_is_kept_whole():
    assert kept(QUESTION, ENGLISH) == [ENGLISH.strip()]


def test_a_passage_in_another_language_is_kept_whole_though_it_has_a_name_of_the_question():
    text = (
        "The serial number of the Shimamiru 300 is on its back. Repairs are done at the factory in Sendai. "
        "The warranty can be extended to seven years. The dealer has the form for this."
    )
    assert len(split_into_strips(text)) > 1
    assert kept("Shimamiru 300の保証は何年まで延長できますか?", text) == [text]


def test_a_passage_keeps_its_number_and_place():
    whole = passage(FACT + ASIDE).model_copy(update={"number": 7, "section_id": "s7"})
    [left] = refined([whole], strips(QUESTION, [whole], WINDOW))
    assert left.model_copy(update={"text": whole.text}) == whole


def test_where_there_is_not_room_for_all_the_best_strips_have_it():
    narrow = ContextWindow(passage=1e6, passages=length(FACT) + 1)
    assert kept(QUESTION, ASIDE, FACT, window=narrow) == [FACT]


def test_no_passage_takes_more_than_its_share_of_the_room():
    [left] = kept(QUESTION, FACT * 50, window=ContextWindow(passage=3 * length(FACT), passages=1e6))
    assert left == FACT * 3


@pytest.mark.parametrize("before", ["", "見出し。"])
def test_of_a_text_that_never_ends_a_sentence_and_is_longer_than_its_share_the_helpful_part_is_kept(before):
    endless = before + "備品の一覧 椅子 机 棚 " * 30 + "出張の日当 1日2,500円 " + "備品の一覧 椅子 机 棚 " * 30
    [left] = kept(QUESTION, endless, window=ContextWindow(passage=400, passages=800))
    assert "出張の日当 1日2,500円" in left
    assert length(left) <= 400


def test_a_text_that_never_ends_a_sentence_and_shares_no_word_is_kept_as_far_as_there_is_room():
    endless = "chair desk shelf 12 34 " * 100
    [left] = kept(QUESTION, endless, window=ContextWindow(passage=400, passages=800))
    assert all(part in endless for part in left.split(GAP))
    assert 200 < length(left) <= 400


def test_an_empty_passage_and_none_are_no_fault():
    assert kept(QUESTION) == []
    assert kept(QUESTION, "  ") == []
