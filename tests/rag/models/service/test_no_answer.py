"""The no-answer token: recognised in every spelling, wherever the stream is split, and never shown."""

import pytest

from rag.models.service.cited_text import CitedText
from rag.models.service.en import EN
from rag.models.service.ja import JA
from rag.models.service.no_answer import TOKEN, NoAnswerFilter, says_only_that
from tests.rag.passages import PASSAGES
from tests.rag.pieces import in_pieces

SAID = "資料には書かれていません。"


def taken(text: str, size: int) -> tuple[str, NoAnswerFilter]:
    found = NoAnswerFilter()
    shown = "".join([*(found.feed(text[i : i + size]) for i in range(0, len(text), size)), found.end()])
    return shown, found


each_size = in_pieces(1, 2, 3, 7, 1000)


@each_size
@pytest.mark.parametrize(
    "written",
    [
        f"{TOKEN}\n{SAID}",
        f"{TOKEN}: {SAID}",
        f"**{TOKEN}** {SAID}",
        f"[{TOKEN}]\n\n{SAID}",
        f"「{TOKEN}」{SAID}",
        f"\n  `{TOKEN}`。{SAID}",
        f"{TOKEN.lower()} {SAID}",
        f"NOT IN PASSAGES. {SAID}",
        f"NOT-IN-PASSAGES — {SAID}",
        f"{TOKEN} {TOKEN} {SAID}",
        f"NOT\\_IN\\_PASSAGES {SAID}",
        f"**NOT\\_IN\\_PASSAGES**\n{SAID}",
    ],
)
def test_an_answer_that_begins_with_it_is_no_answer_and_is_shown_without_it(written, size):
    shown, found = taken(written, size)
    assert (shown, found.stands_first) == (SAID, True)


@each_size
@pytest.mark.parametrize(
    "said",
    [
        "「日当」の額は書かれていません。",
        "『出張旅費規程』にはありません。",
        "“Sabbatical” is not in them.",
        '"Sabbatical" is not in them.',
        "'Sabbatical' is not in them.",
        "**Sabbatical** leave is not in them.",
        "`ZT-4083` is not in them.",
        "(The amount is not in them.)",
        "（額は書かれていません）",
        "[1] names the approver, not the amount.",
    ],
)
@pytest.mark.parametrize("written", [f"{TOKEN} ", f"「{TOKEN}」"])
def test_a_sentence_behind_it_keeps_the_signs_that_it_begins_with(written, said, size):
    assert taken(written + said, size)[0] == said


@each_size
def test_a_reply_of_only_the_token_shows_no_text(size):
    assert taken(TOKEN, size)[0] == ""


@each_size
@pytest.mark.parametrize(
    "written",
    [
        "NOTES are kept for a year [1].",
        "**日当**は2,500円です[1]。",
        "- NOT before Monday [1]\n- IN PASSAGES of the garage [2]",
        "It is not in passages of that kind [1].",
        "N",
        "NOT_IN_PASS",
        "NOT\\_IN\\_PASS",
        "NOT\\",
        "",
    ],
)
def test_what_only_looks_like_it_stays(written, size):
    shown, found = taken(written, size)
    assert (shown, found.was_written) == (written, False)


@each_size
def test_later_in_an_answer_it_is_removed_and_does_not_stand_first(size):
    shown, found = taken(f"日当は2,500円です[1]。{TOKEN}", size)
    assert shown == "日当は2,500円です[1]。"
    assert (found.stands_first, found.was_written) == (False, True)


@each_size
@pytest.mark.parametrize(
    ("written", "said"),
    [
        (f"国内は2,500円です[1]。海外は{TOKEN}。", "国内は2,500円です[1]。海外は資料に記載なし。"),
        (f"国内は2,500円[1]、海外は「{TOKEN}」です。", "国内は2,500円[1]、海外は「資料に記載なし」です。"),
        (f"- 国内: 2,500円[1]\n- 海外: {TOKEN}", "- 国内: 2,500円[1]\n- 海外: 資料に記載なし"),
        (
            f"It is 2,500 yen [1]. Abroad it is **{TOKEN}**.",
            "It is 2,500 yen [1]. Abroad it is **not in the sources**.",
        ),
        (f"It is 2,500 yen [1].\n\n{TOKEN}: abroad.", "It is 2,500 yen [1].\n\nabroad."),
        (f"It is 2,500 yen [1] {TOKEN}", "It is 2,500 yen [1] "),
    ],
)
def test_within_a_sentence_words_stand_in_its_place(written, said, size):
    assert taken(written, size)[0] == said


def test_a_passage_of_pure_signs_before_it_is_text():
    assert not taken(f"---------- {TOKEN}", 3)[1].stands_first


def test_both_languages_tell_the_model_of_it():
    assert TOKEN in EN.answer
    assert TOKEN in JA.answer


@pytest.mark.parametrize(
    "said",
    [
        "資料には記載がありません。",
        "資料に記載がありません",
        "提供された資料には、その件に関する記載はありません。",
        "申し訳ございませんが、資料には日当の上限額は記載されていません。",
        "資料内にはこの質問に関する情報が含まれていません。",
        "ご提示いただいた資料の中には該当する情報は見つかりませんでした。",
        "資料からは確認できません。",
        "資料には書かれていない。",
        "資料には、海外の日当については書かれておりません。\n",
        "育児休業の期間は資料に記載されていません。",
        "ご質問の内容については、資料に記載がありません。",
        "The documents do not say.",
        "The documents do not say how much the allowance is.",
        "I'm sorry, but the provided passages don't mention a limit.",
        "The passages do not contain any information about sabbaticals.",
        "The sources do not contain the answer to this question.",
        "This is not mentioned in the documents.",
    ],
)
def test_a_sentence_that_only_says_it_in_other_words_is_no_answer(said):
    assert says_only_that(said)
    text = CitedText(PASSAGES)
    text.feed(said)
    text.end()
    assert text.answer.is_no_answer


@pytest.mark.parametrize(
    "said",
    [
        "資料には記載がありません[1]。",
        "資料には上限の記載がありませんが、日当は2,500円です。",
        "資料には日当は2,500円とあり、上限は記載されていません。",
        "資料には日当の額が書かれており上限は記載されていません。",
        "資料には領収書が必要との記載はありません。",
        "資料には日当の額が記載されています。",
        "日当は出ません。資料には記載がありません。",
        "資料は要りません。",
        "資料の提出は必要ありません。",
        "資料によると、上限はありません。",
        "資料には図面は含まれていません。",
        "資料には表紙を付けません。",
        "The documents do not say. Ask the office.",
        "The documents do not have to be signed.",
        "The documents do not include the invoice.",
        "The documents do not say so, but it is 2,500 yen.",
        "The documents do not state a limit, only a rate of 5 yen.",
        "The fee is not mentioned in the documents, it is 5 yen.",
        "The form does not say.",
        "",
    ],
)
def test_a_sentence_that_says_more_or_something_else_is_an_answer(said):
    text = CitedText(PASSAGES)
    text.feed(said)
    text.end()
    assert not text.answer.is_no_answer


def test_in_an_answer_without_passages_such_a_sentence_is_an_answer():
    text = CitedText([])
    text.feed("The documents do not say.")
    text.end()
    assert not text.answer.is_no_answer
