"""Notices whose headings are plain lines with a sign: 【目的】, ■ 対象者."""

import pytest

NOTICE = """健康診断のお知らせ

【目的】
社員の健康を守るため、年に一度の健康診断を下記のとおり行います。
【対象者】
全社員。ただし、今年すでに人間ドックを受けた人は、結果の写しを総務部に出してください。
■日時：4月1日
■場所：本社3階
【申込方法】
＜社内にいる人＞
社内システムで希望日を選ぶ。
＜出向中の人＞
総務部に電話する。
＜休職中の人＞
自宅に届く葉書を返送する。
"""
SENTENCE = "この要領は、社内の文書の作成、区分、保存および廃棄について定める。"


def test_marked_lines_above_text_are_headings_and_values_are_none(headings) -> None:
    assert headings(NOTICE) == [
        (1, "【目的】"), (1, "【対象者】"), (1, "【申込方法】"),
        (2, "＜社内にいる人＞"), (2, "＜出向中の人＞"), (2, "＜休職中の人＞"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "mark",
    ["■{}", "■ {}", "◆{}", "●　{}", "〔{}〕", "＜{}＞", "≪{}≫", "■1. {}", "**【{}】**", "■■ {}", "■■■{}■■■"],
)
def test_marks_have_many_forms(mark: str, headings) -> None:
    lines = [mark.format(name) for name in ("目的", "対象者", "How to apply")]
    text = "".join(f"{line}\n{SENTENCE}\n\n" for line in lines)
    assert headings(text) == [(1, line.replace("**", "")) for line in lines]


@pytest.mark.parametrize(
    "lines",
    [
        ["■申請書", "■領収書", "■写真", SENTENCE * 3],
        ["●交通費は実費。", SENTENCE, "●宿泊費は実費。", SENTENCE, "●日当はなし。", SENTENCE],
        ["■日時：4月1日", SENTENCE, "■場所：本社", SENTENCE, "■持ち物：筆記用具", SENTENCE],
        ["【山田】", SENTENCE, "【佐藤】", SENTENCE, "【山田】", SENTENCE, "【佐藤】", SENTENCE],
        ["【目的】", SENTENCE, "【対象】", SENTENCE],
        ["【目的】", "健康", "【対象】", "全員", "【日時】", "4月1日"],
        ["■電話 03-1234-5678 ■FAX 03-1234-5679", SENTENCE] * 3,
        ["□申請書", SENTENCE, "□領収書", SENTENCE, "□写真", SENTENCE],
        ["■ 3,000", SENTENCE, "■ 5,000", SENTENCE, "■ 8,000", SENTENCE],
    ],
)
def test_lists_sentences_values_names_of_speakers_and_short_texts_are_no_headings(lines: list[str], headings) -> None:
    assert headings("\n".join(lines)) == []


@pytest.mark.parametrize("mark", ["■ {}", "【{}】"])
def test_a_marked_heading_may_end_in_brackets_or_be_a_question(mark: str, headings) -> None:
    """Its text, and that of all such headings behind it, would stand below the last one without."""
    names = ("目的", "対象者（正社員のみ）", "Fees (without VAT)", "いつまでに申し込みますか？", "問い合わせ先")
    lines = [mark.format(name) for name in names]
    assert headings("".join(f"{line}\n{SENTENCE}\n\n" for line in lines)) == [(1, line) for line in lines]


def test_more_signs_in_a_mark_are_another_kind(headings) -> None:
    parts = "".join(f"■■ {part}\n" + "".join(f"■ {part}{at}回\n{SENTENCE}\n" for at in "123") for part in "春夏秋")
    assert headings(f"■■■ 研修の案内 ■■■\n{parts}") == [
        each for part in "春夏秋" for each in [(1, f"■■ {part}"), *((2, f"■ {part}{at}回") for at in "123")]
    ]


def test_steps_that_are_numbered_below_one_of_them_are_no_headings_of_those_behind_it(headings) -> None:
    steps = "".join(f"{number}. {name}\n{SENTENCE}\n" for number, name in enumerate(("記入", "押印", "提出"), 1))
    text = f"■目的\n{SENTENCE}\n■手順\n{steps}■問い合わせ先\n{SENTENCE}\n"
    assert headings(text) == [(1, "■目的"), (1, "■手順"), (1, "■問い合わせ先")]


def test_marked_lines_below_numbered_headings_leave_these_alone(headings) -> None:
    marked = "".join(f"■{name}\n{SENTENCE}\n" for name in ("社員", "役員", "顧問"))
    text = f"1. 目的\n{SENTENCE}\n2. 対象者\n{marked}3. 期間\n{SENTENCE}\n"
    assert headings(text) == [(1, "1. 目的"), (1, "2. 対象者"), (1, "3. 期間")]


def test_they_stand_below_the_title_of_a_page_and_a_page_with_headings_of_its_own_keeps_them(headings_of_html) -> None:
    marked = "".join(f"<p>【{name}】</p><p>{SENTENCE}</p>" for name in ("目的", "対象者", "期間"))
    assert headings_of_html(f"<h1>お知らせ</h1>{marked}") == [
        (1, "お知らせ"), (2, "【目的】"), (2, "【対象者】"), (2, "【期間】"),
    ]  # fmt: skip
    assert headings_of_html(f"<h1>お知らせ</h1>{marked}<h2>参考</h2><p>なし") == [(1, "お知らせ"), (2, "参考")]
