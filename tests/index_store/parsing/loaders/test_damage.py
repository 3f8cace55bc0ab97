"""Damaged files of each format, random but the same in each test run: each gives its text or a `DocumentError`."""

import io
import random
import re
import zipfile
from collections.abc import Callable

import pytest

from index_store.base import errors
from index_store.parsing.chunking.chunker import chunk_document
from index_store.parsing.loaders.archive import unpack
from index_store.parsing.loaders.document import RawFile
from index_store.parsing.loaders.formats import BY_KIND
from tests.index_store.parsing.loaders import archive_file, epub_file, excel_file, powerpoint_file, rtf_file, word_file
from tests.index_store.parsing.loaders.pdf_file import PdfFile, Text

FILES = 25
"""damaged files of each format"""
MORE = 75
"""in `make soak`"""

numbers = pytest.mark.parametrize("files", [FILES, pytest.param(MORE, marks=pytest.mark.soak)])

_VALUE = re.compile(rb'(?<==")[^"]*(?=")|(?<==\')[^\']*(?=\')|-?\d+|(?<=>)[^<>]+(?=<)')
_ELEMENT = re.compile(rb"<([\w:]+)[^<>]*>[^<>]*</\1>|<[\w:]+[^<>]*/>|</?[\w:]+[^<>]*>")
_VALUES = [
    b"",
    b"-1",
    b"0",
    b"99999999999999999999",
    b"1e308",
    b"NaN",
    b"&#0;",
    b"A1:XFD1048576",
    b"../x",
    b"\xef\xbc\x99",
]
_BYTES = [
    b"\0",
    b"<",
    b">",
    b"&",
    b"{",
    b"}",
    b"\\",
    b"|",
    b"\n\n",
    b"```",
    b"\x1b$B",
    b"\xff\xfe",
    b"\x82",
    b"--b\n",
    b"=?",
]


def damaged(content: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.choice([1, 1, 2, 8])):
        at = chance.randrange(len(content) + 1)
        end = at + chance.choice([1, 4, 64, 1024])
        match chance.randrange(7):
            case 0:
                content = content[:at] + chance.choice(_BYTES) + content[at + 1 :]
            case 1:
                content = content[:at] + content[end:]
            case 2:
                content = content[:at] + content[at:end] * 20 + content[at:]
            case 3:
                content = content[:at] if chance.random() < 0.2 else content
            case 4:
                content = content[:at] + chance.randbytes(4) + content[at:]
            case kind:
                found = list((_VALUE if kind == 5 else _ELEMENT).finditer(content))
                if found:
                    start, end = chance.choice(found).span()
                    put = chance.choice(_VALUES) if kind == 5 else content[start:end] * chance.choice([0, 2, 50])
                    content = content[:start] + put + content[end:]
    return content


def damaged_within(package: bytes, chance: random.Random) -> bytes:
    """A damaged zip, or a zip with one part that is damaged, missing, empty or exchanged with another part."""
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name, other = chance.choice(list(parts)), chance.choice(list(parts))
    match chance.randrange(10):
        case 0:
            return damaged(package, chance)
        case 1:
            del parts[name]
        case 2:
            parts[name] = b""
        case 3:
            parts[name], parts[other] = parts[other], parts[name]
        case _:
            parts[name] = damaged(parts[name], chance)
    return archive_file.zipped(parts)


