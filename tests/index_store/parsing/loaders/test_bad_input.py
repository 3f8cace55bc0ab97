"""Difficult files that people really add, with the real parser: each becomes ready or fails with the right sentence."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.ingestion.results import IngestStatus
from index_store.parsing.loaders.document import RawFile
from index_store.parsing.loaders.formats import format_of, is_archive
from index_store.parsing.worker.parser import Parser
from index_store.store.index_store import IndexStore
from tests.index_store.parsing.loaders.archive_file import zipped
from tests.index_store.parsing.loaders.epub_file import book
from tests.index_store.parsing.loaders.excel_file import rows, workbook
from tests.index_store.parsing.loaders.office_file import OLE, POWERPOINT
from tests.index_store.parsing.loaders.pdf_file import PdfFile, Text
from tests.index_store.parsing.loaders.powerpoint_file import deck, title
from tests.index_store.parsing.loaders.word_file import document, p

SECONDS = 60
"""for one file, on a slow and busy machine"""

SWELLING = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {after} "{f"&{before};" * 10}">' for before, after in zip("abcdefghi", "bcdefghij", strict=True)
)
SWELLING += "]>"
PAGES = [
    [Text(50, 760, f"{page}. Travel", 18), Text(50, 700, "The allowance is paid per day."), Text(50, 30, str(page))]
    for page in range(400)
]
PAGE = "\ufeff<!-- saved -->\n<!DOCTYPE html><html><title>サインイン</title>".encode()


def locked_pdf() -> bytes:
    key = b"<" + b"00" * 32 + b">"
    handler = b"<< /Filter /Standard /V 1 /R 2 /O %s /U %s /P -4 >>" % (key, key)
    return PdfFile(PAGES[:1]).content().replace(b"/Root", b"/Encrypt %s /ID [<00> <00>] /Root" % handler)


def swelling_deck() -> bytes:
    file = deck(title("&j;"))
    file.parts["ppt/slides/slide1.xml"] = SWELLING + f"<p:sld {POWERPOINT}>&j;</p:sld>"
    return file.content()


REFUSED: dict[str, tuple[Callable[[], bytes], type[errors.DocumentError]]] = {
    "password.docx": (lambda: OLE + "EncryptedPackage".encode("utf-16-le"), errors.PasswordProtected),
    "password.pdf": (locked_pdf, errors.PasswordProtected),
    "scan.pdf": (lambda: PdfFile([[]]).content(), errors.NoText),
    "cut off.docx": (lambda: document(p("text") * 99).content()[:900], errors.Unreadable),
    "cut off.epub": (lambda: book()[:900], errors.Unreadable),
    "cut off.zip": (lambda: zipped({"a.txt": b"x" * 99})[:50], errors.Unreadable),
    "spaces alone.txt": (lambda: b" \n\r\n\t", errors.EmptyDocument),
    "in truth a PDF.xlsx": (lambda: PdfFile(PAGES[:1]).content(), errors.WrongContent),
    "in truth a deck.docx": (lambda: deck(title("x")).content(), errors.WrongContent),
    **{f"in truth a page{suffix}": (lambda: PAGE, errors.WrongContent) for suffix in (".pdf", ".rtf", ".epub", ".zip")},
    "in truth a table of a page.xlsx": (lambda: b"<table><tr><td>1,200</table>", errors.WrongContent),
    "in truth Word.txt": (lambda: document(p("text")).content(), errors.WrongContent),
    "bomb.docx": (lambda: document(p("A" * 1000) * 50_000).content(), errors.PackedTooTightly),
    "bomb.xlsx": (lambda: workbook(('name="S"', rows(["A" * 1000]) * 50_000)).content(), errors.PackedTooTightly),
    "bomb.pptx": (lambda: deck(title("A" * 50_000_000)).content(), errors.PackedTooTightly),
    "bomb.epub": (lambda: book({"one.xhtml": "<p>" + "A" * 101_000_000}), errors.TooMuchText),
    "entities.docx": (lambda: document("&j;").content(), errors.Unreadable),
    "entities.pptx": (swelling_deck, errors.Unreadable),
    "60,000 tags.docx": (lambda: document("<w:p>" * 60_000 + "</w:p>" * 60_000).content(), errors.Unreadable),
    "60,000 groups.rtf": (lambda: b"{\\rtf1 " + b"{" * 60_000 + b"text" + b"}" * 60_001, errors.Unreadable),
}
READY: dict[str, Callable[[], bytes]] = {
    "髙① 経費 規程.docx": lambda: document(p("日当は2,500円です。")).content(),
    "60,000 tags.html": lambda: b"<div>" * 60_000 + b"text" + b"</div>" * 60_000,
    "60,000 quotations.md": lambda: b">" * 60_000 + b" text",
    "entities.html": lambda: f"{SWELLING}<p>&j; text".encode(),
    "400 pages.pdf": lambda: PdfFile(PAGES).content(),
    "20,000 rows.xlsx": lambda: workbook(('name="S"', rows(["no", "what"], *[["1", "pen"]] * 20_000))).content(),
}


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parser]:
    parser = Parser(Settings(data_dir=tmp_path_factory.mktemp("data")))
    yield parser
    parser.close()


quick = pytest.mark.timeout(SECONDS)

OTHER_BOMBS = ("bomb.xlsx", "bomb.pptx")
"""are refused where bomb.docx is, too"""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.soak if name in OTHER_BOMBS else ()) for name in REFUSED]
)
@quick
def test_what_cannot_be_read_is_refused_with_the_right_sentence(name: str, parser: Parser, tmp_path: Path) -> None:
    content, error = REFUSED[name]
    path = tmp_path / name
    path.write_bytes(content())
    with pytest.raises(error, match=re.escape(name)):
        _ = (
            parser.unpack(path, name, tmp_path)
            if is_archive(name)
            else parser.load(RawFile(path, name), format_of(name).kind)
        )


@pytest.mark.parametrize("name", READY)
@quick
def test_what_is_odd_and_can_be_read_is_ready(name: str, parser: Parser, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(READY[name]())
    split = parser.load(RawFile(path, name), format_of(name).kind)
    assert split.chunk_count == sum(len(section.chunks) for section in split) > 0


@quick
def test_a_bomb_within_archives_costs_itself_alone(parser: Parser, tmp_path: Path) -> None:
    bomb = zipped({"bomb.txt": bytes(60_000_000), "fine.md": b"# x\ny"})
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"inner.zip": bomb, "deep.zip": zipped({"1.zip": zipped({"2.zip": bomb})})}))
    unpacked = parser.unpack(path, path.name, tmp_path)
    assert [member.name for member in unpacked.members] == ["inner.zip/fine.md"]
    assert {name: type(error) for name, error in unpacked.refused} == {
        "inner.zip/bomb.txt": errors.PackedTooTightly,
        "deep.zip/1.zip/2.zip": errors.NestedTooDeeply,
    }


@pytest.mark.parametrize("suffix", [".txt", ".html", ".pdf", ".docx", ".epub", ".eml", ".zip"])
@quick
def test_a_file_that_is_empty_or_too_large_is_refused_before_it_is_read(
    suffix: str, store: IndexStore, tmp_path: Path
) -> None:
    empty, huge = tmp_path / f"empty{suffix}", tmp_path / f"髙① of 300 MB{suffix}"
    empty.touch()
    with huge.open("wb") as file:
        file.truncate(300 * 1024**2)  # a sparse file: it needs no space on disk
    for path, error in ((empty, "empty_document"), (huge, "too_large")):
        added = store.add("rules", path)
        assert (added.status, added.error and added.error.code) == (IngestStatus.FAILED, error)
        assert added.error
        assert path.name in added.error.en
