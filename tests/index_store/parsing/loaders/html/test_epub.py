import io
import zipfile

import pytest

from index_store.base import errors
from index_store.parsing.loaders.html.epub import load
from tests.index_store.parsing.loaders.epub_file import CHAPTERS, PACKAGE, book


def encrypted(target: str, algorithm: str) -> str:
    return (
        "<encryption xmlns='urn:oasis:names:tc:opendocument:xmlns:container'"
        " xmlns:e='http://www.w3.org/2001/04/xmlenc#'>"
        f"<e:EncryptedData><e:EncryptionMethod Algorithm='{algorithm}'/>"
        f"<e:CipherData><e:CipherReference URI='{target}'/></e:CipherData></e:EncryptedData></encryption>"
    )


def test_chapters_come_in_the_order_of_the_spine_under_their_headings(raw) -> None:
    loaded = load(raw(book(), "book.epub"))
    assert loaded.title == "わたしの本"
    assert [page.markdown for page in loaded.pages] == [
        "# はじめに\n\n漢字を読む。\n",
        "# Two\n\nThe second chapter has no heading.\n",
    ]


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (
            "<p id='c0'>第一章 創業</p><p>神田。</p><p id='c1'>第二章 <b>戦後</b></p><p>川崎。</p>",
            "# 第一章 創業\n\n神田。\n\n# 第二章 戦後\n\n川崎。\n",
        ),
        (
            "<div id='c0'><p>神田。</p></div><p>In between.</p><p><i><a name='c1'/></i>川崎。</p>",
            "# 第一章 創業\n\n神田。\n\nIn between.\n\n# 第二章 戦後\n\n川崎。\n",
        ),
        ("<p>神田。</p><p>川崎。</p>", "神田。\n\n川崎。\n"),
        ("<p>神田。</p><h2 id='c1'>戦後</h2><p>川崎。</p>", "神田。\n\n## 戦後\n\n川崎。\n"),
    ],
)
def test_chapters_of_one_file_stand_each_under_its_own_title(raw, body: str, read: str) -> None:
    contents = "<nav><a href='one.xhtml#c0'>第一章 創業</a> <a href='one.xhtml#c1'>第二章 戦後</a></nav>"
    (page,) = load(raw(book({"one.xhtml": body, "nav.xhtml": contents}), "book.epub")).pages
    assert page.markdown == read


def test_a_part_of_a_chapter_stands_below_its_title(raw) -> None:
    contents = (
        "<nav><ol><li><a href='one.xhtml'>第一章</a><ol><li><a href='one.xhtml#c0'>創業</a></li></ol></li></ol></nav>"
    )
    chapters = {"one.xhtml": "<p>序。</p><p id='c0'>神田。</p>", "nav.xhtml": contents}
    (page,) = load(raw(book(chapters), "book.epub")).pages
    assert page.markdown == "# 第一章\n\n序。\n\n## 創業\n\n神田。\n"


@pytest.mark.parametrize("tags", [("h1", "h2", "h2"), ("h1", "h1", "h1"), ("h2", "h3", "h2")], ids=" ".join)
def test_chapters_stand_below_each_other_as_the_contents_say(tags: tuple[str, str, str], raw) -> None:
    contents = (
        "<nav><ol><li><a href='part.xhtml'>第1部 入門</a><ol><li><a href='one.xhtml#a'>第1章　準備</a></li></ol></li>"
        "<li><a href='end.xhtml'>おわりに</a></li></ol></nav>"
    )
    names = ("第1部 入門", "第1章 準備", "おわりに")
    bodies = [f"<{tag} id='a'>{name}</{tag}><p>{name}の話。</p>" for tag, name in zip(tags, names, strict=True)]
    lower = f"h{int(tags[1][1]) + 1}"
    bodies[1] += f"<{lower}>電話</{lower}><p>三回まで。</p>"
    bodies.insert(2, f"<{lower}>郵便</{lower}><p>The rest of the chapter.</p>")
    files = ("part.xhtml", "one.xhtml", "more.xhtml", "end.xhtml")
    items = "".join(f"<item id='{file[0]}' href='{file}'/>" for file in files)
    package = (
        f"<package><manifest>{items}<item id='n' href='nav.xhtml' properties='nav'/></manifest>"
        "<spine><itemref idref='p'/><itemref idref='o'/><itemref idref='m'/><itemref idref='e'/></spine></package>"
    )
    chapters = dict(zip(files, bodies, strict=True)) | {"nav.xhtml": contents}
    loaded = load(raw(book(chapters, package), "book.epub"))
    levels = [(level, text) for page in loaded.pages for _, level, text in page.lines() if level]
    assert levels == [(1, "第1部 入門"), (2, "第1章 準備"), (3, "電話"), (3, "郵便"), (1, "おわりに")]


