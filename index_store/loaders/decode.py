"""Bytes to text in the encoding that they are really in, or a clear refusal; never mojibake.

Covers Unicode, the Japanese encodings and what a page declares of itself. Does not guess among Western 8-bit encodings.
"""

import codecs
import re
import sys

from index_store.errors import UnknownEncoding, WrongContent
from index_store.loaders.content import content_kind

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_SUPERSETS = {
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "ms_kanji": "cp932",
    "euc-jp": "euc_jis_2004",
    "x-euc-jp": "euc_jis_2004",
    "iso-2022-jp": "iso2022_jp_ext",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
}
"""declared name -> the superset that browsers read it with (WHATWG Encoding Standard)"""

_KANA = re.compile(r"[ぁ-んァ-ヶー]")
_HALF_KATAKANA = re.compile(r"[\uff61-\uff9f]{2,}")
_RUN = re.compile(r"[^\x00-\x7f]+")
_ALONE = re.compile(r"(?<![^\x00-\x7f])(?:(?<=[A-Za-z])[^\x00-\x7f]|[^\x00-\x7f](?=[A-Za-z]))(?![^\x00-\x7f])")
"""the accents of a Western text look so, read as Japanese: one kanji at a time, amid letters"""
_NEVER = re.compile(r"[\ue000-\uf8ff\u0080-\u009f\ufffd]")
"""private use and C1 controls: what one encoding looks like read as another"""
_LEVEL_1 = frozenset(
    bytes((lead, trail)).decode("cp932", "ignore") for lead in range(0x88, 0x98) for trail in range(0x40, 0xFD)
)
"""the 2,965 common kanji of JIS X 0208"""

FEW = 20
"""characters of kanji without kana that are taken for EUC-JP: a list of names, not a text in Chinese"""

SAMPLE = 200_000
"""characters that are looked at to tell encodings apart"""


def decode(content: bytes, name: str, declared: str | None = None) -> str:
    """`declared` is the charset that the document or its server claims; it counts only if it holds.

    Raises UnknownEncoding, and WrongContent when the bytes are not text at all.
    """
    for bom, encoding in _BOMS:
        if content.startswith(bom):
            text = _try(content, encoding)
            if text is None:
                raise UnknownEncoding(name=name)
            return text.removeprefix("\ufeff")
    if b"\0" in content:
        return _wide(content, name)
    if b"\x1b$" in content or b"\x1b(" in content:
        for encoding in ("iso2022_jp_ext", "iso2022_jp_2004", "iso2022_jp_2"):
            if (text := _try(content, encoding)) is not None:
                return text
    if (text := _try(content, "utf-8")) is not None:
        return text
    read = japanese(content)
    charset = (declared or "").strip().strip("\"'").lower()
    if charset not in ("", "utf-8", "utf8"):
        text = _try(content, _SUPERSETS.get(charset, charset))
        if text is not None and not _NEVER.search(text, 0, SAMPLE) and read in (None, text):
            return text
    if read is None:
        raise UnknownEncoding(name=name)
    return read


def _try(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def japanese(content: bytes) -> str | None:
    """The text, when it reads as Japanese in Shift_JIS or EUC-JP."""
    euc = _try(content, "euc_jis_2004")
    sjis = _try(content, "cp932")
    # EUC-JP read as Shift_JIS is mostly half-width katakana; where it is not EUC-JP they are meant.
    read = [(_plausibility(sjis, -1.0 if euc else 1.0, sys.maxsize), sjis)] if sjis else []
    # Chinese and Korean are valid EUC-JP too, with kanji as common as these.
    read += [(_plausibility(euc, 0.0, FEW), euc)] if euc else []
    score, text = max(read, default=(0.0, None), key=lambda pair: pair[0])
    return text if score > 0 else None


def _plausibility(text: str, half: float, kanji_alone: int) -> float:
    """Above 0 when the characters outside ASCII are those of Japanese.

    `half`: what a half-width katakana counts. `kanji_alone`: up to how many characters kana may be missing.
    """
    text = text[:SAMPLE]
    other = sum(character > "\x7f" for character in text)
    kana = len(_KANA.findall(text))
    common = sum(character in _LEVEL_1 for character in text)
    prose = kana >= 0.05 * other or (common >= 0.7 * other and other <= kanji_alone)
    # Cyrillic read as Shift_JIS is half-width katakana and nothing else.
    listing = half > 0 and kana + common >= 0.1 * other
    is_western = len(_ALONE.findall(text)) > 0.5 * len(_RUN.findall(text))
    if not other or is_western or _NEVER.search(text) or not (prose or listing):
        return 0.0
    halves = sum(map(len, _HALF_KATAKANA.findall(text)))
    return (1.5 * kana + common + half * halves) / other - 0.3


def _wide(content: bytes, name: str) -> str:
    """UTF-16 without a byte order mark: the zero bytes of ASCII stand all on one side."""
    even, odd = content[0::2].count(0), content[1::2].count(0)
    # Binary files have zeros on both sides.
    if len(content) % 2 == 0 and max(even, odd) > 10 * min(even, odd):
        text = _try(content, "utf-16-be" if even > odd else "utf-16-le")
        if text is not None and not re.search(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]", text):
            return text
    kind = content_kind(content)
    if kind:
        raise WrongContent(name=name, content=kind)
    raise UnknownEncoding(name=name)
