"""Pages as Word, Outlook, WordPress, Bootstrap and other programs write them."""

import pytest

from index_store.base import errors
from index_store.parsing.chunking.chunker import chunk_document
from index_store.parsing.loaders.html.html import load_html
from index_store.parsing.loaders.mail.eml import load as load_mail


def markdown(html: str) -> str:
    return load_html(html, "a.html").pages[0].markdown


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<b style='font-family:\"Wingdings 2\"'>R</b>可 <b style='font-family:\"Wingdings 2\"'>£</b>否", "☑可 ☐否"),
        ("5 <span style='font-family:Symbol'>m</span>m", "5 μm"),
        ("申請 <font face=Wingdings>à</font> 承認", "申請 → 承認"),
        ("<b style='font-family:Wingdings'>l<i style='font:7pt \"Times New Roman\"'>&nbsp;</i></b>項目", "●\xa0項目"),
        ("<span style='font-family:\"Segoe UI Symbol\"'>m</span>", "m"),
        ("<span style='font-family:Wingdings'>J<b style='font-family:Arial'>ok</b>規</span>", "ok規"),
    ],
)  # fmt: skip
def test_marks_in_fonts_of_symbols_are_read(html: str, expected: str, raw) -> None:
    assert markdown(f"<p>{html}</p>") == expected + "\n"
    mail = f"Subject: a\nContent-Type: text/html; charset=utf-8\n\n<p>{html}</p>"
    assert load_mail(raw(mail.encode(), "a.eml")).pages[1].markdown == expected + "\n"


@pytest.mark.parametrize("name", ["collapsible", "qa-q js-open", "c-toggle__title toggle-title"])
def test_a_question_in_a_button_that_only_its_class_tells_is_read(name: str) -> None:
    assert "How much?" in markdown(f"<button type=button class='{name}'>How much?</button><div><p>980 yen</p></div>")


@pytest.mark.parametrize("attribute", ["role=tab", "data-toggle=tab", "data-bs-toggle=pill"])
def test_names_of_four_tabs_are_no_menu(attribute: str) -> None:
    offices = ("Tokyo", "Osaka", "Nagoya", "Kobe")
    tabs = "".join(f"<li><a href='#t{n}' {attribute}>{name}</a>" for n, name in enumerate(offices))
    panels = "".join(f"<div id=t{n}>{n}-1 Chuo</div>" for n in range(4))
    read = markdown(f"<h1>Offices</h1><p>{'Where to find us. ' * 6}</p><ul class='nav nav-tabs'>{tabs}</ul>{panels}")
    assert all(name in read for name in offices)


@pytest.mark.parametrize(
    "html",
    [
        "<div id=app>Loading...</div>",
        "読み込み中…",
        "You need to enable JavaScript to run this app.",
        "JavaScriptを有効にしてください。",
        "<span>Loading</span><div>×Sorry to interrupt</div><div>CSS Error</div><a>Refresh</a>",
    ],
)
def test_what_a_page_says_until_its_script_has_run_is_no_text(html: str) -> None:
    with pytest.raises(errors.PageWithoutText):
        load_html(f"<title>App</title><body>{html}", "a.html")
    assert markdown("<p>Loading dock: gate 3")


def test_the_first_of_rows_that_have_a_label_each_is_no_header() -> None:
    rows = (("仕事内容", "提案営業。" * 30), ("応募資格", "大学卒業以上。" * 30), ("福利厚生", "社会保険。" * 30))
    table = "".join(f"<tr><th>{label}<td>{text}" for label, text in rows)
    sections = chunk_document(load_html(f"<h1>募集要項</h1><table>{table}</table>", "a.html"), 400, 50)
    assert sum("仕事内容" in chunk.embedded for section in sections for chunk in section.chunks) == 1


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "<time class=published>July 1, 2026</time><time class=updated>July 2, 2026</time>",
            "July 1, 2026 July 2, 2026",
        ),
        ("<a href=a>Travel form</a><a href=a class=wp-block-file__button>Download</a>", "Travel form Download"),
        ("<mat-card-title>Leave</mat-card-title><mat-card-content>10 days</mat-card-content>", "Leave 10 days"),
    ],
)
def test_neighbours_that_a_style_sets_apart_are_words_of_their_own(html: str, expected: str) -> None:
    assert markdown(f"<div>{html}</div>") == expected + "\n"


@pytest.mark.parametrize("name", ["sp", "pc", "sp-only", "br-sp", "u-hidden-sp", "spOnly", "d-md-none", "md:hidden"])
def test_a_line_break_of_small_screens_alone_divides_no_line(name: str) -> None:
    html = f"<h1>就業<br class='{name}'>規則</h1><p>お問い<br class='{name}'>合わせ<p>Annual<br class='{name}'>leave"
    assert markdown(html) == "# 就業規則\n\nお問い合わせ\n\nAnnual leave\n"
    assert markdown("<p>a<br class=clear>b<br>c") == "a\nb\nc\n"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("<i class='fa fa-check'></i>", "✓"),
        ("<i class='fa-solid fa-xmark' aria-hidden=true></i>", "✗"),
        ("<span class='glyphicon glyphicon-ok'></span>", "✓"),
        ("<i class='bi bi-x-lg'></i>", "✗"),
        ("<i class='fa fa-check' aria-label=Yes></i>", "Yes"),
        ("<i class='fa fa-star'></i>", ""),
    ],
)
def test_a_tick_of_a_font_of_icons_is_read(cell: str, expected: str) -> None:
    table = f"<table><tr><th>Plan<th>Free<tr><td>Search<td>{cell}<tr><td>API<td>-</table>"
    assert f"| Search | {expected} |" in markdown(table)


@pytest.mark.parametrize("chapters", [1, 2])
def test_the_title_of_google_docs_is_a_title_and_chapters_are_headings(chapters: int) -> None:
    title = '<p class="c0 title" id="h.t1"><span>Travel Policy</span></p><p class="c1 subtitle" id="h.t2">Version 2</p>'
    text = "".join(f'<h1 id="h.a{n}"><span>{n}. Booking</span></h1><p>Book early.</p>' for n in range(1, chapters + 1))
    document = load_html(f'<body class="c9 doc-content">{title}{text}', "a.html")
    assert document.title == "Travel Policy"
    assert chunk_document(document, 500, 0)[-1].headings[-1] == f"{chapters}. Booking"
