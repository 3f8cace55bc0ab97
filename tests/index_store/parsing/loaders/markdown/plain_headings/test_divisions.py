"""Rules and contracts whose chapters and articles are typed as plain lines."""

import pytest

RULES = """就業規則
目次
第1章 総則 ……… 1
第2章 休暇 ……… 3

この規則は社員に適用する。

第１章　総則
第1条（目的）
この規則は、労働条件を定める。
第2条（定義）
第3条の規定による社員とは、次のとおり。
第3条 社員は休暇を取る。
第4条 削除
第2章 休暇
第5条の2（年次有給休暇）
休暇は10日とする。
附　則
この規則は令和6年4月1日から施行する。
"""


def test_chapters_and_articles_are_headings_and_neither_contents_nor_references_are(headings) -> None:
    assert headings(RULES) == [
        (1, "第１章　総則"),
        (2, "第1条（目的）"),
        (2, "第2条（定義）"),
        (2, "第3条"),
        (1, "第2章 休暇"),
        (2, "第5条の2（年次有給休暇）"),
        (1, "附　則"),
    ]


def test_an_article_with_text_in_its_line_has_its_number_and_caption_as_heading_wherever_the_caption_is(
    headings,
) -> None:
    text = (
        "第1条（目的（趣旨））この規則は、労働条件を定める。\n\n（適用範囲）\n\n第 2 条　社員に適用する。\n"
        "第3条　社員は、規則を守る。\n第1条（目的（趣旨））の規定は、準用する。\n第2条 第2項は、適用しない。\n"
        "別表第１（第３条関係）\n日当は2,500円とする。\n"
    )
    assert headings(text) == [
        (2, "第1条（目的（趣旨））"), (2, "第 2 条（適用範囲）"), (2, "第3条"), (1, "別表第１（第３条関係）"),
    ]  # fmt: skip


def test_articles_in_both_languages_one_below_the_other_are_on_one_level(headings) -> None:
    text = (
        "第1条（目的）\n製品の供給を定める。\nArticle 1 (Purpose)\nIt sets out the supply.\n"
        "第2条（注文）\n書面で注文する。\nArticle 2 (Orders)\nOrders are in writing.\n"
    )
    articles = ["第1条（目的）", "Article 1 (Purpose)", "第2条（注文）", "Article 2 (Orders)"]
    assert headings(text) == [(1, article) for article in articles]


@pytest.mark.parametrize("name", ["附則", "附　則", "付則", "付則（令和6年4月1日）"])
def test_supplementary_provisions_with_text_in_their_line_are_no_part_of_the_last_article(name: str, headings) -> None:
    text = f"第1条 旅費を定める。\n第2条 社員に適用する。\n付則 第2項は、準用する。\n{name}　4月1日から施行する。\n"
    assert headings(text) == [(2, "第1条"), (2, "第2条"), (1, name)]


def test_the_articles_below_a_table_that_stands_among_them_are_no_part_of_the_table(headings) -> None:
    text = (
        "第1章 手当\n第1条（通勤手当）\n別表1による。\n別表1　通勤手当\n2km未満は、支給しない。\n別表2\n支給日\n"
        "第2条（扶養手当）\n配偶者に支給する。\n別表3　旅費\n1日2,500円とする。\n"
        "第2章 規則\n第１条（目的）\n定める。\n別表4\n第1種\n第1条　施行する。\n"
    )
    assert headings(text) == [
        (1, "第1章 手当"), (2, "第1条（通勤手当）"), (2, "別表1　通勤手当"), (2, "別表2"), (2, "第2条（扶養手当）"),
        (1, "別表3　旅費"), (1, "第2章 規則"), (2, "第１条（目的）"), (1, "別表4"), (2, "第1条"),
    ]  # fmt: skip


@pytest.mark.parametrize("page", [" … 12", "・・・・・ 12頁", "　- 12 -", "（第1条～第3条）", " p. 12"])
def test_a_table_of_contents_may_name_pages_or_articles(page: str, headings) -> None:
    listed = f"第1章 総則{page}\n第2章 休暇{page}\n附則{page}\n"
    rules = "就業規則\n第1章 総則\n社員に適用する。\n第2章 休暇\n10日とする。\n附則\n施行する。\n"
    assert headings(listed + rules) == [(1, "第1章 総則"), (1, "第2章 休暇"), (1, "附則")]


def test_articles_of_an_english_contract_are_headings(headings) -> None:
    text = "Article 1. Definitions\nIn this Agreement.\nSection 3 of the law applies.\nArticle 2\nTerm: one year.\n"
    assert headings(text) == [(1, "Article 1. Definitions"), (1, "Article 2")]


@pytest.mark.parametrize(
    "name", ["Schedule 1", "SCHEDULE 1: SERVICES", "Appendix A – Rates", "Annex II", "Exhibit B. Forms"]
)
def test_a_schedule_of_an_english_contract_is_no_part_of_its_last_article(name: str, headings) -> None:
    text = (
        "Article 1. Services\nSchedule 1 lists the services.\nArticle 2. Fees\nSee\nAppendix A to this Agreement.\n"
        f"{name}\nThe windows are cleaned on Fridays.\n"
    )
    assert headings(text) == [(2, "Article 1. Services"), (2, "Article 2. Fees"), (1, name)]


def test_paragraphs_of_a_page_that_name_divisions_are_headings_below_its_title(headings_of_html) -> None:
    html = "<h1>旅費規程</h1><p>第1章 総則<p>（目的）<p>第1条 旅費を定める。<p>第2条（範囲）<br>社員に適用する。"
    assert headings_of_html(html) == [
        (1, "旅費規程"), (2, "第1章 総則"), (3, "第1条（目的）"), (3, "第2条（範囲）"),
    ]  # fmt: skip


def test_one_division_alone_or_a_sentence_about_some_makes_no_heading(headings) -> None:
    assert headings("第1章 総則\nこの規則は社員に適用する。\n") == []
    assert headings("第1章では、概要を述べる。\n第2章の内容\n結果\n第3条の規定を守る\nこと。\n") == []


@pytest.mark.parametrize(
    "line",
    [
        "Article 3 (Fees) and Article 4 (Secrecy) survive the termination of this\nagreement for three years.",
        "Section 5 Termination.",
        "Schedule 1 Fees\nand in no other place.",
    ],
)
def test_a_division_inside_a_sentence_with_hard_line_ends_is_no_heading(line: str, headings) -> None:
    text = "This agreement sets out the terms. The obligations of the parties under\n"
    named = ["Article 1. Purpose", "Article 2. Services", "Article 3. Fees"]
    assert headings("".join(f"{name}\n\n{text}{line}\n\n" for name in named)) == [(1, name) for name in named]


@pytest.mark.parametrize("above", ["Service agreement of the two companies", "and so on:", "The end of the agreement."])
def test_a_division_directly_below_a_line_that_has_ended_is_a_heading(above: str, headings) -> None:
    named = ["Article 1. Purpose", "Article 2. Services"]
    text = "".join(f"{above}\n{name}\nThe supplier delivers the services.\n" for name in named)
    assert headings(text) == [(1, name) for name in named]
