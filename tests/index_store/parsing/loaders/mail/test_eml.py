import base64
import io
import zipfile
from email.message import EmailMessage

import pytest

from index_store.base import errors
from index_store.parsing.loaders.mail import eml
from index_store.parsing.loaders.mail.eml import ATTACHMENTS, load, load_web_archive
from tests.index_store.parsing.loaders.pdf_file import SCAN, PdfFile, Text, painted


def letter(body: str = "本文です。\n> 引用です。\n", **headers: str) -> EmailMessage:
    mail = EmailMessage()
    for name, value in {
        "Subject": "出張の件",
        "From": "山田 <yamada@example.co.jp>",
        "To": "all@example.co.jp",
        **headers,
    }.items():
        mail[name] = value
    mail.set_content(body)
    return mail


def text(loaded) -> str:
    return "\n\n".join(page.markdown for page in loaded.pages)


def test_the_pages_of_a_pdf_in_a_mail_keep_their_numbers(raw) -> None:
    mail = letter()
    pages = [[Text(50, 700, "The terms are here")], [Text(50, 700, "The warranty lasts four years")]]
    mail.add_attachment(PdfFile(pages).content(), maintype="application", subtype="pdf", filename="terms.pdf")
    mail.add_attachment("It is paid.", subtype="markdown", filename="paid.md")
    loaded = load(raw(mail.as_bytes(), "a.eml"))
    numbers = {page.markdown.strip().split("\n")[-1]: page.number for page in loaded.pages}
    assert numbers["The terms are here"] == 1
    assert numbers["The warranty lasts four years"] == 2
    assert numbers["It is paid."] is None


def test_a_mail_has_its_subject_its_people_and_its_text_with_quotes(raw) -> None:
    mail = letter(Cc="desk@example.co.jp", Date="Mon, 02 Mar 2026 09:00:00 +0900")
    loaded = load(raw(mail.as_bytes(), "a.eml"))
    assert loaded.title == "出張の件"
    assert text(loaded).strip() == (
        "From: 山田 <yamada@example.co.jp>\nTo: all@example.co.jp\nCc: desk@example.co.jp\n"
        "Date: Mon, 02 Mar 2026 09:00:00 +0900\n\n本文です。\n> 引用です。"
    )


STRAY = (
    "--=_X1\nContent-Type: text/plain; charset=utf-8\n\n締切は28日です。\n\n"
    '--=_X1\nContent-Type: text/plain; name="a.txt"\n\nThe fee is 3000 yen.\n\n--=_X1--\n'
)


@pytest.mark.parametrize("stated", ["", '; boundary="B"'])
@pytest.mark.parametrize("inside", [False, True])
def test_a_mail_that_states_no_boundary_or_a_wrong_one_is_read_by_the_one_it_has(
    stated: str, inside: bool, raw
) -> None:
    content = f"Content-Type: multipart/mixed{stated}\n\nThis is a MIME message.\n\n{STRAY}"
    if inside:
        content = f'Content-Type: multipart/mixed; boundary="OUT"\n\n--OUT\n{content}\n--OUT--\n'
    loaded = load(raw(f"From: a@example.com\nSubject: Orders\n{content}".encode(), "a.eml"))
    assert text(loaded) == (
        "From: a@example.com\nAttachments: a.txt\n\n締切は28日です。\n\n\na.txt\n\nThe fee is 3000 yen.\n"
    )


@pytest.mark.parametrize("body", ["締切は28日です。", "<html><p>締切は28日です。</p></html>"])
def test_a_mail_saved_without_its_parts_is_read_as_its_text(body: str, raw) -> None:
    content = f'From: a@example.com\nSubject: Orders\nContent-Type: multipart/alternative; boundary="B"\n\n{body}\n'
    assert text(load(raw(content.encode(), "a.eml"))).strip() == "From: a@example.com\n\n締切は28日です。"


@pytest.mark.timeout(60)  # seconds; it takes one or two
def test_many_parts_within_each_other_without_their_boundaries_take_no_time(raw) -> None:
    inner = "".join(f"Content-Type: multipart/mixed\n\n--{at}\n" for at in range(50_000))
    load(raw(f"Subject: Orders\n{inner}".encode(), "a.eml"))


