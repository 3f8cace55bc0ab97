"""Bytes to text in the encoding that they are really in, or a clear refusal; never mojibake.

Covers Unicode, the Japanese encodings and what a page declares of itself. Does not guess among Western 8-bit encodings.
"""

import codecs
import re

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

_KANA = re.compile(r"[ぁ-んァ-ヶー、。]")
_RARE = re.compile(r"[\uff61-\uff9f\ue000-\uf8ff\u0080-\u009f\ufffd]")
"""half-width katakana, private use and C1 controls: what one Japanese encoding looks like read as another"""


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
    japanese = [text for encoding in ("cp932", "euc_jis_2004") if (text := _try(content, encoding)) is not None]
    likely = max(japanese, key=_plausibility, default="")
    charset = (declared or "").strip().strip("\"'").lower()
    if (
        charset
        and charset not in ("utf-8", "utf8")
        and (text := _try(content, _SUPERSETS.get(charset, charset))) is not None
    ):
        # A wrong label is common between the two Japanese encodings; elsewhere it is all there is to go by.
        if _plausibility(likely) <= max(_plausibility(text), 0.5) and not _RARE.search(text, 0, 10_000):
            return text
    if _plausibility(likely) > 0.3:
        return likely
    raise UnknownEncoding(name=name)


def _try(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _plausibility(text: str) -> float:
    """The share of kana and Japanese stops among what is not ASCII, less what only a wrong reading has."""
    other = sum(character > "\x7f" for character in text)
    return (len(_KANA.findall(text)) - 2 * len(_RARE.findall(text))) / other if other else 0.0


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
