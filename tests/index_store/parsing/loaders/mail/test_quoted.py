"""The headings of a mail's text, and what is quoted below it."""

from email.message import EmailMessage

import pytest

from index_store.parsing.chunking.chunker import chunk_document
from index_store.parsing.loaders.mail.eml import load

SENTENCE = "今年の健康診断は、全社員を対象に、本社の三階の会議室で、十一月の末まで行います。"
NOTICE = "".join(f"■ {name}\n{SENTENCE}\n\n" for name in ("目的", "対象者", "申込方法"))


@pytest.fixture
def sections(raw):
    def read(body: str, subtype: str = "plain") -> list[tuple[tuple[str, ...], str]]:
        mail = EmailMessage()
        mail["Subject"], mail["From"] = "健康診断", "hr@example.co.jp"
        mail.set_content(body, subtype=subtype)
        parsed = chunk_document(load(raw(mail.as_bytes(), "a.eml")), 40, 0)
        return [(section.headings, section.text) for section in parsed]

    return read


def test_the_parts_of_a_notice_sent_as_a_mail_stand_under_their_headings(sections) -> None:
    read = sections(f"各位\n\n総務部です。\n\n{NOTICE}")
    assert [headings for headings, _ in read] == [(), ("■ 目的",), ("■ 対象者",), ("■ 申込方法",)]
    assert read[0][1].endswith("総務部です。")


@pytest.mark.parametrize(
    "introduced",
    [
        "On Fri, 20 Nov 2026 at 10:03, Taro Yamada <taro@example.co.jp> wrote:",
        "2026年11月20日(金) 10:03 山田太郎 <taro@example.co.jp>:",
        "2026/11/20 10:03、山田太郎 <taro@example.co.jp>のメール:",
        "-----Original Message-----",
        "---------- Forwarded message ---------",
        "From: 山田太郎 <taro@example.co.jp>\nSent: Friday, November 20, 2026 10:03\nTo: 総務部\nSubject: 質問",
        "差出人: 山田太郎\n送信日時: 2026年11月20日 10:03\n宛先: 総務部\n件名: 質問",
    ],
)
@pytest.mark.parametrize("mark", ["", "> "])
def test_a_quoted_mail_does_not_stand_under_the_last_heading_above_it(introduced: str, mark: str, sections) -> None:
    *_, own, quoted = sections(f"{NOTICE}総務部 佐藤\n\n{introduced}\n{mark}受診の日は変えられますか。\n")
    assert own[0] == ("■ 申込方法",)
    assert own[1].endswith("総務部 佐藤")
    assert quoted[0] == (introduced.split("\n")[0],)
    assert quoted[1].endswith("受診の日は変えられますか。")


def test_an_introduction_may_be_of_two_lines(sections) -> None:
    read = sections(
        f"{NOTICE}On Fri, Nov 20, 2026 at 10:03 AM Taro Yamada <\ntaro@example.co.jp> wrote:\n\n> 変えられますか。\n"
    )
    assert read[-1][0] == ("On Fri, Nov 20, 2026 at 10:03 AM Taro Yamada <",)


def test_what_is_quoted_at_the_end_without_a_word_is_a_part_of_its_own(sections) -> None:
    read = sections(f"{NOTICE}> 受診の日は変えられますか。\n> 電話でもかまいません。\n")
    assert read[-1] == (("受診の日は変えられますか。",), "> 電話でもかまいません。")


def test_a_forwarded_notice_has_its_headings_below_the_line_that_introduces_it(sections) -> None:
    read = sections(f"ご参考まで。\n\n-----Original Message-----\nFrom: 総務部\nSubject: 健康診断\n\n{NOTICE}")
    title = "-----Original Message-----"
    assert [headings for headings, _ in read[1:]] == [
        (title,),
        *((title, f"■ {name}") for name in ("目的", "対象者", "申込方法")),
    ]


def test_a_mail_in_html_has_them_too(sections) -> None:
    body = "".join(f"<p>{line}</p>" for line in NOTICE.split("\n") if line)
    read = sections(
        f"{body}<p><b>From:</b> 山田<br><b>Sent:</b> Friday<br><b>Subject:</b> 質問</p><p>いつですか。</p>", "html"
    )
    assert [headings for headings, _ in read[1:]] == [("■ 目的",), ("■ 対象者",), ("■ 申込方法",), ("From: 山田",)]


@pytest.mark.parametrize(
    "body",
    ["本文です。\n> 引用です。\n", "了解です。\n\n-----Original Message-----\nFrom: 山田\nSubject: 質問\n\n日程は。\n"],
)
def test_a_mail_without_headings_is_one_section_with_what_it_quotes(body: str, sections) -> None:
    assert len(sections(body)) == 1