@pytest.mark.parametrize("kind", ["delivery-status", "disposition-notification"])
def test_the_reason_in_a_report_about_a_mail_that_was_not_delivered_is_read(kind: str, raw) -> None:
    status = "Final-Recipient: rfc822; hana@example.com\nAction: failed\nDiagnostic-Code: smtp;\n 552 Mailbox full\n"
    content = (
        "From: MAILER-DAEMON@example.com\nSubject: Undelivered\n"
        'Content-Type: multipart/report; boundary="B"\n\n--B\nContent-Type: text/plain\n\nI\'m sorry.\n\n'
        f"--B\nContent-Type: message/{kind}\n\n{status}\n--B--\n"
    )
    loaded = load(raw(content.encode(), "a.eml"))
    assert text(loaded).endswith(
        "Final-Recipient: rfc822; hana@example.com\nAction: failed\nDiagnostic-Code: smtp; 552 Mailbox full"
    )


def test_the_headers_of_a_mail_that_was_not_delivered_tell_which_it_was(raw) -> None:
    content = (
        'Subject: Undelivered\nContent-Type: multipart/report; boundary="B"\n\n--B\n\nI\'m sorry.\n\n'
        "--B\nContent-Type: text/rfc822-headers\n\nReceived: from a.example.com\nTo: hana@example.com\n"
        "Subject: =?UTF-8?B?5pyI5qyh5aCx5ZGK?=\n--B--\n"
    )
    assert text(load(raw(content.encode(), "a.eml"))).endswith("\n\nTo: hana@example.com\nSubject: 月次報告")


def test_japanese_mail_in_its_own_encoding_is_read(raw) -> None:
    body = "経費の締め日は25日です。\n"
    content = (
        b"Subject: =?ISO-2022-JP?B?" + base64.b64encode("経費の締め日".encode("iso2022_jp")) + b"?=\n"
        b"From: \"=?ISO-2022-JP?B?" + base64.b64encode("経理部".encode("iso2022_jp")) + b"?=\" <k@example.jp>\n"
        b"Content-Type: text/plain; charset=ISO-2022-JP\nContent-Transfer-Encoding: 7bit\n\n"
    ) + body.encode("iso2022_jp")  # fmt: skip
    loaded = load(raw(content, "a.eml"))
    assert loaded.title == "経費の締め日"
    assert '"経理部" <k@example.jp>' in text(loaded)
    assert body in text(loaded)


def test_words_cut_in_mid_character_raw_bytes_and_wrong_charsets_are_mended(raw) -> None:
    subject = "経費精算の手引き".encode()
    halves = [base64.b64encode(part).decode().rstrip("=") for part in (subject[:7], subject[7:])]
    content = (
        f"Subject: =?UTF-8?B?{halves[0]}?=\n =?UTF-8?B?{halves[1]}?=\nTo: =?x-none?Q?caf=C3=A9?=\nFrom: ".encode()
        + "営業部の鈴木です".encode("cp932")
        + b"\nContent-Type: text/plain; charset=us-ascii\n\n"
        + "本文は宣言と違います。".encode("cp932")
    )
    loaded = load(raw(content, "a.eml"))
    assert loaded.title == "経費精算の手引き"
    assert "From: 営業部の鈴木です" in text(loaded)
    assert "To: café" in text(loaded)
    assert "本文は宣言と違います。" in text(loaded)


@pytest.mark.parametrize("end", ["", "。", "。。"], ids=lambda end: f"{len(end)} more")
@pytest.mark.parametrize("newline", ["\n", "\r\r\n"])
def test_what_a_mailing_list_appends_to_a_text_in_base64_costs_none_of_it(newline: str, end: str, raw) -> None:
    body = "防火管理者は総務課の小林です。\n消火器の点検は半年ごとに行います。" + end
    lines = base64.encodebytes(body.encode()).decode().split("\n")
    head = "Subject: x\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
    footer = "\n____\nThe mailing list of 総務課\n"
    content = (head + newline.join(lines) + footer).encode()
    assert text(load(raw(content, "a.eml"))).split() == [*body.split(), *footer.split()]
    assert text(load(raw((head + newline.join(lines)).encode(), "a.eml"))).strip() == body


