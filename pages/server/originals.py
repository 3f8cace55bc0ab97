"""`GET /originals/{document_id}`: the original file of a document.

What people upload is not trusted: of the kinds that a browser opens, none can run a script here. HTML is sandboxed to
an origin of its own and loads nothing; every other kind is sent as exactly the type that it is, or to be saved.
"""

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import BinaryIO
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from index_store.base.errors import AccessWithdrawn, DocumentError, OriginalMissing, PlainError, UnknownDocument
from index_store.library.originals.originals import Original
from index_store.parsing.loaders.formats import ANY_BYTES, BY_KIND
from index_store.parsing.loaders.text.decode import decode
from pages.process import engine_of
from pages.server.identity import NotSignedIn
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
        return await run_in_threadpool(_response, request, found)
    except PlainError as error:
        status = next((status for kind, status in REFUSALS.items() if isinstance(error, kind)), 503)
        return PlainTextResponse(error.sentence(preferred_language(request.headers)), status)


def _response(request: Request, original: Original) -> Response:
    """Raises PlainError."""
    try:
        stream = original.open()
    except FileNotFoundError as error:
        raise OriginalMissing(name=original.name) from error
    record = BY_KIND.get(original.kind)
    media_type = record.served_as if record else ANY_BYTES
    if media_type.startswith("text/"):
        charset = _charset(stream, original.name, original.charset)
        media_type = f"{media_type}; charset={charset}" if charset else media_type
    headers = {
        # As a header, since Starlette would add a charset of its own to a media type.
        "Content-Type": media_type,
        "Content-Disposition": _disposition(original.name, is_shown=bool(record and record.shown_as)),
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "private, no-cache",
        "Content-Security-Policy": POLICY if media_type == PDF else SANDBOX,
        "Accept-Ranges": "bytes",
        "ETag": f'"{original.id}"',
    }
    start, end = 0, original.size
    status = 200
    if part := _part(request.headers, original.size, headers["ETag"]):
        start, end = part
        if start >= end:
            stream.close()
            return Response(status_code=416, headers={"Content-Range": f"bytes */{original.size}"})
        status, headers["Content-Range"] = 206, f"bytes {start}-{end - 1}/{original.size}"
    headers["Content-Length"] = str(end - start)
    if request.method == "HEAD":
        stream.close()
        return Response(status_code=status, headers=headers)
    return StreamingResponse(_blocks(stream, start, end), status, headers)


def _disposition(name: str, *, is_shown: bool) -> str:
    """RFC 6266: a name that needs no quoting as it is, any other one in UTF-8."""
    kind, quoted = "inline" if is_shown else "attachment", quote(name)
    return f'{kind}; filename="{name}"' if quoted == name else f"{kind}; filename*=utf-8''{quoted}"


def _part(headers: Headers, size: int, tag: str) -> tuple[int, int] | None:
    """What a browser asks for, from the first byte to before the last one; nothing of it is there where they are the
    same. None: all of it, as for several parts at once, which RFC 9110 lets a server answer so.
    """
    asked = re.fullmatch(r"bytes=(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))", headers.get("range", "").strip())
    if not asked or headers.get("if-range", tag) != tag:
        return None
    if asked[3]:
        return max(size - int(asked[3]), 0), size
    start, end = int(asked[1]), min(int(asked[2]) + 1, size) if asked[2] else size
    if asked[2] and int(asked[2]) < start:
        return None  # no range at all
    return (start, end) if start < size else (size, size)


def _blocks(stream: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    with stream:
        stream.seek(start)
        while start < end and (block := stream.read(min(BLOCK, end - start))):
            start += len(block)
            yield block


def _charset(file: BinaryIO, name: str, declared: str | None) -> str | None:
    """In which encoding a file of text is, as a browser has to be told; found without reading it into memory.

    None where it can't be told: a browser then follows the document's own word, or guesses.
    """
    sample = _sample(file)
    try:
        text = decode(sample, name, declared)
    except DocumentError:
        return None
    return next((charset for charset, codec in CODECS.items() if _reads(sample, codec) == text), None)


def _sample(file: BinaryIO) -> bytes:
    """Whole lines, from the first that has something else than ASCII."""
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
