"""Questions and their answers, typed as plain lines."""

import pytest

from index_store.parsing.loaders.document import Heading, Page
from index_store.parsing.loaders.markdown.plain_headings.questions import with_questions

FAQ = """社内システム よくある質問

■ ログイン
Ｑ１．パスワードを忘れました。どうすればよいですか？
Ａ１．情報システム課に電話してください。

Ｑ２．二段階認証の電話を替えました。
Ａ２．新しい電話にアプリを入れてください。

■ メール
Ｑ３．添付ファイルは何 MB まで送れますか？
Ａ３．25 MB までです。
"""


def test_questions_above_answers_are_headings_below_the_name_of_their_group(headings) -> None:
    assert headings(FAQ) == [
        (1, "■ ログイン"), (2, "Ｑ１．パスワードを忘れました。どうすればよいですか？"),
        (2, "Ｑ２．二段階認証の電話を替えました。"), (1, "■ メール"),
        (2, "Ｑ３．添付ファイルは何 MB まで送れますか？"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answer"),
    [("Q1 ", "A1 "), ("Q.", "A."), ("Q: ", "A: "), ("Q：", "A："), ("【Q1】", "【A1】"), ("[Q] ", "[A] "),
     ("問1　", "答1　"), ("問3", "答3"), ("質問1：", "回答1："), ("Q1) ", "A1) "),
     ("Question 1: ", "Answer: "), ("QUESTION 1. ", "ANSWER 1. "), ("Question: ", "Answer: ")],
)  # fmt: skip
def test_their_marks_have_many_forms(question: str, answer: str, headings) -> None:
    names = [f"{question}{name}はいつですか" for name in ("健診", "賞与", "休業日")]
    assert headings("".join(f"{name}\n{answer}来月です。\n" for name in names)) == [(1, each) for each in names]


def test_a_question_may_have_several_lines(headings) -> None:
    one = "Q: Which files can I attach, and\nis there a limit?\nA: Up to 25 MB.\n"
    assert headings(one * 3) == [(1, "Q: Which files can I attach, and")] * 3


@pytest.mark.parametrize(
    "text",
    [
        "Q1. いつですか\nA1. 来月です。\nQ2. どこですか\nA2. 本社です。\n",
        "Q1. いつですか\nQ2. どこですか\nQ3. だれですか\n来月、本社で、社長です。\n",
        "Q2 was good.\nQ3 was better.\nQ4 was the best.\nA manager said so.\n",
        "質問がある人は手を挙げる。\n回答は後日。\n" * 3,
        "問題は三つある。\n答えはない。\n" * 3,
        "Question 3 was good.\nAnswer all of them: it pays.\n" * 3,
    ],
)
def test_too_few_questions_those_without_answers_and_sentences_are_no_headings(text: str, headings) -> None:
    assert headings(text) == []


def test_on_a_page_they_stand_below_its_headings(headings_of_html) -> None:
    asked = "".join(f"<dt>Q. {name}はいつですか<dd>A. 来月です。" for name in ("健診", "賞与", "休業日"))
    assert headings_of_html(f"<h1>FAQ</h1><h2>人事</h2><dl>{asked}</dl>") == [
        (1, "FAQ"), (2, "人事"), (3, "Q. 健診はいつですか"), (3, "Q. 賞与はいつですか"), (3, "Q. 休業日はいつですか"),
    ]  # fmt: skip


def test_questions_whose_marks_are_icons_of_a_page_are_headings(headings_of_html) -> None:
    pair = "<dt><span>Q</span>{}はいつですか</dt><dd><span>A</span><p>来月です。</p></dd>"
    asked = "".join(pair.format(name) for name in ("健診", "賞与", "休日"))
    assert headings_of_html(f"<h1>FAQ</h1><dl>{asked}</dl>") == [
        (1, "FAQ"), (2, "Q 健診はいつですか"), (2, "Q 賞与はいつですか"), (2, "Q 休日はいつですか"),
    ]  # fmt: skip


def test_a_group_whose_name_is_a_heading_already_is_not_named_twice() -> None:
    lines = [f"Q. {name}はいつですか\nA. 来月です。" for name in ("健診", "賞与", "休業日")]
    page = Page(markdown="■ 人事\n" + "\n".join(lines), headings=(Heading(line=0, level=1, text="■ 人事"),))
    (found,) = with_questions([page])
    assert [(each.level, each.line) for each in found.headings or ()] == [(1, 0), (2, 1), (2, 3), (2, 5)]