def test_headers_in_iso_2022_jp_that_were_never_encoded_are_read(raw) -> None:
    content = (
        "Subject: 第２回　出張の件\nFrom: 山田 <yamada@example.co.jp>\n"
        'Content-Type: text/plain; name="第2版.txt"\nContent-Disposition: attachment\n\n本文です。\n'
    )
    loaded = load(raw(content.encode("iso-2022-jp"), "a.eml"))
    assert loaded.title == "第２回 出張の件"
    assert "From: 山田 <yamada@example.co.jp>\nAttachments: 第2版.txt" in text(loaded)
    assert "本文です。" in text(loaded)


def test_plain_text_is_read_unless_the_html_has_a_table_that_it_loses(raw) -> None:
    mail = letter("plain words\n")
    mail.add_alternative("<p>html words</p>", subtype="html")
    assert "plain words" in text(load(raw(mail.as_bytes(), "a.eml")))
    assert "html words" not in text(load(raw(mail.as_bytes(), "a.eml")))
    mail = letter("a b 1 2\n")
    mail.add_alternative("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", subtype="html")
    assert "| a | b |" in text(load(raw(mail.as_bytes(), "a.eml")))


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("このメールはHTML形式です。\n", "このメールはHTML形式です。\n\n{html}"),
        ("健康診断は10月5日から9日まで、\n本社3階で行います。\n", "{html}"),
        ("健康診断は10月5日から\n9日まで、本社3階で行います。\n\n希望する日を人事部に知らせてください。\n", "{plain}"),
    ],
    ids=["says that there is a web page", "is its beginning", "is nearly all"],
)
def test_a_web_page_that_says_much_more_than_the_plain_text_is_read(plain: str, shown: str, raw) -> None:
    html = (
        "健康診断は10月5日から9日まで、本社3階で行います。",
        "希望する日を人事部に知らせてください。",
        "締切は9月18日です。",
    )
    mail = letter(plain)
    mail.add_alternative("".join(f"<p>{line}</p>" for line in html), subtype="html")
    _, _, read = text(load(raw(mail.as_bytes(), "a.eml"))).partition("\n\n")
    assert read.split() == shown.format(plain=plain, html="\n\n".join(html)).split()


def test_attachments_stand_under_their_names_and_one_that_fails_costs_nothing(raw) -> None:
    mail = letter()
    mail.add_attachment(
        "# 規程\n\n日当は2,500円です。".encode(), maintype="text", subtype="markdown", filename="規程.md"
    )
    mail.add_attachment(b"PK not a zip", maintype="application", subtype="pdf", filename="broken.pdf")
    mail.add_attachment(b"\0\1", maintype="video", subtype="mp4", filename="film.mp4")
    mail.add_attachment(letter("中のメールです。\n", Subject="転送"))
    loaded = load(raw(mail.as_bytes(), "a.eml"))
    assert "Attachments: 規程.md, broken.pdf, film.mp4, 転送" in text(loaded)
    headings = [(heading.text, heading.level) for page in loaded.pages for heading in page.headings or ()]
    assert headings == [("規程.md", 1), ("規程", 2), ("転送", 1)]
    for words in ("日当は2,500円です。", "中のメールです。"):
        assert words in text(loaded)
    for page in loaded.pages:
        lines = page.markdown.split("\n")
        assert all(heading.text in lines[heading.line] for heading in page.headings or ())


@pytest.mark.parametrize(
    "header",
    [
        "attachment; filename*=iso-2022-jp''" + "".join(f"%{byte:02X}" for byte in "規程.md".encode("iso2022_jp")),
        "attachment; filename*0*=utf-8''%E8%A6%8F; filename*1*=%E7%A8%8B.md",
        'attachment; filename="=?UTF-8?B?' + base64.b64encode("規程.md".encode()).decode() + '?="',
        "attachment; filename*=no-such-charset''%E8%A6%8F%E7%A8%8B.md",
        'attachment; filename="規程.md"',
        'attachment; filename="..\\\\..\\\\規程.md"',
    ],
)
def test_the_names_of_attachments_are_read_however_they_are_written(header: str, raw) -> None:
    content = (
        "Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nbody\n"
        f"--b\nContent-Type: application/octet-stream\nContent-Disposition: {header}\n\n# 見出し\n\ntext of it\n--b--\n"
    )
    loaded = load(raw(content.encode(), "a.eml"))
    assert "Attachments: 規程.md" in text(loaded)
    assert "text of it" in text(loaded)


