"""All Office files, with Word as the example: wrong and damaged files, zip bombs, and links to the outside."""

import io
import zipfile

import pytest

from index_store.base import errors
from index_store.parsing.loaders.office.excel.xlsx import load as load_workbook
from index_store.parsing.loaders.office.word.docx import load
from tests.index_store.parsing.loaders.office_file import OLE, OfficeFile
from tests.index_store.parsing.loaders.word_file import document, p


def test_a_file_protected_by_a_password_is_named_so(raw) -> None:
    with pytest.raises(errors.PasswordProtected):
        load(raw(OLE + "EncryptedPackage".encode("utf-16-le"), "a.docx"))


@pytest.mark.parametrize(
    ("stream", "named"), [("WordDocument", "Word 97-2003"), ("Workbook", "Excel 97-2003"), ("x", "Office 97-2003")]
)
def test_an_old_file_under_a_new_name_is_refused(raw, stream: str, named: str) -> None:
    with pytest.raises(errors.WrongContent, match=named):
        load(raw(OLE + stream.encode("utf-16-le"), "a.docx"))


def test_other_formats_under_this_name_are_refused(raw) -> None:
    with pytest.raises(errors.WrongContent, match="PDF"):
        load(raw(b"%PDF-1.4\n%\xe2\xe3\n1 0 obj", "a.docx"))
    with pytest.raises(errors.WrongContent, match="Excel"):
        load(raw(OfficeFile("xl/workbook.xml", {"xl/workbook.xml": "<workbook/>"}).content(), "a.docx"))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("readme.txt", "x")
    with pytest.raises(errors.WrongContent, match="ZIP"):
        load(raw(file.getvalue(), "a.docx"))


def test_a_binary_workbook_under_the_name_of_another_is_named_so(raw) -> None:
    content = OfficeFile("xl/workbook.bin", {"xl/workbook.bin": "\x83\x01"}).content()
    with pytest.raises(errors.WrongContent, match=r"Excel \(\.xlsb\)"):
        load_workbook(raw(content, "a.xlsx"))


def test_an_empty_file_is_refused(raw) -> None:
    with pytest.raises(errors.EmptyDocument):
        load(raw(b"", "a.docx"))


@pytest.mark.parametrize("size", [100, -1, -40])
def test_a_file_cut_off_is_damaged(raw, size: int) -> None:
    with pytest.raises(errors.Unreadable):
        load(raw(document(p("text")).content()[:size], "a.docx"))


def test_text_that_is_no_office_file_is_damaged(raw) -> None:
    with pytest.raises(errors.Unreadable):
        load(raw(b"just words", "a.docx"))


def test_a_title_that_cannot_be_read_does_not_cost_the_document(raw) -> None:
    file = document(p("text"))
    file.parts["docProps/core.xml"] = "<cp:coreProperties><dc:title>cut o"
    loaded = load(raw(file.content(), "a.docx"))
    assert (loaded.title, loaded.pages[0].markdown) == ("a", "text\n")


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;">]>',
        '<!DOCTYPE x [<!ENTITY c SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">',
    ],
)
def test_a_document_with_a_dtd_is_refused(raw, declaration: str) -> None:
    file = document(p("&c;" if "ENTITY" in declaration else "text"))
    file.parts["word/document.xml"] = declaration + file.parts["word/document.xml"]
    with pytest.raises(errors.Unreadable):
        load(raw(file.content(), "a.docx"))


@pytest.mark.timeout(60)  # seconds; it takes one or two
def test_a_bomb_is_refused_before_it_goes_off(raw) -> None:
    file = document(p("A" * 1000) * 40_000)
    content = file.content()
    assert len(content) < 1_000_000
    with pytest.raises(errors.PackedTooTightly):
        load(raw(content, "a.docx"))


def test_a_bomb_that_lies_about_its_size_is_refused_as_it_comes_out(raw) -> None:
    content = document(p("A" * 1000) * 40_000).content()
    size = zipfile.ZipFile(io.BytesIO(content)).getinfo("word/document.xml").file_size
    with pytest.raises((errors.PackedTooTightly, errors.Unreadable)):
        load(raw(content.replace(size.to_bytes(4, "little"), (1000).to_bytes(4, "little")), "a.docx"))


def test_what_lies_outside_the_file_is_not_fetched(raw) -> None:
    file = document(p("text"))
    file.links.append(("word/document.xml", "rIdOut", "footnotes", "http://127.0.0.1:9/footnotes.xml"))
    file.links.append(("word/document.xml", "rIdUp", "footnotes", "../../../../etc/passwd"))
    assert load(raw(file.content(), "a.docx")).pages[0].markdown == "text\n"
