"""Notices and instructions whose numbered headings are typed as plain lines."""

import pytest

GUIDE = """文書管理要領
目次
1. 目的
2. 文書の区分
3. 保存
１．目的
　この要領は、社内の文書の作成、区分、保存および廃棄について定めることを目的とする。
２．文書の区分
文書は次の三つに区分する。
1. 極秘
2. 社外秘
3. 公開
区分は作成者が決め、表紙の右上に記す。判断に迷うときは総務部に相談する。
３．保存
（１）紙の文書
紙の文書は鍵のかかる書庫に保存し、持ち出すときは台帳に氏名と日時を記入する。台帳は総務部が毎月確認する。
（２）電子の文書
電子の文書は共有フォルダーに保存する。個人のパソコンに保存してはならない。バックアップは毎日取られる。
"""
ENGLISH = """Remote work

1. Purpose

This guideline sets out how staff may work from home. It applies to all offices.

2. How to apply

2.1 The form

Send the form to your manager three days before the first day at home.

2.2. Approval

The manager approves it if the work allows it, and tells you so by mail.

3. Who pays for what?

The company pays 3,000 yen a month.
"""
SENTENCE = "この要領は、社内の文書の作成、区分、保存および廃棄について定めることを目的とする。"


def test_numbered_lines_above_text_are_headings_and_neither_contents_nor_lists_are(headings) -> None:
    assert headings(GUIDE) == [
        (1, "１．目的"), (1, "２．文書の区分"), (1, "３．保存"), (2, "（１）紙の文書"), (2, "（２）電子の文書"),
    ]  # fmt: skip
    assert headings(ENGLISH) == [
        (1, "1. Purpose"), (1, "2. How to apply"), (2, "2.1 The form"), (2, "2.2. Approval"),
        (1, "3. Who pays for what?"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "numbers",
    [("１　", "２　", "３　"), ("1.", "2.", "3."), ("1、", "2、", "3、"), ("一、", "二、", "三、"), ("Ⅰ ", "Ⅱ ", "Ⅲ "),
     ("I. ", "II. ", "III. "), ("(1)", "(2)", "(3)"), ("1) ", "2) ", "3) "), ("１）", "２）", "３）"),
     ("第１　", "第２　", "第３　"), ("第一　", "第二　", "第三　"), ("A. ", "B. ", "C. "), ("1.0 ", "2.0 ", "3.0 ")],
)  # fmt: skip
def test_numbers_have_many_forms(numbers: tuple[str, ...], headings) -> None:
    named = [number + name for number, name in zip(numbers, ("目的", "対象", "「費用」"), strict=True)]
    text = "".join(f"{line}\n{SENTENCE}\n" for line in named)
    assert headings(text) == [(1, line) for line in named]


@pytest.mark.parametrize(
    "lines",
    [
        ["1. 電源を入れる。", "2. 原稿を置く。", "3. 枚数を選ぶ。"],
        ["1. 目的", "2. 対象"],
        ["1. 目的", "3. 対象", "4. 費用"],
        ["1. 1号館", "2. 2号館", "3. 3号館"],
        ["1. 4月1日", "2. 2026年5月1日", "3. 6月1日"],
        ["2026.4.1 改正", "2026.5.1 改正", "2026.6.1 改正"],
        ["1. in the bracket)", "2. of the line above)", "3. of the text)"],
        ["1\t東京\t300", "2\t大阪\t200", "3\t京都\t100"],
        ["1. 原稿を置く前に、ガラスが汚れていないかを確かめ、汚れていたら", "2. 拭く。汚れは布で", "3. 取れる。"],
    ],
)
def test_sentences_too_few_lines_gaps_values_and_rows_are_no_headings(lines: list[str], headings) -> None:
    assert headings("".join(f"{line}\n{SENTENCE}\n" for line in lines)) == []


def test_a_numbered_heading_may_end_in_brackets(headings) -> None:
    named = ["1. 目的", "2. 申請の方法", "3. 休暇の日数", "4. 費用（税込）", "5. Fees (without VAT)"]
    assert headings("".join(f"{line}\n{SENTENCE}\n" for line in named)) == [(1, line) for line in named]


@pytest.mark.parametrize(
    "name", ["10月の売上報告", "2027年度の予算", "２０２７年4月の人事", "2027 budget", "（参考）旧規程", "【重要】締切"]
)
def test_the_name_of_a_numbered_heading_may_begin_with_a_month_a_year_or_a_bracket(name: str, headings) -> None:
    """Without it, the others would not count up, and the text would have no headings at all."""
    named = ["1. 前回の議事録の確認", f"2. {name}", "3. その他"]
    assert headings("".join(f"{line}\n{SENTENCE}\n" for line in named)) == [(1, line) for line in named]


def test_lines_of_a_list_and_those_that_a_sentence_continues_are_no_headings(headings) -> None:
    assert headings(f"1. 極秘\n2. 社外秘\n3. 公開\n{SENTENCE * 4}\n") == []
    licence = "".join(f"{n}. Redistributions of code must keep\nthe notice, and so on.\n" for n in (1, 2, 3))
    assert headings(licence * 2) == []


@pytest.mark.parametrize("between", ["", "この冊子は総務部が作った。\n"])
@pytest.mark.parametrize("page", ["", " …… 2", "・・・・2", " 2"])
def test_a_table_of_contents_may_have_pages_and_smaller_headings(page: str, between: str, headings) -> None:
    lines = ["1. 目的", "2. 区分", "2.1 極秘", "2.2 社外秘", "3. 保存"]
    contents = "".join(f"{line}{page}\n" for line in lines)
    text = "".join(f"{line}\n{SENTENCE}\n" for line in lines)
    assert headings(contents + between + text) == [(2 if line[2].isdigit() else 1, line) for line in lines]


@pytest.mark.parametrize("name", ["附　則", "附則（令和６年４月１日改定）", "Schedule 1", "APPENDIX A: FORMS"])
def test_provisions_behind_the_last_numbered_heading_are_no_part_of_it(name: str, headings) -> None:
    text = "".join(
        f"{at}. 項目{at}\n備品を購入しようとする者は、あらかじめ申請書を総務課に提出するものとする。\n"
        for at in (1, 2, 3)
    )
    behind = f"{name}の規定は、準用する。\n{name}\nこの要領は、４月１日から施行する。\n"
    assert headings(text + behind) == [(1, "1. 項目1"), (1, "2. 項目2"), (1, "3. 項目3"), (1, name)]


@pytest.mark.parametrize(
    ("larger", "smaller"),
    [(("I.", "II.", "III."), "A. B."), (("1.0", "2.0", "3.0"), "{}.1 {}.2"), (("1.", "2.", "3."), "A. B.")],
)
def test_letters_and_parts_stand_below_larger_numbers(larger: tuple[str, ...], smaller: str, headings) -> None:
    named = [
        (level, f"{number} Name")
        for at, each in enumerate(larger, 1)
        for level, number in ((1, each), *((2, part) for part in smaller.format(at, at).split()))
    ]
    assert headings("".join(f"{line}\n{SENTENCE}\n" for _, line in named)) == named


def test_the_letter_behind_h_is_an_i(headings) -> None:
    lines = [f"{letter}. Name" for letter in "ABCDEFGHIJ"]
    assert headings("".join(f"{line}\n{SENTENCE}\n" for line in lines)) == [(1, line) for line in lines]


def test_a_short_text_is_read_as_a_whole(headings) -> None:
    assert headings("1. 日時\n11月3日 10:00\n2. 場所\n本社\n3. 議題\n予算\n") == []


def test_paragraphs_of_a_page_are_headings_below_its_title_but_items_of_its_lists_are_not(headings_of_html) -> None:
    text = f"<p>{SENTENCE}</p>"
    assert headings_of_html(f"<h1>要領</h1><p>1. 目的</p>{text}<p>2. 対象</p>{text}<p>3. 費用</p>{text}") == [
        (1, "要領"), (2, "1. 目的"), (2, "2. 対象"), (2, "3. 費用"),
    ]  # fmt: skip
    assert headings_of_html(f"<ol><li>目的{text}</li><li>対象{text}</li><li>費用{text}</li></ol>") == []


def test_a_text_with_headings_of_its_own_or_with_code_keeps_its_lines(headings_of_html) -> None:
    text = f"<p>{SENTENCE}</p>"
    numbered = f"<p>1. 目的</p>{text}<p>2. 対象</p>{text}<p>3. 費用</p>{text}"
    assert headings_of_html(f"<h1>要領</h1>{numbered}<h2>附録</h2>{text}") == [(1, "要領"), (2, "附録")]
    assert headings_of_html(f"{numbered}<pre>1. make run\n2. make test</pre>") == []


def test_the_first_lines_of_items_with_hard_line_ends_are_no_headings(headings) -> None:
    """As in Japanese mails, which are wrapped at about 30 characters: the second halves would have no beginning."""
    text = (
        "先日の会議で決まったことをお知らせします。\n\n"
        "1. 来月の展示会の準備は、営業部と総務部が\n   共同で進めることになりました。担当者は\n"
        "   今週中に決めてください。\n"
        "2. 備品の購入は、これまで各部で行っていまし\n   たが、来月からは総務部がまとめて行います。\n"
        "   毎月20日までに申し出てください。\n"
        "3. 年末の大掃除は、12月26日の午後に行い\n   ます。不要な書類は、それまでに各自で\n   処分してください。\n"
    )
    assert headings(text) == []


def test_numbered_lines_above_a_text_with_hard_line_ends_are_headings(headings) -> None:
    text = "有給休暇を取るときは、希望する日の一週間前ま\nでに、上長に申請してください。急な病気のとき\n"
    text += "は、当日の朝に電話で知らせてください。\n"
    named = ["1. 目的", "2. 申請の方法", "3. 急な病気やけがで休むときの連絡の方法"]
    assert headings("".join(f"{line}\n{text}" for line in named)) == [(1, line) for line in named]


def test_parts_of_an_official_document_have_their_own_items(headings) -> None:
    text = "".join(
        f"第{at}　{name}\n１　職員\n{SENTENCE}\n２　臨時職員\n{SENTENCE}\n"
        for at, name in zip("１２３", ("趣旨", "対象者", "費用"), strict=True)
    )
    found = headings(f"{text}附　則\nこの要綱は、令和６年４月１日から施行する。\n")
    assert [level for level, _ in found] == [1, 2, 2] * 3 + [1]
