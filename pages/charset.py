"""In which encoding a file of text is, as a browser has to be told; found without reading it into memory."""

from itertools import takewhile
from pathlib import Path

from index_store.base.errors import DocumentError
from index_store.parsing.loaders.text.decode import decode

BLOCK = 1 << 16
"""bytes read at once"""

SAMPLE = 1 << 20
"""bytes that are looked at, from the first that is not ASCII on"""

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


def charset_of(path: Path, name: str, declared: str | None) -> str | None:
    """None where it can't be told: a browser then follows the document's own word, or guesses."""
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
