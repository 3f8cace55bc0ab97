"""Plain texts whose headings have a line of signs below them, and perhaps above."""

import pytest

SENTENCE = "この要領は、社内の文書の作成、区分、保存および廃棄について定める。"
ENGLISH = "Ask the desk on the ground floor if you have lost your badge."


@pytest.mark.parametrize("rule", ["=" * 10, "-" * 10, "＝" * 8, "━" * 8, "─" * 8, "*" * 12, "－" * 6])
def test_lines_above_a_drawn_line_are_headings(rule: str, headings) -> None:
    text = "".join(f"{name}\n{rule}\n{SENTENCE}\n\n" for name in ("目的", "対象者", "申込方法"))
    assert headings(text) == [(1, "目的"), (1, "対象者"), (1, "申込方法")]


def test_lines_between_two_drawn_lines_are_headings(headings) -> None:
    rule = "━" * 20
    text = "".join(
        f"{rule}\n  {name}\n{rule}\n\n{SENTENCE}\n\n" for name in ("今月の予定", "人事のお知らせ", "編集後記")
    )
    assert headings(text) == [(1, "今月の予定"), (1, "人事のお知らせ"), (1, "編集後記")]


def test_another_sign_is_another_level_and_a_single_one_above_all_is_the_title(headings) -> None:
    text = f"Office guide\n============\n\n{ENGLISH}\n\n"
    text += "".join(f"{name}\n{'-' * len(name)}\n{ENGLISH}\n\n" for name in ("Badges", "Step 2: Lockers"))
    assert headings(text) == [(1, "Office guide"), (2, "Badges"), (2, "Step 2: Lockers")]


def test_numbered_headings_keep_those_below_them_where_only_the_large_ones_are_drawn(headings) -> None:
    parts = "".join(
        f"{at}. 章\n----\n" + "".join(f"{at}.{n} 節\n{SENTENCE * 2}\n" for n in (1, 2)) + "\n" for at in (1, 2, 3)
    )
    assert [level for level, _ in headings(f"手引\n====\n\n{parts}")] == [1, 2, 2] * 3


def test_questions_stand_below_drawn_headings(headings) -> None:
    text = "".join(
        f"{name}\n----------\nQ{at}. {name}はどこですか。\nA{at}. {SENTENCE}\n\n" for at, name in enumerate("甲乙丙", 1)
    )
    assert [level for level, _ in headings(text)] == [1, 2] * 3


@pytest.mark.parametrize(
    "text",
    [
        "\n\n".join([f"{SENTENCE}\n----------\n{SENTENCE}"] * 4),
        "".join(f"{SENTENCE}\n{name}\n----------\n{SENTENCE}\n\n" for name in "甲乙丙"),
        "".join(
            f"{name}  数量  金額\n----------------\nりんご  3  100\n{SENTENCE}\n\n" for name in ("品名", "名称", "品目")
        ),
        "".join(f"{name}\n----------\n" for name in ("山田", "佐藤", "鈴木", "田中")) + SENTENCE * 9,
        "".join(f"{name}\n----------\n\n\n\n{SENTENCE}\n\n" for name in "甲"),
        "".join(f"Nagatsuki no {name} ni tsuite no kitei\n-----\n{ENGLISH}\n\n" for name in ("a", "b", "c")),
    ],
    ids=["between paragraphs", "below a paragraph", "tables", "list", "one", "short lines"],
)
def test_a_line_drawn_elsewhere_makes_no_heading(text: str, headings) -> None:
    assert headings(text) == []
