"""Decodes bytes to text in their real encoding, or refuses clearly; never mojibake.

Covers Unicode, the Japanese encodings, the encoding that a page declares, and Windows-1252 if the text looks Western.
Does not guess among the other 8-bit encodings: undeclared Polish or Czech that looks Western is read as Windows-1252.
"""

import codecs
import re
import sys
from itertools import pairwise

from index_store.base.errors import UnknownEncoding, WrongContent
from index_store.parsing.loaders.content import content_kind
from index_store.parsing.loaders.text.western import is_western

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
_NEIGHBOURS = frozenset({"gb2312", "gbk", "gb18030", "hz", "big5", "big5hkscs", "cp950", "cp949", "euc_kr", "johab"})
"""Chinese and Korean encodings, by Python's names: their bytes are often also those of kanji in a Japanese encoding"""

_NO_CHARSETS = frozenset({"utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape"})
"""by Python's names: codecs from bytes to text that read any bytes, or that browsers refuse"""

_KANA = re.compile(r"[ぁ-んァ-ヶー]")
_SIGN = re.compile(r"[①-⑳㈱㈲、。「」（）【】・←-↓]")
"""signs beside kanji"""
_RULES = re.compile(r"[\u2500-\u257f]+")
"""the lines of tables that are drawn with characters; there may be more of them than of words"""
_HALF_KATAKANA = re.compile(r"[\uff61-\uff9f]{2,}")
_RUN = re.compile(r"[^\x00-\x7f]+")
_NEVER = re.compile(r"[\ue000-\uf8ff\u0080-\u009f\ufffd]")
"""private use and C1 controls: they appear when one encoding is read as another"""
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_STRANGE = re.compile(r"[\x80-\x9f]|[A-Za-z][¡¢£¤¥¦¨©ª«¬®¯°±²³´µ¶¸¹º»¼½¾¿Ð×Þ÷†‡ƒ][a-z]")
"""characters that no Western language has inside a word: another encoding read as Windows-1252"""
_NO_CHARACTER = dict.fromkeys((0x80, 0xA0, *range(0xE000, 0xF900)), "\ufffd")
"""what Python's cp932 makes of bytes without a character, or with a different one at each company"""
_LEVEL_1 = frozenset(
    bytes((row, cell)).decode("euc_jp", "ignore") for row in range(0xB0, 0xD0) for cell in range(0xA1, 0xFF)
)
"""the 2,965 common kanji of JIS X 0208"""

FEW = 20
"""characters of kanji without kana that count as EUC-JP: a list of names, not a Chinese text"""

WRONG_SHARE = 0.02
"""share of the characters outside ASCII that may be unreadable: the file was cut off, or has a line of another encoding
"""

NULS = 0.001
"""share of a file's bytes that may be NUL, by a fault of its program; with more, it is no text"""

IN_USE = 0.8
"""share of characters that are ASCII, kana or common kanji; UTF-16 with the wrong byte order has 0.1"""

IN_LETTERS = 0.9
"""share of the characters outside ASCII, in a text of letters; the others are dashes and quotation marks"""

SAMPLE = 200_000
"""characters that are read to tell encodings apart"""


def decode(content: bytes, name: str, *declared: str | None) -> str:
    """`declared`: the charsets that the document and its server name, the most trusted first.

    One that fits the bytes is used. A few wrong bytes, as in a file that was cut off, become U+FFFD. Raises
    UnknownEncoding; WrongContent if the bytes are no text at all.
    """
    for bom, encoding in _BOMS:
        if content.startswith(bom):
            text = _mostly(content, encoding)
            if text is None:
                raise UnknownEncoding(name=name)
            return text.removeprefix("\ufeff")
    if b"\0" in content:
        if (text := _wide(content)) is not None:
            return text
        if content.count(0) > max(1, NULS * len(content)):
            kind = content_kind(content)
            raise WrongContent(name=name, content=kind) if kind else UnknownEncoding(name=name)
        content = content.replace(b"\0", b"")
    if b"\x1b$" in content or b"\x1b(" in content:
        text = _iso2022(content)
        if _is_mostly_right(text):
            return text
    if (text := _try(content, "utf-8")) is not None:
        return text
    read = japanese(content)
    for charset in map(_codec, declared):
        text = _as_declared(content, charset)
        if text is None:
            continue
        if read in (None, text) or _is_in_letters(text) or (charset in _NEIGHBOURS and not _KANA.search(read)):
            return text
    text = read or _mostly(content, "utf-8") or _mostly_japanese(content) or _western(content)
    if text is None:
        raise UnknownEncoding(name=name)
    return text