@pytest.mark.parametrize("odd", ["name*0=a; name*1*=b; name*=c", f"name*{'9' * 5000}*=a", "name*=undefined''%41"])
def test_a_mail_with_parameters_that_cannot_be_read_is_read(odd: str, raw) -> None:
    content = (
        "Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n"
        f"--b\nContent-Type: text/plain; {odd}\n\nbody\n"
        f"--b\nContent-Type: text/plain; {odd}\nContent-Disposition: attachment; file{odd}\n\nattached\n--b--\n"
    )
    assert "body" in text(load(raw(content.encode(), "a.eml")))


@pytest.mark.parametrize(("name", "is_listed"), [("body", False), ("Rev. 2", False), ("note.txt", True)])
def test_a_text_with_a_name_that_is_none_of_a_file_is_the_text_of_the_mail(name: str, is_listed: bool, raw) -> None:
    loaded = load(
        raw(f'Subject: x\nContent-Type: text/plain; charset=utf-8; name="{name}"\n\n本文です。\n'.encode(), "a.eml")
    )
    assert "本文です。" in text(loaded)
    assert ("Attachments:" in text(loaded)) == is_listed


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("Content-Type: text/csv", "attachment.csv"),
        ("Content-Type: text/csv\nContent-Disposition: attachment; filename=stock", "stock.csv"),
        ("Content-Type: text/plain\nContent-Disposition: attachment", "attachment.txt"),
        ("Content-Type: message/rfc822", "attachment.eml"),
    ],
)
def test_an_attachment_without_a_name_or_a_suffix_is_read_as_what_it_says_it_is(header: str, name: str, raw) -> None:
    content = (
        "Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nSee the list.\n"
        f"--b\n{header}\n\nFrom: a,b\n\n4,5\n--b--\n"
    )
    loaded = load(raw(content.encode(), "a.eml"))
    assert f"Attachments: {name}" in text(loaded)
    assert name in [heading.text for page in loaded.pages for heading in page.headings or ()]
    assert "4" in loaded.pages[-1].markdown


def test_a_mail_in_a_mail_is_read_though_its_program_has_encoded_it_whole(raw) -> None:
    inner = base64.encodebytes(letter("中身です。\n", Subject="議事録").as_bytes()).decode()
    header = "Content-Type: message/rfc822; name=minutes.eml\nContent-Transfer-Encoding: base64\n"
    content = f"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nSee.\n--b\n{header}\n{inner}\n--b--\n"
    loaded = load(raw(content.encode(), "a.eml"))
    assert "中身です。" in loaded.pages[-1].markdown
    assert "議事録" in [heading.text for page in loaded.pages for heading in page.headings or ()]


def test_another_form_of_the_text_is_no_attachment(raw) -> None:
    mail = letter("The *daily* allowance.\n")
    mail.add_alternative("The *daily* allowance.\n", subtype="markdown")
    assert text(load(raw(mail.as_bytes(), "a.eml"))).count("daily") == 1


INVITATION = """BEGIN:VCALENDAR
METHOD:REQUEST
BEGIN:VTIMEZONE
TZID:Asia: Tokyo
BEGIN:STANDARD
DTSTART:16010101T000000
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
SUMMARY;LANGUAGE=ja-JP:予算会議\\, 第2回
DTSTART;TZID="Asia: Tokyo":20260310T140000
DTEND:20260310T060000Z
LOCATION:本社\\; 第3
 会議室\\n(4階)
BEGIN:VALARM
DTSTART:20260101T000000
SUMMARY:Reminder
END:VALARM
END:VEVENT
BEGIN:VEVENT
DTSTART:20270310T140000
END:VEVENT
END:VCALENDAR
"""


def test_an_invitation_says_when_and_where(raw) -> None:
    when = "Start: 2026-03-10 14:00 Asia: Tokyo\nEnd: 2026-03-10 06:00 UTC\nLocation: 本社; 第3会議室 (4階)"
    mail = letter()
    mail.add_alternative(INVITATION, subtype="calendar", params={"method": "REQUEST", "name": "meeting.ics"})
    people = "From: 山田 <yamada@example.co.jp>\nTo: all@example.co.jp"
    assert text(load(raw(mail.as_bytes(), "a.eml"))).strip() == f"{people}\n{when}\n\n本文です。\n> 引用です。"
    alone = "From: a@example.jp\nContent-Type: text/calendar; charset=utf-8; method=REQUEST\n\n" + INVITATION
    assert text(load(raw(alone.encode(), "a.eml"))) == f"From: a@example.jp\n{when}\nSummary: 予算会議, 第2回"


