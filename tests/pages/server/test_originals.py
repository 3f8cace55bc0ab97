"""Original files over HTTP: the right media type and charset, and no script in them runs."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message

from index_store.base.errors import DocumentGone, OriginalsAway, StoreInUse
from index_store.ingestion.sources import FileSource
from index_store.library.originals.originals import Original
from index_store.parsing.loaders.formats import FORMATS
from pages.server import process
from pages.server.originals import original
from pages.server.settings import ServerSettings
from rag.runs.engine import UserEngine
from tests.helpers.back_doors import person_of, process_of
from tests.helpers.local import as_person, grant
from tests.index_store.parsing.loaders.pdf_file import PdfFile, Text

JAPANESE = "一般社員の国内出張の日当は1日2,500円です。宿泊を伴わないときは半額とします。\n"
SCRIPT = "<html><body><h1>Page</h1><p>Some text.</p><script>document.title = 'run'</script></body></html>"


@pytest.fixture(scope="module")
def engine(module_engine) -> UserEngine:
    return module_engine


@pytest.fixture
def client(engine) -> Iterator[TestClient]:
    app = Starlette(routes=[Route("/originals/{document_id}", original)])
    with TestClient(app, raise_server_exceptions=True) as client:
        yield client


@pytest.fixture
def add(engine, tmp_path: Path):
    def add(name: str, content: bytes) -> str:
        file = tmp_path / "file"
        file.write_bytes(content)
        [added] = engine.store.ingest("handbook", [FileSource(file, name)]).wait()
        assert added.document_id, added.error
        return added.document_id

    return add


def test_a_pdf_is_shown_by_the_browser_itself(client, add):
    content = PdfFile([[Text(50, 700, "Travel expenses")]]).content()
    answer = client.get(f"/originals/{add('travel.pdf', content)}")
    assert answer.content == content
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["content-disposition"] == 'inline; filename="travel.pdf"'
    assert "sandbox" not in answer.headers["content-security-policy"]


def test_html_is_shut_up_in_a_sandbox_that_runs_and_loads_nothing(client, add):
    answer = client.get(f"/originals/{add('page.html', SCRIPT.encode())}")
    assert answer.text == SCRIPT
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = [each.strip() for each in answer.headers["content-security-policy"].split(";")]
    assert "sandbox" in policy  # without allow-scripts
    assert "default-src 'none'" in policy
    assert not [each for each in policy if each.startswith("script-src")]


@pytest.mark.parametrize("name", ["page.html", "travel.md", "travel.txt", "travel.pdf", "travel.docx", "mail.eml"])
def test_no_type_is_left_to_be_guessed(client, add, name):
    answer = client.get(f"/originals/{add(name, SCRIPT.encode())}")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert name == "page.html" or not answer.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("name", ["travel.docx", "book.epub", "slides.pptx"])
def test_what_a_browser_does_not_show_is_saved(client, add, name):
    answer = client.get(f"/originals/{add(name, b'PK not really a document')}")
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert answer.headers["content-type"].startswith("application/")


@pytest.mark.parametrize("record", FORMATS, ids=lambda record: record.kind)
def test_each_format_is_served_as_its_record_says(client, add, record):
    answer = client.get(f"/originals/{add(f'a{record.suffixes[0]}', b'not really a document')}")
    assert answer.headers["content-type"].partition(";")[0] == record.served_as
    assert answer.headers["content-disposition"].startswith("inline" if record.shown_as else "attachment")
    assert "sandbox" in answer.headers["content-security-policy"] or record.kind == "pdf"


@pytest.mark.parametrize("name", ["髙橋① 規程.docx", 'a"b;c\r\nSet-Cookie: x.docx', "%00.docx"])
def test_a_file_keeps_its_name_whatever_is_in_it(client, add, name):
    answer = client.get(f"/originals/{add(name, b'PK not really a document')}")
    kept = unicodedata.normalize("NFC", name)
    assert answer.headers["content-disposition"] == f"attachment; filename*=utf-8''{quote(kept)}"
    assert "set-cookie" not in answer.headers


def in_charsets(*before: str) -> list[object]:
    """Each charset below each of these beginnings. In `make test`, only one charset below a long beginning."""
    charsets = {"utf-8": "utf-8", "cp932": "shift_jis", "euc_jp": "euc-jp", "iso2022_jp": "iso-2022-jp"}
    return [
        pytest.param(
            *(codec, charset, each),
            marks=pytest.mark.soak if each and codec != "cp932" else (),
            id=f"{codec} after {len(each)} characters of ASCII",
        )
        for codec, charset in charsets.items()
        for each in before
    ]


@pytest.mark.parametrize(("codec", "charset", "before"), in_charsets("", "Only ASCII.\n" * 6_000))  # over BLOCK
def test_text_is_sent_with_the_charset_that_it_is_in(client, add, codec, charset, before):
    content = (before + JAPANESE * 3).encode(codec)
    answer = client.get(f"/originals/{add('travel.txt', content)}")
    assert answer.headers["content-type"] == f"text/plain; charset={charset}"
    assert answer.headers["content-disposition"].startswith("inline")
    assert answer.content == content


@pytest.mark.parametrize(
    ("content", "charset"),
    [
        pytest.param((JAPANESE * 3).encode()[:-2], "utf-8", marks=pytest.mark.soak),
        ((JAPANESE * 3).encode() + b"\xff\n" + JAPANESE.encode(), "utf-8"),
        ((JAPANESE * 3).encode() + b"\0\n", "utf-8"),
        ((JAPANESE * 9).encode("cp932") + b"\x85\x40\n", "shift_jis"),
        ((JAPANESE * 9 + "俱楽部鷗").encode("shift_jis_2004"), "shift_jis"),
        (b"\x1b$B\x2d\x21\x1b(B\n" + (JAPANESE * 9).encode("iso2022_jp"), "iso-2022-jp"),
        pytest.param((JAPANESE.strip() * 60).encode("cp932"), "shift_jis", marks=pytest.mark.soak),
        ((JAPANESE.replace("\n", "\r") * 60).encode("cp932"), "shift_jis"),
        (("《日当》" + JAPANESE).encode("utf-16-le") * 60, "utf-16le"),
        pytest.param(("《日当》" + JAPANESE).encode("utf-16-be") * 60, "utf-16be", marks=pytest.mark.soak),
    ],
    ids=["cut off", "a bad byte", "NUL", "bad sjis", "2004", "circled", "one line", "CR", "utf-16-le", "utf-16-be"],
)
def test_damaged_and_long_text_is_sent_with_the_charset_that_it_was_read_in(client, add, content, charset, monkeypatch):
    monkeypatch.setattr("pages.server.originals.SAMPLE", 1001)
    answer = client.get(f"/originals/{add('travel.txt', content)}")
    assert answer.headers["content-type"] == f"text/plain; charset={charset}"


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        ("Şirket içi yolculuk ücreti: çalışanların günlük gideri değişir.", "windows-1254"),
        ("A dolgozók belföldi útjának költségei: a bőröndöt a cég fizeti.", "iso-8859-2"),
    ],
)
def test_a_page_keeps_the_charset_that_it_declares_rightly(client, add, text, charset):
    page = f'<html><head><meta charset="{charset}"></head><body><p>{text * 5}</p></body></html>'
    answer = client.get(f"/originals/{add('page.html', page.encode(charset))}")
    assert answer.headers["content-type"] == "text/html"


def test_a_page_that_declares_its_charset_wrongly_is_still_shown_right(client, add):
    page = f'<html><head><meta charset="utf-8"></head><body><p>{JAPANESE * 3}</p></body></html>'
    answer = client.get(f"/originals/{add('page.html', page.encode('cp932'))}")
    assert answer.headers["content-type"] == "text/html; charset=shift_jis"


def test_a_part_of_a_file_can_be_asked_for(client, add):
    content = b"# Large\n\n" + b"line of text\n" * 100
    answer = client.get(f"/originals/{add('large.md', content)}", headers={"Range": "bytes=2-6"})
    assert (answer.status_code, answer.content) == (206, b"Large")


@pytest.fixture
def opened(monkeypatch) -> list[BinaryIO]:
    """The streams that are opened from now on."""
    streams: list[BinaryIO] = []
    before = Original.open

    def keeping(self: Original) -> BinaryIO:
        streams.append(before(self))
        return streams[-1]

    monkeypatch.setattr(Original, "open", keeping)
    return streams


def test_a_file_is_closed_though_its_browser_goes_before_the_first_block(client, add, opened):
    async def gone(_: Message) -> None:
        raise OSError

    scope = Request({"type": "http", "path": f"/originals/{add('travel.md', JAPANESE.encode())}"}).scope
    scope |= {"method": "GET", "headers": [], "query_string": b"", "asgi": {"spec_version": "2.4"}}
    with pytest.raises(ClientDisconnect):
        client.portal.call(client.app, scope, None, gone)
    assert [each.closed for each in opened] == [True]


def test_a_file_whose_charset_cannot_be_read_is_closed(client, add, opened, monkeypatch):
    def away(_: BinaryIO) -> bytes:
        raise OriginalsAway(host="s3")

    monkeypatch.setattr("pages.server.originals._sample", away)
    assert client.get(f"/originals/{add('travel.md', JAPANESE.encode())}").status_code == 503
    assert [each.closed for each in opened] == [True]


@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.parametrize("document_id", ["0" * 32, "..%2F..%2Fcatalogue.sqlite3", "%00", "a'b"])
def test_what_is_not_there_is_told_in_a_sentence(client, language, document_id):
    answer = client.get(f"/originals/{document_id}", headers={"Accept-Language": language})
    assert answer.status_code == 404
    if document_id == "0" * 32:
        assert answer.text == DocumentGone().sentence(language)


def test_a_document_that_was_removed_is_no_longer_served(client, add, engine):
    document_id = add("travel.md", JAPANESE.encode())
    engine.store.remove_documents([document_id])
    assert client.get(f"/originals/{document_id}").status_code == 404


def test_an_original_is_for_those_alone_who_may_read_its_index(client, add, engine, monkeypatch):
    document_id = add("travel.md", JAPANESE.encode())
    stranger = as_person(engine, "stranger")
    id_ = person_of(stranger).id
    with monkeypatch.context() as signed_in:
        signed_in.setattr(process, "principal_of", lambda request: person_of(stranger))
        refused, unknown = (client.get(f"/originals/{each}") for each in (document_id, "0" * 32))
        assert (refused.status_code, refused.text.replace(document_id, "0" * 32)) == (404, unknown.text)
        grant(engine, "handbook")
        assert client.get(f"/originals/{document_id}").status_code == 200
        process_of(engine).store.access.people.disable(id_)
        assert client.get(f"/originals/{document_id}").status_code == 403
    monkeypatch.setattr(process, "server_settings", lambda: ServerSettings(auth="header", trusted_proxies="127.0.0.1"))
    assert client.get(f"/originals/{document_id}").status_code == 401


def test_a_store_that_cannot_be_opened_is_told_in_a_sentence(client, engine, monkeypatch):
    def refuse(_):
        raise StoreInUse(folder="data", pid=1)

    monkeypatch.setattr("pages.server.originals.engine_of", refuse)
    answer = client.get("/originals/x")
    assert (answer.status_code, answer.text) == (503, StoreInUse(folder="data", pid=1).sentence("en"))
    assert process_of(process.engine()) is process_of(engine)
