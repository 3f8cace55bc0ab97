"""Makes small RTF documents for tests."""

FONTS = (
    r"{\fonttbl{\f0\fnil\fcharset128 MS Mincho;}{\f1\fcharset0 Arial;}{\f2\fcharset2 Wingdings;}{\f3\fcharset204 A;}"
    r"{\f4\fcharset2{\*\panose 05050102010706020507}Symbol;}}"
)
STYLES = r"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}{\s2 見出し 2;}{\s9 toc 1;}}"


def document(body: str) -> bytes:
    return rtf(r"{\rtf1\ansi\ansicpg932\deff0" + FONTS + STYLES + body + "}")


def rtf(text: str) -> bytes:
    """Characters outside ASCII become bytes of Shift_JIS, as Word writes them."""
    return b"".join(
        bytes((byte,)) if byte < 0x80 else b"\\'%02x" % byte
        for character in text
        for byte in (character.encode("cp932") if character > "\x7f" else character.encode())
    )