@pytest.mark.parametrize("zone", ["America/New_York", "Eastern Standard Time", '"(UTC-05:00) Eastern Time"'])
def test_the_time_zone_of_an_invitation_is_told(zone: str, raw) -> None:
    event = f"BEGIN:VEVENT\nDTSTART;VALUE=DATE-TIME;TZID={zone}:20261203T090000\nDTEND;tzid={zone}:20261203T100000\n"
    read = text(load(raw(f"Subject: x\nContent-Type: text/calendar\n\n{event}".encode(), "a.eml")))
    told = zone.strip('"')
    assert read == f"Start: 2026-12-03 09:00 {told}\nEnd: 2026-12-03 10:00 {told}"


def test_the_text_of_an_invitation_is_read_once(raw) -> None:
    event = "BEGIN:VEVENT\nDESCRIPTION;LANGUAGE=ja-JP:議題\\n1. 予算\nEND:VEVENT\n"
    mail = letter()
    mail.add_alternative(event, subtype="calendar")
    assert "議題" not in text(load(raw(mail.as_bytes(), "a.eml")))
    alone = f"Subject: x\nContent-Type: text/calendar; charset=utf-8\n\n{event}"
    assert text(load(raw(alone.encode(), "a.eml"))) == "Description: 議題 1. 予算"


def test_the_last_of_whole_days_is_the_end_of_an_invitation(raw) -> None:
    days = "BEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20260310\r\nDTEND;VALUE=DATE:20260312\r\nLOCATION:\r\nEND:VEVENT\r\n"
    mail = f"Subject: x\nContent-Type: text/calendar\n\n{days}"
    assert text(load(raw(mail.encode(), "a.eml"))) == "Start: 2026-03-10\nEnd: 2026-03-11"


@pytest.mark.parametrize("start", ["", "2026", "20269999T990000", "99999999", "00010101", "会議"])
def test_what_is_no_invitation_adds_nothing_to_a_mail(start: str, raw) -> None:
    mail = letter()
    mail.add_alternative(f"BEGIN:VEVENT\nDTEND;VALUE=DATE:{start}\n", subtype="calendar")
    mail.add_attachment(b"BEGIN:VEVENT\n\0\xff\xfe", maintype="text", subtype="calendar", filename="plan.ics")
    _, _, read = text(load(raw(mail.as_bytes(), "a.eml"))).partition("all@example.co.jp\n")
    assert read.strip() == "Attachments: plan.ics\n\n本文です。\n> 引用です。"


def test_mails_within_mails_and_attachments_are_read_to_a_bound_and_the_rest_is_told(raw) -> None:
    mail = letter("innermost\n")
    for level in range(6):
        outer = letter(f"level {level}\n", Subject=f"件{level}")
        outer.add_attachment(mail)
        mail = outer
    loaded = load(raw(mail.as_bytes(), "a.eml"))
    assert "level 2" in text(loaded)
    assert "level 1" not in text(loaded)
    assert loaded.pages_without_text == "件1"
    mail = letter()
    for number in range(60):
        mail.add_attachment(f"number {number}.", filename=f"{number}.txt")
    loaded = load(raw(mail.as_bytes(), "a.eml"))
    assert "number 49." in text(loaded)
    assert "number 50." not in text(loaded)
    assert loaded.pages_without_text == ", ".join(f"{number}.txt" for number in range(50, 60))


def test_flowed_lines_are_joined_again(raw) -> None:
    content = (
        b"Subject: x\nContent-Type: text/plain; format=flowed\n\nThis goes \non here.\n> a quote \n> too.\n-- \nsig\n"
    )
    assert text(load(raw(content, "a.eml"))).endswith("This goes on here.\n> a quote too.\n-- \nsig\n")


