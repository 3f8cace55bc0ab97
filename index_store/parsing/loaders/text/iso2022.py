"""ISO-2022-JP as it is really sent: with the characters of Windows (①, ㈱, 髙), and lines that never switch back.

Python's own decoders hold to the standards and refuse both.
"""

import re

_ESCAPE = re.compile(rb"\x1b(\$[@B]|\$\([DOPQ]|\([BJI])")
_CODECS = ("iso2022_jp_ext", "iso2022_jp_2004", "iso2022_jp_2")


def decode_iso2022(content: bytes) -> str:
    """U+FFFD stands for what has no meaning."""
    for codec in _CODECS:
        try:
            return content.decode(codec)
        except UnicodeDecodeError:
            continue
    parts = _ESCAPE.split(content)
    text = parts[0].decode("ascii", "replace")
    for escape, body in zip(parts[1::2], parts[2::2], strict=True):
        # A line ends in ASCII, whether it says so or not.
        first, newline, rest = re.match(rb"([^\r\n]*)([\r\n]?)(.*)", body, re.S).groups()  # type: ignore[union-attr]
        text += _DECODERS.get(escape, _ascii)(first) + (newline + rest).decode("ascii", "replace")
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


_DECODERS = {
    b"$@": _jis_x_0208,
    b"$B": _jis_x_0208,
    b"$(D": _jis_x_0212,
    b"(I": _half_width,
}
