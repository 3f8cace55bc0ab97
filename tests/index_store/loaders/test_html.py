import pytest

from index_store import errors
from index_store.loaders.html import load, load_html


def markdown(html: str) -> str:
    return load_html(html, "page.html").pages[0].markdown


def test_headings_lists_tables_and_code_become_markdown() -> None:
    html = """<h1>Guide</h1><h2>Steps</h2><ol><li>One<ul><li>inner</li></ul></li><li>Two</li></ol>
    <table><tr><th>Code</th><th>Price</th></tr><tr><td rowspan=2>A|1</td><td>100</td></tr><tr><td>200</td></tr></table>
    <pre># a comment
    make</pre>"""
    assert markdown(html) == (
        "# Guide\n\n## Steps\n\n1. One\n   - inner\n2. Two\n\n"
        "| Code | Price |\n| --- | --- |\n| A\\|1 | 100 |\n| A\\|1 | 200 |\n\n"
        "```\n# a comment\n    make\n```\n"
    )


def test_navigation_scripts_and_menus_go_and_the_words_of_links_stay() -> None:
    menu = "".join(f"<li><a href='/{n}'>Menu item {n}</a></li>" for n in range(8))
    text = "The allowance is explained <a href='/x'>in this note</a>, and it is paid every month. " * 5
    html = f"<nav>Home</nav><div><ul>{menu}</ul></div><script>var x</script><p>{text}</p><footer>© 2026</footer>"
    assert markdown(html).strip() == " ".join(text.replace("<a href='/x'>", "").replace("</a>", "").split())


def test_text_outside_paragraphs_is_kept() -> None:
    html = "<body>loose text<br>second line<div>in a div<dl><dt>Q: When?</dt><dd>A: On Monday.</dd></dl></div></body>"
    for part in ("loose text\nsecond line", "in a div", "Q: When?", "A: On Monday."):
        assert part in markdown(html)


def test_a_page_of_links_keeps_them() -> None:
    html = "<ul>" + "".join(f"<li><a href='/{n}'>Form {n}</a></li>" for n in range(9)) + "</ul>"
    assert "Form 8" in markdown(html)


def test_readings_above_kanji_do_not_double_the_text() -> None:
    assert markdown("<p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>を読む</p>") == "漢字を読む\n"


def test_japanese_wrapped_in_the_source_has_no_space() -> None:
    assert markdown("<p>日本語の\n   文章と English\nwords</p>") == "日本語の文章と English words\n"


def test_legacy_pages_are_read_by_what_they_declare(raw) -> None:
    html = "<meta charset=Shift_JIS><title>案内</title><p>ようこそ、表示のテストです。</p>"
    loaded = load(raw(html.encode("cp932"), "a.html"))
    assert (loaded.title, loaded.pages[0].markdown) == ("案内", "ようこそ、表示のテストです。\n")


def test_the_title_is_the_heading_that_the_page_is_titled_by(raw) -> None:
    loaded = load(raw(b"<title>Annual leave</title><h1>Acme</h1><h1>Annual leave</h1><p>x</p>", "a.html"))
    assert loaded.title == "Annual leave"


def test_a_page_without_text_is_refused(raw) -> None:
    with pytest.raises(errors.NoText):
        load(raw(b"<html><body><script>x()</script></body></html>", "a.html"))


def test_a_pdf_named_html_is_refused(raw) -> None:
    with pytest.raises(errors.WrongContent, match="PDF"):
        load(raw(b"%PDF-1.4\n%\xe2\xe3\n1 0 obj", "a.html"))