def zipped(**files: bytes | str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return out.getvalue()


def test_the_files_of_an_attached_zip_are_read_under_their_names(raw) -> None:
    inner = zipped(**{"古い規程.txt": "旧日当は2,000円です。"})
    outer = zipped(**{
        "規程/日当.md": "# 日当\n\n日当は2,500円です。", "film.mp4": b"\0", "broken.docx": b"PK no more",
        "転送.eml": letter("中のメールです。\n").as_bytes(), "古い.zip": inner,
    })  # fmt: skip
    mail = letter()
    mail.add_attachment(outer, maintype="application", subtype="zip", filename="資料.zip")
    loaded = load(raw(mail.as_bytes(), "a.eml"))
    headings = [(heading.text, heading.level) for page in loaded.pages for heading in page.headings or ()]
    assert headings == [
        ("資料.zip", 1), ("規程/日当.md", 2), ("日当", 3), ("転送.eml", 2), ("古い.zip/古い規程.txt", 2),
    ]  # fmt: skip
    for words in ("日当は2,500円です。", "中のメールです。", "旧日当は2,000円です。"):
        assert words in text(loaded)
    for page in loaded.pages:
        lines = page.markdown.split("\n")
        assert all(heading.text in lines[heading.line] for heading in page.headings or ())


def test_attached_scans_are_told_with_their_names_and_pages(raw) -> None:
    mail = letter()
    scan, half = PdfFile([[painted(SCAN)]]), PdfFile([[Text(50, 700, "It pays 2,500 yen.")], [painted(SCAN)]])
    mail.add_attachment(scan.content(), maintype="application", subtype="pdf", filename="見積.pdf")
    mail.add_attachment(zipped(**{"b.pdf": half.content()}), maintype="application", subtype="zip", filename="a.zip")
    assert load(raw(mail.as_bytes(), "a.eml")).pages_without_text == "見積.pdf, b.pdf 2"


@pytest.mark.parametrize(
    ("subtype", "name"), [("ms-tnef", "winmail.dat"), ("octet-stream", "WINMAIL.DAT"), ("vnd.ms-tnef", "")]
)
def test_an_attachment_in_which_outlook_hides_files_is_told(subtype: str, name: str, raw) -> None:
    mail = letter("資料を送ります。\n")
    named = {"filename": name} if name else {"disposition": "attachment"}
    mail.add_attachment(b"\x78\x9f\x3e\x22\1\0", maintype="application", subtype=subtype, **named)
    loaded = load(raw(mail.as_bytes(), "a.eml"))
    assert "資料を送ります。" in text(loaded)
    assert loaded.pages_without_text == (name or "winmail.dat")


def test_attachments_with_a_password_or_in_an_old_format_are_told_but_no_pictures(raw) -> None:
    closed = bytearray(zipped(**{"見積.txt": "合計 5,000円"}))
    for signature, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        closed[closed.index(signature) + flags] |= 1
    mail = letter("パスワードは別便で送ります。\n")
    inner = zipped(**{"読めます.txt": "日当は2,500円です。", "旧規程.xls": "\0", "図.png": "\0"})
    for name, content in {"見積.zip": bytes(closed), "規程.doc": b"\0", "logo.png": b"\0", "資料.zip": inner}.items():
        mail.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    loaded = load(raw(mail.as_bytes(), "a.eml"))
    assert "日当は2,500円です。" in text(loaded)
    assert loaded.pages_without_text == "見積.zip, 規程.doc, 旧規程.xls"


def test_a_zip_has_no_more_files_read_than_a_mail(raw) -> None:
    mail = letter()
    files = {f"{number}.txt": f"file {number}" for number in range(60)}
    mail.add_attachment(zipped(**files), maintype="application", subtype="zip", filename="a.zip")
    loaded = load(raw(mail.as_bytes(), "a.eml"))
    assert text(loaded).count("file ") == ATTACHMENTS - 1
    assert loaded.pages_without_text.endswith("58.txt, 59.txt")


def test_an_attached_zip_that_is_damaged_or_unpacks_to_too_much_is_only_named(raw, monkeypatch) -> None:
    monkeypatch.setattr(eml, "UNPACKED_MB", 1)
    for content in (zipped(**{"a.txt": "it is read", "b.txt": "zeros " * 400_000}), b"PK\3\4 no more"):
        mail = letter()
        mail.add_attachment(content, maintype="application", subtype="zip", filename="a.zip")
        markdown = text(load(raw(mail.as_bytes(), "a.eml")))
        assert "Attachments: a.zip" in markdown
        assert markdown.strip().endswith("本文です。\n> 引用です。")


def test_an_attached_bomb_is_left_out(raw) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("META-INF/container.xml", bytes(50_000_000))
    mail = letter()
    mail.add_attachment(out.getvalue(), maintype="application", subtype="epub+zip", filename="bomb.epub")
    assert "本文です。" in text(load(raw(mail.as_bytes(), "a.eml")))


DATA = bytes.fromhex("2a864886f70d0107")
"""the names of kinds of content in CMS begin with it"""


def element(tag: int, *contents: bytes, is_streamed: bool = False) -> bytes:
    """An element of BER; `is_streamed`: with its end marked, instead of its length named."""
    content = b"".join(contents)
    if is_streamed:
        return bytes([tag, 0x80]) + content + b"\0\0"
    length = len(content)
    size = bytes([length]) if length < 0x80 else b"\x84" + length.to_bytes(4, "big")
    return bytes([tag]) + size + content


def signed(mail: bytes, *, is_streamed: bool = False, kind: int = 2, more: str = "; smime-type=signed-data") -> bytes:
    """A mail that an S/MIME signature wraps (CMS); `kind`: 2 is signed, 3 encrypted."""
    halves = [element(0x04, part) for part in (mail[:100], mail[100:])]
    octets = element(0x24, *halves, is_streamed=True) if is_streamed else element(0x04, mail)
    data = element(0x30, element(0x06, DATA + b"\1"), element(0xA0, octets, is_streamed=is_streamed))
    algorithms = element(0x31, element(0x30, element(0x06, b"\x60"), element(0x05)), is_streamed=is_streamed)
    whole = element(0x30, element(0x02, b"\1"), algorithms, data, element(0x31), is_streamed=is_streamed)
    cms = element(0x30, element(0x06, DATA + bytes([kind])), element(0xA0, whole, is_streamed=is_streamed))
    head = f"Subject: 署名\nFrom: a@example.jp\nContent-Type: application/pkcs7-mime{more}; name=smime.p7m\n"
    return f"{head}Content-Transfer-Encoding: base64\n\n".encode() + base64.encodebytes(cms)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"no mail at all", errors.Unreadable),
        (b"%PDF-1.4\n1 0 obj", errors.WrongContent),
        (
            b"Subject: x\nContent-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nAAAA",
            errors.PasswordProtected,
        ),
        (signed(b"Content-Type: text/plain\n\nsecret", kind=3, more=""), errors.PasswordProtected),
        (signed(b"")[:-40], errors.Unreadable),
    ],
)
def test_what_is_no_readable_mail_is_refused(content: bytes, error: type[errors.PlainError], raw) -> None:
    with pytest.raises(error, match=r"a\.eml"):
        load(raw(content, "a.eml"))


