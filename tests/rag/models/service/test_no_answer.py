"""The word by which a model says no: noticed in every spelling and every cut of the stream, and never shown."""

import pytest

from rag.models.service import en, ja
from rag.models.service.no_answer import WORD, RefusalCut

SAID = "資料には書かれていません。"


def taken(text: str, size: int) -> tuple[str, RefusalCut]:
    cut = RefusalCut()
    shown = "".join([*(cut.feed(text[i : i + size]) for i in range(0, len(text), size)), cut.end()])
    return shown, cut


each_size = pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])


@each_size
@pytest.mark.parametrize(
    "written",
    [
        f"{WORD}\n{SAID}",
        f"{WORD}: {SAID}",
        f"**{WORD}** {SAID}",
        f"[{WORD}]\n\n{SAID}",
        f"「{WORD}」{SAID}",
        f"\n  `{WORD}`。{SAID}",
        f"{WORD.lower()} {SAID}",
        f"NOT IN PASSAGES. {SAID}",
        f"NOT-IN-PASSAGES — {SAID}",
        f"{WORD} {WORD} {SAID}",
    ],
)
def test_an_answer_that_begins_with_it_is_a_refusal_and_is_shown_without_it(written, size):
    shown, cut = taken(written, size)
    assert (shown, cut.stands_first) == (SAID, True)


@each_size
def test_alone_it_leaves_nothing(size):
    assert taken(WORD, size)[0] == ""


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
        "",
    ],
)
def test_what_only_looks_like_it_stays(written, size):
    shown, cut = taken(written, size)
    assert (shown, cut.was_written) == (written, False)


@each_size
def test_later_in_an_answer_it_is_cut_and_does_not_stand_first(size):
    shown, cut = taken(f"日当は2,500円です[1]。{WORD}", size)
    assert shown == "日当は2,500円です[1]。"
    assert (cut.stands_first, cut.was_written) == (False, True)


def test_a_passage_of_pure_signs_before_it_is_text():
    assert not taken(f"---------- {WORD}", 3)[1].stands_first


def test_both_languages_tell_the_model_of_it():
    assert WORD in en.ANSWER
    assert WORD in ja.ANSWER