def with_plain_newlines(text: str) -> str:
    """Each line break as one newline; scripts on Windows often write two carriage returns before theirs."""
    return text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")


def _sample(text: str) -> str:
    """The text around the first character outside ASCII, which may come late: in a log, after many lines of ASCII."""
    first = _RUN.search(text)
    start = max(0, first.start() - SAMPLE // 2) if first else 0
    return text[start : start + SAMPLE]


def _as_declared(content: bytes, codec: str) -> str | None:
    text = _try(content, codec) if codec not in ("", "utf-8") else None
    return None if text is None or _NEVER.search(_sample(text)) else text


def _is_in_letters(text: str) -> bool:
    """Whether the characters outside ASCII are letters of Cyrillic, Greek, Hebrew or Arabic words.

    Japanese, read as if it were, has signs between them, and capitals inside the words.
    """
    sample = _sample(text)
    other = sum(character > "\x7f" for character in sample)
    letters = sum("\u0370" <= character < "\u0700" and character.isalpha() for character in sample)
    capitals = sum(one.islower() and two.isupper() for one, two in pairwise(sample))
    return letters > IN_LETTERS * other and capitals < (1 - IN_LETTERS) * other


def _codec(charset: str | None) -> str:
    """Python's name of the codec that reads a declared charset; "" if it is none of text."""
    name = (charset or "").strip().strip("\"'").lower()
    try:
        codec = codecs.lookup(_SUPERSETS.get(name, name)).name
        is_of_text = isinstance("".encode(codec), bytes) and codec not in _NO_CHARSETS
    except (LookupError, ValueError):
        # "hex" and others are codecs, too; a NUL in a name is a ValueError.
        return ""
    return codec if is_of_text else ""


def _try(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _mostly(content: bytes, encoding: str) -> str | None:
    """The text, if all but a few characters can be read."""
    text = content.decode(encoding, "replace")
    text = text.translate(_NO_CHARACTER) if encoding == "cp932" else text
    return text if _is_mostly_right(text) else None


def _is_mostly_right(text: str) -> bool:
    wrong = text.count("\ufffd")
    if not wrong:
        return True
    other = len(text) - len(text.encode("ascii", "ignore"))
    return wrong <= max(1, WRONG_SHARE * other) and other != 1


def japanese(content: bytes, western: str = "cp1252") -> str | None:
    """The text, if it reads as Japanese in Shift_JIS or EUC-JP, and not as words in the encoding `western`."""
    euc = _try(content, "euc_jis_2004")
    sjis = _try(content, "cp932") or _try(content, "shift_jis_2004")
    return _likelier(content, sjis, euc, western)


def _mostly_japanese(content: bytes) -> str | None:
    return _likelier(content, _mostly(content, "cp932"), _mostly(content, "euc_jis_2004"), "cp1252")


def _likelier(content: bytes, sjis: str | None, euc: str | None, western: str) -> str | None:
    # EUC-JP read as Shift_JIS is mostly half-width katakana. If the bytes are not EUC-JP, these katakana are real.
    read = [(_plausibility(sjis, -1.0 if euc else 1.0, sys.maxsize), sjis, "cp932")] if sjis else []
    # Chinese and Korean are valid EUC-JP, too, with equally common kanji.
    read += [(_plausibility(euc, 0.0, FEW), euc, "euc_jis_2004")] if euc else []
    likely = [(score, text) for score, text, codec in read if score > 0 and not is_western(content, codec, western)]
    return max(likely, default=(0.0, None), key=lambda pair: pair[0])[1]


def _western(content: bytes) -> str | None:
    """The text, if it reads as a Western language in Windows-1252: single accents inside words of ASCII letters."""
    text = _try(content, "cp1252")
    if text is None:
        return None
    sample = _sample(text)
    letters = len(re.findall(r"[A-Za-z]", sample))
    accents = re.findall(r"[À-ÖØ-öø-ÿŒœŠšŽžŸ]+", sample)
    strange = len(_STRANGE.findall(sample))
    few = sum(map(len, accents)) <= 0.3 * letters
    single = sum(len(run) > 2 for run in accents) <= 0.05 * len(accents)
    return text if few and single and not strange else None


def _plausibility(text: str, half: float, kanji_alone: int) -> float:
    """Above 0 when the characters outside ASCII are those of Japanese.

    `half`: what a half-width katakana counts. `kanji_alone`: up to how many characters kana may be missing.
    """
    text = _RULES.sub("", _sample(text).replace("\ufffd", ""))
    other = sum(character > "\x7f" for character in text)
    kana = len(_KANA.findall(text))
    common = sum(character in _LEVEL_1 for character in text) + len(_SIGN.findall(text))
    prose = kana >= 0.05 * other or (common >= 0.7 * other and other <= kanji_alone)
    halves = "".join(_HALF_KATAKANA.findall(text))
    # Cyrillic read as Shift_JIS is only half-width katakana, of the last rows: from ﾀ on.
    first_rows = sum(character < "ﾀ" for character in halves) if len(halves) == other else 0
    listing = half > 0 and kana + common + first_rows >= 0.1 * other
    if not other or _NEVER.search(text) or not (prose or listing):
        return 0.0
    return (1.5 * kana + common + half * len(halves)) / other - 0.3


def _wide(content: bytes) -> str | None:
    """UTF-16 without a byte order mark: with the right byte order, its characters are common ones."""
    read = [content[: len(content) // 2 * 2].decode(encoding, "replace") for encoding in ("utf-16-le", "utf-16-be")]
    text = max(read, key=_in_use)
    is_text = _in_use(text) > IN_USE and _is_mostly_right(text) and not _CONTROL.search(text)
    return text if is_text else None


def _in_use(text: str) -> float:
    """Share of the characters."""
    text = text[:SAMPLE]
    plain = sum(character < "\u0600" or "\u2000" <= character < "\u3100" for character in text)
    return (plain + sum(character in _LEVEL_1 for character in text)) / max(len(text), 1)


# ISO-2022-JP

_ESCAPE = re.compile(rb"\x1b(\$[@B]|\$\([DOPQ]|\([BJI])")
_ISO2022_CODECS = ("iso2022_jp_ext", "iso2022_jp_2004", "iso2022_jp_2")


def _iso2022(content: bytes) -> str:
    """ISO-2022-JP as it is really sent: with the characters of Windows (①, ㈱, 髙), and lines that never switch back.

    Python's own decoders follow the standards and refuse both. Bytes without a meaning become U+FFFD.
    """
    for codec in _ISO2022_CODECS:
        try:
            return content.decode(codec)
        except UnicodeDecodeError:
            continue
    parts = _ESCAPE.split(content)
    text = parts[0].decode("ascii", "replace")
    for escape, body in zip(parts[1::2], parts[2::2], strict=True):
        # A line ends in ASCII, even without an escape that says so. The pattern matches any bytes.
        first, newline, rest = re.match(rb"([^\r\n]*)([\r\n]?)(.*)", body, re.S).groups()  # type: ignore[union-attr]
        text += _ISO2022_SETS.get(escape, _ascii)(first) + (newline + rest).decode("ascii", "replace")
    return text


def _ascii(body: bytes) -> str:
    return body.decode("ascii", "replace")


def _half_width(body: bytes) -> str:
    return bytes(byte | 0x80 for byte in body).decode("cp932", "replace")


def _jis_x_0208(body: bytes) -> str:
    shifted = bytearray()
    for row, cell in zip(body[0::2], body[1::2], strict=False):
        lead = (row - 0x21) // 2 + 0x81
        trail = cell + (0x1F + (cell >= 0x60) if row % 2 else 0x7E)
        shifted += bytes((lead + (0x40 if lead > 0x9F else 0) & 0xFF, trail & 0xFF))
    return shifted.decode("cp932", "replace")


def _jis_x_0212(body: bytes) -> str:
    pairs = zip(body[0::2], body[1::2], strict=False)
    return b"".join(bytes((0x8F, row | 0x80, cell | 0x80)) for row, cell in pairs).decode("euc_jp", "replace")


_ISO2022_SETS = {
    b"$@": _jis_x_0208,
    b"$B": _jis_x_0208,
    b"$(D": _jis_x_0212,
    b"(I": _half_width,
}
