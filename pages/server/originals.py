"""`GET /originals/{document_id}`: the original file of a document.

Uploaded files are not trusted: none can run a script in the browser. HTML is shown in a sandbox with its own origin and
loads nothing. Every other kind is sent with its exact media type, or as a download.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import takewhile
from typing import BinaryIO
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from index_store.base.errors import AccessWithdrawn, DocumentError, DocumentGone, OriginalMissing, PlainError
from index_store.library.originals.originals import Original
from index_store.parsing.loaders.formats import ANY_BYTES, BY_KIND
from index_store.parsing.loaders.html.charset import HEAD, declared_charset
from index_store.parsing.loaders.text.decode import decode
from pages.server.identity import NotSignedIn
from pages.server.process import engine_of
from pages.server.requests.browser_rules import FILE_POLICY
from pages.texts import preferred_language

PDF = BY_KIND["pdf"].shown_as

# A PDF viewer doesn't work in a sandbox; a PDF has no access to the page that it is shown in.
SANDBOX = f"sandbox; {FILE_POLICY}"

BLOCK = 1 << 16
"""bytes read at once"""

SAMPLE = 1 << 20
"""bytes that are examined, starting at the first that is not ASCII"""

REFUSALS: dict[type[PlainError], int] = {
    DocumentGone: 404,
    OriginalMissing: 404,
    NotSignedIn: 401,
    AccessWithdrawn: 403,
}
"""HTTP status for each error; all others may be temporary: 503"""

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
"""name in the WHATWG Encoding Standard -> name in Python"""

ALIKE = 0.9
"""share of the characters outside ASCII that a browser reads as the loader did; the others are damaged, or of a newer
version of the encoding
"""


async def original(request: Request) -> Response:
    document_id = request.path_params["document_id"]
    try:
        # The store uses files and SQL, which must not block the server.
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
    with ExitStack() as opened:
        opened.enter_context(stream)
        answer = _answer(request, original, stream)
        if isinstance(answer, _Blocks):
            opened.pop_all()  # it closes the stream itself, once it is sent
    return answer


def _answer(request: Request, original: Original, stream: BinaryIO) -> Response:
    record = BY_KIND.get(original.kind)
    media_type = record.served_as if record else ANY_BYTES
    if media_type.startswith("text/"):
        charset = _charset(stream, original)
        media_type = f"{media_type}; charset={charset}" if charset else media_type
    headers = {
        # As a header, because Starlette would add its own charset to a media type.
        "Content-Type": media_type,
        "Content-Disposition": _disposition(original.name, is_shown=bool(record and record.shown_as)),
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "private, no-cache",
        "Content-Security-Policy": FILE_POLICY if media_type == PDF else SANDBOX,
        "Accept-Ranges": "bytes",
        "ETag": f'"{original.id}"',
    }
    start, end = 0, original.size
    status = 200
    if part := _part(request.headers, original.size, headers["ETag"]):
        start, end = part
        if start >= end:
            return Response(status_code=416, headers={"Content-Range": f"bytes */{original.size}"})
        status, headers["Content-Range"] = 206, f"bytes {start}-{end - 1}/{original.size}"
    headers["Content-Length"] = str(end - start)
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers)
    return _Blocks(stream, start, end, status, headers)


class _Blocks(StreamingResponse):
    """Closes its stream, also if the browser goes before the first block."""

    def __init__(self, stream: BinaryIO, start: int, end: int, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(_blocks(stream, start, end), status, headers)
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._stream:
            await super().__call__(scope, receive, send)


def _disposition(name: str, *, is_shown: bool) -> str:
    """RFC 6266: a name that needs no quoting is sent as it is, any other name in UTF-8."""
    kind, quoted = "inline" if is_shown else "attachment", quote(name)
    return f'{kind}; filename="{name}"' if quoted == name else f"{kind}; filename*=utf-8''{quoted}"


def _part(headers: Headers, size: int, tag: str) -> tuple[int, int] | None:
    """The requested range (start, end), without the byte at `end`; empty if both are equal. None means the whole file,
    also if several ranges are requested, which RFC 9110 allows.
    """
    asked = re.fullmatch(r"bytes=(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))", headers.get("range", "").strip())
    if not asked or headers.get("if-range", tag) != tag:
        return None
    if asked[3]:
        return max(size - int(asked[3]), 0), size
    start, end = int(asked[1]), min(int(asked[2]) + 1, size) if asked[2] else size
    if asked[2] and int(asked[2]) < start:
        return None  # not a valid range
    return (start, end) if start < size else (size, size)


def _blocks(stream: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    stream.seek(start)
    while start < end and (block := stream.read(min(BLOCK, end - start))):
        start += len(block)
        yield block


def _charset(file: BinaryIO, original: Original) -> str | None:
    """The encoding of a text file, by its name for browsers. The file is not read into memory.

    None if it is unknown: the browser then uses what the document declares, or guesses.
    """
    declared = declared_charset(file.read(HEAD)) if original.kind == "html" else None
    file.seek(0)
    sample = _sample(file)
    try:
        text = decode(sample, original.name, declared, original.charset)
    except DocumentError:
        return None
    exact = next((charset for charset, codec in CODECS.items() if _reads(sample, codec) == text), None)
    return exact or _alike(sample, text)


def _alike(sample: bytes, text: str) -> str | None:
    """The encoding of a sample that no codec of Python reads as the loader did."""
    wanted = _outside_ascii(text)
    # Windows-1252 shares most of its letters with its neighbours.
    shares = {
        charset: (wanted & _outside_ascii(sample.decode(codec, "replace"))).total() / max(1, wanted.total())
        for charset, codec in CODECS.items()
        if charset != "windows-1252"
    }
    best = max(shares, key=lambda charset: shares[charset])
    return best if shares[best] >= ALIKE else None


def _outside_ascii(text: str) -> Counter[str]:
    return Counter(character for character in text if character > "\x7f" and character != "\ufffd")


def _sample(file: BinaryIO) -> bytes:
    """Whole lines, if there are any, starting near the first that is not only ASCII."""
    plain = sum(len(block) for block in takewhile(_is_ascii, iter(lambda: file.read(BLOCK), b"")))
    file.seek(plain)
    sample = file.read(SAMPLE)
    if not file.read(1):
        return sample
    # A cut inside a line may split a character. In most encodings, the byte of a line feed is only a line feed.
    end = sample.rfind(b"\n") + 1 or len(sample)
    # In UTF-16, it is half of one.
    return sample[: end - end % 2] if b"\0" in sample else sample[:end]


def _is_ascii(block: bytes) -> bool:
    # ISO-2022-JP looks like ASCII, but has escapes; UTF-16 has zeros.
    return block.isascii() and b"\x1b" not in block and b"\0" not in block


def _reads(content: bytes, codec: str) -> str | None:
    try:
        return content.decode(codec).removeprefix("\ufeff")
    except UnicodeDecodeError:
        return None
