"""Which questions clearly stand alone; for the others, the model is asked."""

import pytest

from rag.text.question.follow_up import stands_alone
from tests.rag.text.question.follow_up_questions import LEANING_EN, LEANING_JA, STANDING_EN, STANDING_JA, lines

MOST_ASKED_FOR_NOTHING = 0.1
"""share of the standalone questions that may each cost an unnecessary call"""


@pytest.mark.parametrize("question", [*lines(LEANING_JA), *lines(LEANING_EN)])
def test_a_question_that_leans_on_what_was_said_is_never_passed_over(question):
    assert not stands_alone(question)
    assert not stands_alone(f"  {question}\n")


@pytest.mark.parametrize("questions", [STANDING_JA, STANDING_EN], ids=["ja", "en"])
def test_questions_that_plainly_stand_alone_are_hardly_ever_asked_about(questions):
    asked = [question for question in lines(questions) if not stands_alone(question)]
    assert len(asked) <= MOST_ASKED_FOR_NOTHING * len(lines(questions)), asked


def test_the_lists_are_long_enough_to_tell():
    assert all(len(set(lines(each))) >= 40 for each in (LEANING_JA, LEANING_EN, STANDING_JA, STANDING_EN))


@pytest.mark.parametrize(
    "said",
    [
        "ありがとうございます！",
        "こんにちは",
        "了解です。ありがとうございます",
        "よろしくお願いします",
        "お元気ですか",
        "あなたは誰ですか?",
        "Thanks!",
        "Thanks a lot",
        "thank you very much",
        "OK, thanks",
        "got it",
        "Good morning",
        "Hi there",
        "How are you?",
    ],
)
def test_courtesies_lean_on_nothing(said):
    assert stands_alone(said)


@pytest.mark.parametrize("question", ["何ができますか?", "皆さんですか?", "皆さん?", "Everyone?", "OK, is there?"])
def test_what_may_be_asked_about_something_said_before_is_no_courtesy(question):
    assert not stands_alone(question)


@pytest.mark.parametrize(
    "question", ["ＶＰＮに接続するソフトの名前は何ですか？", "Ｗｈａｔ　ｉｓ ｔｈｅ ＶＰＮ client called?"]
)
def test_full_width_letters_are_read_as_others_are(question):
    assert stands_alone(question)


@pytest.mark.parametrize(
    "question",
    [
        "Does IT repair private laptops?",
        "Who is in IT for printers and monitors?",
        "Is there a rule that is stricter for interns?",
        "Is it possible to carry over annual leave?",
    ],
)
def test_the_department_it_is_not_the_word_it(question):
    assert stands_alone(question)


@pytest.mark.parametrize("question", ["?", "…", "", "1"])
def test_what_has_no_words_does_not_stand_alone(question):
    assert not stands_alone(question)