def test_a_mail_in_the_format_of_outlook_is_named_so(raw) -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "WordDocument__substg1.0_".encode("utf-16-le")
    with pytest.raises(errors.WrongContent, match="Outlook"):
        load(raw(ole, "a.eml"))


@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize("more", ["", "; smime-type=signed-data"])
def test_a_mail_whose_signature_wraps_its_text_is_read(is_streamed: bool, more: str, raw) -> None:
    mail = letter("署名した本文です。\n")
    mail.add_attachment("添付です。", filename="規程.txt")
    content = signed(mail.as_bytes(), is_streamed=is_streamed, more=more)
    loaded = load(raw(signed(content), "a.eml"))
    assert loaded.title == "署名"
    assert text(loaded).startswith("From: a@example.jp\nAttachments: 規程.txt\n")
    for words in ("署名した本文です。", "添付です。"):
        assert words in text(loaded)


def test_a_page_saved_in_one_file_is_read_as_the_page(raw) -> None:
    content = (
        "From: <Saved by Blink>\nSubject: x\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n\n--b\n"
        "Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
        "<title>Guide</title><h2>Steps</h2><p>Pay =\nmonthly.</p>\n--b\nContent-Type: image/png\n\nx\n--b--\n"
    )
    loaded = load_web_archive(raw(content.encode(), "a.mht"))
    assert (loaded.title, loaded.pages[0].markdown) == ("Guide", "## Steps\n\nPay monthly.\n")
