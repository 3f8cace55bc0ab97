"""The word-by-word changes of a rewrite: removed words are marked in the old text, added words in the new text."""

import re
from html import unescape

import pytest

from pages.texts import texts
from pages.widgets.trace.detail import show_detail
from pages.widgets.trace.views.word_diff import MOST_WORDS, choice_html, rewrite_html
from rag.trace.details import KeywordsDetail, RewriteDetail, StandaloneDetail
from tests.pages.reader import Tags, for_reader
from tests.pages.trace_examples import HOSTILE, finished


def parts(html: str) -> list[str]:
    """The HTML of each <dd>."""
    return re.findall("<dd>(.*?)</dd>", html, re.DOTALL)


def rewritten(before: str, after: str) -> list[str]:
    html, _ = for_reader("en", lambda: rewrite_html(before, after))
    return parts(html)


def chosen(question: str, *words: str) -> list[str]:
    html, _ = for_reader("en", lambda: choice_html(question, words, "detail.words"))
    return parts(html)


def test_english_is_told_apart_by_words():
    assert rewritten("When is the expense report due?", "When is the travel expense claim due?") == [
        "When is the expense <del>report</del> due?",
        "When is the <ins>travel </ins>expense <ins>claim</ins> due?",
    ]


def test_japanese_is_told_apart_by_words_of_the_dictionary():
    assert rewritten("それの締め切りはいつまで?", "経費精算の締め切りはいつまで?") == [
        "<del>それ</del>の締め切りはいつまで?",
        "<ins>経費精算</ins>の締め切りはいつまで?",
    ]


def test_what_stays_is_not_marked():
    assert rewritten("日当は?", "日当は?") == ["日当は?", "日当は?"]


def test_both_texts_read_as_they_were_written():
    before, after = f"{HOSTILE} 日当は\n  いくら?", f"日当 {HOSTILE}?"
    for html, text in zip(rewritten(before, after), (before, after), strict=True):
        assert unescape(re.sub("</?(del|ins)>", "", html)) == text


def test_what_is_too_long_to_be_compared_is_marked_whole():
    before, after = "a " * MOST_WORDS, "b " * MOST_WORDS
    assert rewritten(before, after) == [f"<del>{before}</del>", f"<ins>{after}</ins>"]


def test_of_a_question_the_words_that_were_not_chosen_are_marked():
    assert chosen("国内出張の日当はいくらですか?", "日当", "国内出張") == [
        "国内出張<del>の</del>日当<del>はいくらですか?</del>",
        "日当, 国内出張",
    ]


def test_a_chosen_word_that_stands_in_the_question_twice_is_marked_nowhere():
    told, _ = chosen("出張の日当と出張の額は?", "出張", "日当")
    assert told == "出張<del>の</del>日当<del>と</del>出張<del>の額は?</del>"


def test_a_chosen_word_that_is_not_in_the_question_is_marked_as_put_in():
    assert chosen("Who pays the VPN?", "vpn", "invoice")[1] == "vpn, <ins>invoice</ins>"


REWRITES = (
    RewriteDetail(before="日当は?", after="日当の額は?"),
    StandaloneDetail(before="それは?", after="日当は?", why="rewritten"),
    KeywordsDetail(question="日当は?", words=("日当",)),
    KeywordsDetail(question="日当は?", words=(), own_words=("日当",), why="none"),
)


@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.parametrize("detail", REWRITES, ids=lambda detail: f"{detail.type}")
def test_every_kind_of_rewrite_shows_its_change(language, detail):
    _, page = for_reader(language, lambda: show_detail(finished(detail), "handbook"))
    html = page.html[0].value
    assert Tags(html).names & {"del", "ins"}
    is_choice = isinstance(detail, KeywordsDetail)
    heads = ["detail.question"] if is_choice else ["detail.before", "detail.after"]
    assert all(f"<dt>{texts(language)[key]}</dt>" in html for key in heads)
