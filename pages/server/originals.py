"""`GET /originals/{document_id}`: the original file of a document.

What people upload is not trusted: of the kinds that a browser opens, none can run a script here. HTML is sandboxed to
an origin of its own and loads nothing; every other kind is sent as exactly the type that it is, or to be saved.
"""

from itertools import takewhile
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from index_store.base.errors import AccessWithdrawn, DocumentError, OriginalMissing, PlainError, UnknownDocument
from index_store.library.originals import Original
from index_store.parsing.loaders.formats import ANY_BYTES, BY_KIND
from index_store.parsing.loaders.text.decode import decode
from pages.process import engine_of
from pages.server.who import NotSignedIn
from pages.texts import preferred_language

PDF = BY_KIND["pdf"].shown_as

# A PDF viewer doesn't work in a sandbox; a PDF has no access to the page that it is shown in.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
SANDBOX = f"sandbox; {POLICY}"

BLOCK = 1 << 16
"""bytes read at once"""

SAMPLE = 1 << 20
"""bytes that are looked at, from the first that is not ASCII on"""

REFUSALS: dict[type[PlainError], int] = {
    UnknownDocument: 404,
    OriginalMissing: 404,
    NotSignedIn: 401,
    AccessWithdrawn: 403,
}
"""by what went wrong; whatever else it was may be over soon"""

CODECS = {
    "utf-8": "utf-8",
    "shift_jis": "cp932",
    "euc-jp": "euc_jis_2004",
    "iso-2022-jp": "iso2022_jp_ext",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "windows-1252": "cp1252",
    "gb18030": "gb18030",
    "euc-kr": "cp949",
}
"""what the WHATWG Encoding Standard calls an encoding -> what Python does"""


async def original(request: Request) -> Response:
    document_id = request.path_params["document_id"]
    try:
        # The store works with files and SQL, and must not hold up the server.
        found = await run_in_threadpool(lambda: engine_of(request).store.original(document_id))
        return await run_in_threadpool(_response, found)
    except PlainError as error:
        status = next((status for kind, status in REFUSALS.items() if isinstance(error, kind)), 503)
        return PlainTextResponse(error.sentence(preferred_language(request.headers)), status)


def _response(original: Original) -> Response:
    record = BY_KIND.get(original.kind)
    media_type = record.served_as if record else ANY_BYTES
    if media_type.startswith("text/"):
        charset = _charset(original.path, original.name, original.charset)
        media_type = f"{media_type}; charset={charset}" if charset else media_type
    headers = {
        # As a header, since Starlette would add a charset of its own to a media type.
        "Content-Type": media_type,
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "private, no-cache",
        "Content-Security-Policy": POLICY if media_type == PDF else SANDBOX,
    }
    return FileResponse(
        original.path,
        headers=headers,
        filename=original.name,
        stat_result=original.path.stat(),
        content_disposition_type="inline" if record and record.shown_as else "attachment",
    )


def _charset(path: Path, name: str, declared: str | None) -> str | None:
    """In which encoding a file of text is, as a browser has to be told; found without reading it into memory.

    None where it can't be told: a browser then follows the document's own word, or guesses.
    """
    sample = _sample(path)
    try:
        text = decode(sample, name, declared)
    except DocumentError:
        return None
    return next((charset for charset, codec in CODECS.items() if _reads(sample, codec) == text), None)


def _sample(path: Path) -> bytes:
    """Whole lines, from the first that has something else than ASCII."""
    with path.open("rb") as file:
        plain = sum(len(block) for block in takewhile(_is_ascii, iter(lambda: file.read(BLOCK), b"")))
        file.seek(plain)
        sample = file.read(SAMPLE)
        is_whole = not file.read(1)
        # Within a line a character may be cut; none of these encodings uses the byte of a line feed for another.
        return sample if is_whole else sample[: sample.rfind(b"\n") + 1]


def _is_ascii(block: bytes) -> bool:
    # An escape begins a stretch of ISO-2022-JP, which is all ASCII; zeros are of UTF-16.
    return block.isascii() and b"\x1b" not in block and b"\0" not in block


def _reads(content: bytes, codec: str) -> str | None:
    try:
        return content.decode(codec).removeprefix("\ufeff")
    except UnicodeDecodeError:
        return None