def docx() -> bytes:
    table = word_file.row(word_file.cell("日当", '<w:vMerge w:val="restart"/>'), word_file.cell("2500"))
    listed = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    numbering = (
        '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/>'
        '<w:lvlText w:val="第%1条"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    body = word_file.p("総則", "1") + word_file.p("目的", "house", listed) + f"<w:tbl>{table * 3}</w:tbl>"
    return word_file.document(body, title="規程", numbering=numbering).content()


def pptx() -> bytes:
    bullet = powerpoint_file.paragraph("a", powerpoint_file.BULLET, 2)
    bullets = powerpoint_file.shape(bullet, place=powerpoint_file.at(0, 50))
    cells = "".join(f"<a:tc><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>" for text in "ab")
    table = powerpoint_file.frame(f"<a:tbl>{f'<a:tr>{cells}</a:tr>' * 2}</a:tbl>")
    return powerpoint_file.deck(powerpoint_file.title("題") + bullets + table, powerpoint_file.title("次")).content()


def xlsx() -> bytes:
    sheet = excel_file.rows(["日付", "額"], [45000, 1200.5], ["本", 3])
    sheet = f'<sheetData>{sheet}</sheetData><mergeCells><mergeCell ref="A1:A2"/></mergeCells>'
    formats = ("ggge&quot;年&quot;m", "#,##0.0;[Red]-0")
    return excel_file.workbook(('name="S"', sheet), strings="<si><t>x</t></si>", formats=formats).content()


def rtf() -> bytes:
    return rtf_file.document(
        r"\s1 見出し\par{\listtext 1.}a\par\trowd\clvmrg\cellx1\intbl b\cell\row\u-3?{\footnote x}\bin3 abc\par"
    )


def pdf() -> bytes:
    lines = [Text(50, 760, "出張旅費規程", 20), Text(50, 700, "日当は1日2,500円です。"), Text(300, 700, "Words.")]
    return PdfFile([lines, [*lines, Text(50, 30, "2")]], [("出張旅費規程", 0)]).content()


MAIL = (
    "From: =?ISO-2022-JP?B?GyRCOjRGIxsoQg==?= <a@example.com>\r\nSubject: =?UTF-8?Q?=E4=BC=9A?=\r\n"
    'Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n'
    "Content-Type: text/plain; charset=utf-8; format=flowed\r\n\r\n会議は10時です。 \r\n> 引用\r\n--b\r\n"
    "Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
    "<h1>=E4=BC=9A</h1><p>a</p>\r\n--b\r\n"
    "Content-Disposition: attachment; filename*=UTF-8''%E8%A1%A8.csv\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    "YSxiCjEsMgo=\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\ninner\r\n--b--\r\n"
).encode()
HTML = (
    '<meta charset="utf-8"><title>規程</title><nav><a href="1">a</a></nav><main><h1>規程</h1><p><ruby>漢字<rt>かんじ'
    '</rt></ruby></p><table><caption>c</caption><tr><th rowspan="2">a<th colspan="3">b</tr><tr><td>1<td>2</tr></table>'
    '<ul><li>x<ol><li>y</ol></ul><dl><dt>t<dd>d</dl><pre><code># no</code></pre></main><div style="x">f</div>'
).encode()
MARKDOWN = (
    "---\ntitle: 規程\n---\n# 規程\n\nSetext\n------\n\n- a\n  - b\n\n```sh\n# no\n```\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n"
)
AOZORA = (
    "題\n吾輩《わがはい》は猫《ねこ》である。名前《なまえ》はまだ無い。\n［＃「一」は大見出し］一\n"
    "※［＃「てへん＋劣」、第3水準1-84-77］\n"
)

SEEDS: dict[str, Callable[[], bytes]] = {
    "txt": lambda: AOZORA.encode("cp932"),
    "md": MARKDOWN.encode,
    "html": lambda: HTML,
    "csv": lambda: '題,,\r\n日付,"品\n目",額\r\n2024-05-01,"本,""a""",1200\r\n\r\nx;y;z\r\n'.encode("utf-16"),
    "pdf": pdf,
    "docx": docx,
    "pptx": pptx,
    "xlsx": xlsx,
    "rtf": rtf,
    "epub": epub_file.book,
    "eml": lambda: MAIL,
    "mht": lambda: MAIL,
}
PACKAGES = ("docx", "pptx", "xlsx", "epub")


@numbers
@pytest.mark.parametrize("kind", SEEDS)
@pytest.mark.timeout(60)  # seconds; it takes one or two
def test_a_damaged_file_is_a_text_or_a_refusal_and_nothing_else(
    kind: str, files: int, raw: Callable[..., RawFile]
) -> None:
    chance = random.Random(kind)
    content = SEEDS[kind]()
    damage = damaged_within if kind in PACKAGES else damaged
    read = refused = 0
    for _ in range(files):
        file = raw(damage(content, chance), f"a.{kind}")
        try:
            loaded = BY_KIND[kind].loader()(file)
            read += bool(chunk_document(loaded, 400, 60))
        except errors.DocumentError:
            refused += 1
    assert read > files / 5
    assert refused > files / 50


@numbers
def test_a_damaged_archive_gives_what_can_be_read_of_it_or_a_refusal_and_nothing_else(files: int, tmp_path) -> None:
    chance = random.Random("zip")
    inner = archive_file.zipped({"in.md": b"# x\ny"})
    content = archive_file.zipped(
        {"規程/a.txt": b"words" * 99, "../b.txt": b"x", "in.zip": inner, "c.csv": b"a,b\n1,2"}
    )
    path = tmp_path / "a.zip"
    members = refused = 0
    for _ in range(files):
        path.write_bytes(damaged(content, chance))
        try:
            members += len(unpack(path, path.name, tmp_path).members)
        except errors.DocumentError:
            refused += 1
    assert members > files / 5
    assert refused > files / 50
