"""Mails that an S/MIME signature wraps (RFC 8551, 3.5.2): their text is not encrypted, but lies inside the signature.

It is taken out without a check of the signature, as from a mail whose signature stands beside its text.
"""

import email
from collections.abc import Iterator
from email.message import Message

from index_store.parsing.loaders.mail.message import content_of, leaves

WRAPPED = ("application/pkcs7-mime", "application/x-pkcs7-mime")
"""signed or encrypted; the content tells which"""


def unwrap(mail: Message) -> None:
    """Puts what signatures wrap in the place of the signatures; what is encrypted or damaged stays."""
    # Each content is shorter than what wraps it, so this ends.
    closed = list(leaves(mail))
    while closed:
        part = closed.pop()
        content = _signed(content_of(part)) if part.get_content_type() in WRAPPED else None
        inner = email.message_from_bytes(content, policy=part.policy) if content else None
        # Signed files that are no mails are in such parts, too.
        if inner is not None and "content-type" in inner:
            _replace(part, inner)
            closed += leaves(part)


def _replace(part: Message, inner: Message) -> None:
    for name in filter(_tells_of_content, part.keys()):
        del part[name]
    for name, value in inner.raw_items():
        if _tells_of_content(name):
            part.set_raw(name, value)
    part.set_payload(inner.get_payload())


def _tells_of_content(header: str) -> bool:
    return header.lower().startswith("content-")


# The wrapping: SignedData of CMS (RFC 5652, 5.1) in BER (X.690, 8.1), of which only the way to the content is read

_SIGNED_DATA = bytes.fromhex("06092a864886f70d010702")
_SEQUENCE, _SET, _INTEGER, _OBJECT, _EXPLICIT = 0x30, 0x31, 0x02, 0x06, 0xA0
_OCTETS, _OCTETS_IN_PARTS = 0x04, 0x24
_END = 0x00


def _signed(content: bytes) -> bytes | None:
    """What is signed, if this is a signature that contains it."""
    try:
        at = _inside(content, 0, _SEQUENCE)
        if not content.startswith(_SIGNED_DATA, at):
            return None
        at = _inside(content, at + len(_SIGNED_DATA), _EXPLICIT)
        at = _inside(content, at, _SEQUENCE)
        at = _behind(content, at, _INTEGER)
        at = _behind(content, at, _SET)
        at = _inside(content, at, _SEQUENCE)
        at = _behind(content, at, _OBJECT)
        at = _inside(content, at, _EXPLICIT)
        return b"".join(_octets(content, at))
    except (IndexError, _NoSuchElement):
        return None


class _NoSuchElement(Exception):
    """The bytes are not what stands at this place of a signature."""


def _header(content: bytes, at: int) -> tuple[int, int, int | None]:
    """The tag of an element, where its content begins, and its length; None if an element of its own ends it."""
    tag, size = content[at], content[at + 1]
    at += 2
    if size < 0x80:
        return tag, at, size
    if size == 0x80:
        return tag, at, None
    digits = content[at : at + size - 0x80]
    return tag, at + len(digits), int.from_bytes(digits)


def _inside(content: bytes, at: int, expected: int) -> int:
    tag, at, _ = _header(content, at)
    if tag != expected:
        raise _NoSuchElement
    return at


def _behind(content: bytes, at: int, expected: int) -> int:
    _inside(content, at, expected)
    open_elements = 0
    while True:
        tag, at, length = _header(content, at)
        if length is None:
            open_elements += 1
        else:
            at += length
            open_elements -= tag == _END
        if not open_elements:
            return at


def _octets(content: bytes, at: int) -> Iterator[bytes]:
    """The parts of a string of bytes; the whole is one."""
    tag, start, length = _header(content, at)
    end = len(content) if length is None else start + length
    if tag == _OCTETS_IN_PARTS:
        at = start
    while at < end:
        tag, at, length = _header(content, at)
        if tag == _END:
            return
        if tag != _OCTETS or length is None or at + length > len(content):
            raise _NoSuchElement
        yield content[at : at + length]
        at += length
