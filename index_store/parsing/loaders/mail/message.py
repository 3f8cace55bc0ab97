"""Headers and parts of mails as they are really sent: encoded words that end inside a character, wrong charsets.

The standard library finds the structure. Its decoding of headers fails on much Japanese mail, or garbles it.
"""

import base64
import email
import quopri
import re
from collections.abc import Iterator
from email.message import Message
from email.policy import Compat32
from typing import Any

from index_store.base.errors import DocumentError, Unreadable
from index_store.parsing.loaders.text.decode import decode, with_plain_newlines

HEADERS = ("from", "to", "subject", "date", "message-id", "received", "mime-version", "content-type", "return-path")
"""a mail has at least one of them"""

_WORD = re.compile(r"=\?([^?\s]+?)(?:\*[\w-]*)?\?([BQbq])\?([^?]*)\?=")
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}\s*")
CODED_LINE = 60
"""characters of a whole line of base64 at least; programs write 60, 64, 72 or 76"""
MENDED = 10
"""parts of a mail whose parts are found by a boundary that the mail doesn't state; each is read once more"""
_BOUNDARY = re.compile(rb"^--([^\s\"][^\r\n\"]{0,69})\r?\nContent-[\w-]{1,30}:", re.M | re.I)
_HTML = re.compile(rb"\s{0,99}<(?:!doctype html|html)\b", re.I)
_BETWEEN_WORDS = re.compile(r"(?<=\?=)\s+(?==\?)")


class _AsSent(Compat32):
    """Reads a header with bytes outside ASCII, or with ISO-2022-JP, as the text that was meant."""

    def header_fetch_parse(self, name: str, value: str) -> str:
        is_plain = value.isascii() and "\x1b" not in value
        return value if is_plain else _decoded(value.encode("ascii", "surrogateescape"), None)


class _Mail(Message):
    """Leaves out the parameters of a header with which the standard library fails: in parts with and without a number,
    or with a number of thousands of digits.
    """

    def get_param(self, param: str, failobj: Any = None, header: str = "content-type", unquote: bool = True) -> Any:
        try:
            return super().get_param(param, failobj, header, unquote)
        except (TypeError, ValueError):
            return failobj


def parse(content: bytes, name: str) -> Message:
    """Raises Unreadable."""
    # A mailbox's separator or a byte order mark may come before the first header.
    content = re.sub(rb"\A(\xef\xbb\xbf|\s)*(From [^\r\n]*\r?\n)?", b"", content)
    mail = email.message_from_bytes(content, _Mail, policy=_AsSent())
    if not any(header in mail for header in HEADERS):
        raise Unreadable(name=name)
    _mend(mail)
    return mail


def _mend(mail: Message) -> None:
    """Reads what claims to have parts and has none by the boundary that stands in its text; without one, it is a text.
    So programs leave a mail that change its headers, or save nothing but its text.
    """
    left = MENDED
    stack = [mail]
    while stack:
        part = stack.pop()
        is_broken = part.get_content_maintype() == "multipart" and not part.is_multipart()
        if is_broken and left and (text := content_of(part)).strip():
            left -= 1
            _mend_part(part, text)
        if part.is_multipart():
            stack += parts_of(part)


def _mend_part(part: Message, text: bytes) -> None:
    found = _BOUNDARY.search(text)
    if found:
        stated = b'Content-Type: multipart/mixed; boundary="%s"\n\n' % found[1].rstrip()
        part.set_payload(email.message_from_bytes(stated + text, _Mail, policy=_AsSent()).get_payload())
    else:
        del part["Content-Type"]
        part["Content-Type"] = "text/html" if _HTML.match(text) else "text/plain"


def header(mail: Message, name: str) -> str:
    """On one line; empty if there is none."""
    return " ".join(_words(str(mail.get(name, ""))).split())