@pytest.mark.parametrize(
    ("body", "is_read"),
    [
        ("<ul id='toc'><li><a href='#a'>一</a></li></ul><h1 id='a'>一</h1><p>日当は三千円です。</p>", True),
        (
            "<h1>目次</h1><p><a href='text/two%20two.xhtml'>日当は三千円</a> ……………… 3</p>",
            False,
        ),
        ("", False),
    ],
    ids=["a chapter too", "nothing else", "nothing"],
)
def test_a_file_with_the_contents_is_left_out_if_there_is_nothing_else_in_it(raw, body: str, is_read: bool) -> None:
    guide = "<guide><reference type='toc' href='one.xhtml#toc'/></guide></package>"
    content = book(CHAPTERS | {"one.xhtml": body}, PACKAGE.replace("</package>", guide))
    pages = load(raw(content, "book.epub")).pages
    assert ("日当は三千円です。" in pages[0].markdown) == is_read
    assert "The second chapter has no heading." in pages[-1].markdown
    assert len(pages) == 1 + is_read


@pytest.mark.parametrize("package", ["", "&#0;", "\0" * 9, PACKAGE.replace("<spine", "<back")])
def test_a_book_whose_list_of_chapters_is_damaged_is_refused(raw, package: str) -> None:
    with pytest.raises((errors.Unreadable, errors.NoText)):
        load(raw(book(package=package), "book.epub"))


def test_a_damaged_table_of_contents_costs_the_titles_alone(raw) -> None:
    package = PACKAGE.replace("nav.xhtml' properties='nav'", "toc.ncx' media-type='application/x-dtbncx+xml'")
    file = io.BytesIO(book(package=package))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("OEBPS/toc.ncx", "\0")
    pages = load(raw(file.getvalue(), "book.epub")).pages
    assert [page.markdown.split("\n")[0] for page in pages] == ["# はじめに", "The second chapter has no heading."]


def test_entities_that_swell_are_refused(raw) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">]>'
    with pytest.raises(errors.Unreadable):
        load(raw(book(package=bomb + PACKAGE.replace("わたしの本", "&b;")), "book.epub"))


def test_a_protected_book_is_refused_and_one_with_hidden_fonts_is_read(raw) -> None:
    locked = book(encryption=encrypted("OEBPS/one.xhtml", "http://www.w3.org/2001/04/xmlenc#aes128-cbc"))
    with pytest.raises(errors.CopyProtected):
        load(raw(locked, "book.epub"))
    fonts = book(encryption=encrypted("OEBPS/font.otf", "http://www.idpf.org/2008/embedding"))
    assert len(load(raw(fonts, "book.epub")).pages) == 2


def test_a_book_of_pictures_has_no_text(raw) -> None:
    with pytest.raises(errors.NoText):
        load(raw(book({"one.xhtml": "<img src='1.jpg'/>"}), "book.epub"))


@pytest.mark.soak  # in a parser's process: tests/index_store/parsing/loaders/test_bad_input.py
def test_a_chapter_that_unpacks_to_no_end_is_refused(raw) -> None:
    with pytest.raises(errors.TooMuchText):
        load(raw(book({"one.xhtml": " " * 110_000_000}), "book.epub"))


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (book()[:-50], errors.Unreadable),
        (b"PK\x03\x04", errors.Unreadable),
        (b"%PDF-1.4\n1 0 obj", errors.WrongContent),
        (book(package="no XML"), errors.Unreadable),
    ],
)
def test_what_is_no_book_is_refused(content: bytes, error: type[errors.PlainError], raw) -> None:
    with pytest.raises(error, match=r"book\.epub"):
        load(raw(content, "book.epub"))