def file_name(part: Message) -> str:
    """The name of an attachment, without folders."""
    value = part.get_param("filename", None, "content-disposition") or part.get_param("name", None)
    # With a charset (RFC 2231): a triple of it, the language and the bytes as characters.
    text = _decoded(value[2].encode("latin-1", "replace"), value[0]) if isinstance(value, tuple) else value or ""
    return " ".join(_words(text).split()).replace("\\", "/").rpartition("/")[2]


def content_of(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def text_of(part: Message, name: str) -> str:
    """Raises UnknownEncoding."""
    coded, appended = _without_appended(part)
    return with_plain_newlines(decode(content_of(coded), name, part.get_content_charset()) + appended)


def _without_appended(part: Message) -> tuple[Message, str]:
    """The part without the plain lines that mailing lists and virus scanners append, even to a text in base64; and
    these lines.
    """
    payload = part.get_payload()
    if not isinstance(payload, str) or str(part["Content-Transfer-Encoding"]).strip().lower() != "base64":
        return part, ""
    lines = payload.splitlines()
    end = next((at for at, line in enumerate(lines) if not _BASE64.fullmatch(line)), len(lines))
    # What is damaged in the middle has more of it below.
    if any(len(line) >= CODED_LINE and _BASE64.fullmatch(line) for line in lines[end:]):
        return part, ""
    coded = Message()
    coded["Content-Transfer-Encoding"] = "base64"
    coded.set_payload("\n".join(lines[:end]))
    return coded, "\n".join(["", *lines[end:]]) if end < len(lines) else ""


def _words(text: str) -> str:
    """Decodes encoded words (RFC 2047) anywhere; the bytes of one character may be split between two words."""
    text = _BETWEEN_WORDS.sub("", re.sub(r"\r?\n(?=[ \t])", "", text))
    out = ""
    pending, charset = b"", ""
    at = 0
    for word in _WORD.finditer(text):
        if pending and (word.start() != at or word[1].lower() != charset):
            out, pending = out + _decoded(pending, charset), b""
        out += text[at : word.start()]
        pending, charset = pending + _bytes(word), word[1].lower()
        at = word.end()
    return out + (_decoded(pending, charset) if pending else "") + text[at:]


def _bytes(word: re.Match[str]) -> bytes:
    encoded = word[3].encode("utf-8", "surrogateescape")
    if word[2] in "Qq":
        return quopri.decodestring(encoded, header=True)
    digits = re.sub(rb"[^A-Za-z0-9+/]", b"", encoded)
    # Four digits are three bytes. A single digit at the end was cut off and means nothing.
    digits = digits[:-1] if len(digits) % 4 == 1 else digits
    return base64.b64decode(digits + b"=" * (-len(digits) % 4))


def _decoded(content: bytes, charset: str | None) -> str:
    try:
        return decode(content, "", charset)
    except DocumentError:
        return content.decode("utf-8", "replace")


def leaves(part: Message) -> Iterator[Message]:
    """All parts without inner parts, in order; a mail inside the mail counts as one."""
    stack = [part]
    while stack:
        part = stack.pop()
        if part.get_content_maintype() == "multipart" and part.is_multipart():
            stack += reversed(parts_of(part))
        else:
            yield part


def parts_of(part: Message) -> list[Message]:
    """The parts of a multipart one; for others the payload is a text."""
    return [each for each in part.get_payload() if isinstance(each, Message)]


def attached_mail(part: Message) -> Message:
    """The mail in a part of type message/rfc822, which the parser makes a multipart with one part."""
    inner = parts_of(part)[0]
    coding = str(part["Content-Transfer-Encoding"]).strip().lower()
    if inner.keys() or coding != "base64":
        return inner
    # Some programs encode the whole mail, which the standard library reads as its text.
    coded = Message()
    coded["Content-Transfer-Encoding"] = coding
    coded.set_payload(inner.get_payload())
    return email.message_from_bytes(content_of(coded), _Mail, policy=_AsSent())
