"""Names from documents, models and people, and addresses, as the pages show them."""

import re
from urllib.parse import unquote

from ada_url import idna_to_unicode

from index_store.base.text.bidi import without_bidi_controls

WORD_JOINER = "\u2060"
"""has no width, and no meaning in a host name"""

_READ_UNESCAPED = re.compile(
    r"(?<=://)|(?<=www)(?=\.)|(?<=@)|(?<=:)(?=streamlit:)|(?<=[<>~-])(?=[-=>](?:\s|$))", re.IGNORECASE
)
"""where Streamlit finds addresses, arrows and its logo after it has removed the escapes; a joiner there splits them"""

_HOST_LABEL = re.compile(r"\bxn--[a-z\d-]+", re.IGNORECASE)

_JAPANESE_LABEL = re.compile("[a-z\\d々〆ぁ-ゖァ-ヺー\u3400-\u9fff-]+")
"""In other scripts there are letters that look like Latin ones, with which a host can pretend to be another."""

_ENCODED = re.compile("(?:%[89A-F][0-9A-F])+", re.IGNORECASE)
"""letters outside ASCII in an address"""


def plain(text: str) -> str:
    """Escapes what Markdown would read as its own. For names from documents, models and people."""
    joined = _READ_UNESCAPED.sub(WORD_JOINER, " ".join(without_bidi_controls(text).split()))
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", joined)


def readable(text: str) -> str:
    """`text` with the addresses in it as a browser shows them: 規程, not %E8%A6%8F%E7%A8%8B, and 日本語.jp, not
    xn--wgv71a119e.jp. The signs that have a meaning in an address, and those that nobody sees, stay encoded. What turns
    the direction of a name is left out.
    """
    shown = _HOST_LABEL.sub(_label, without_bidi_controls(text))
    return _ENCODED.sub(_decoded, shown) if "://" in shown else shown


def _label(encoded: re.Match[str]) -> str:
    letters = idna_to_unicode(encoded[0].lower())
    return letters if _JAPANESE_LABEL.fullmatch(letters) else encoded[0]


def _decoded(encoded: re.Match[str]) -> str:
    try:
        letters = unquote(encoded[0], errors="strict")
    except UnicodeDecodeError:
        return encoded[0]
    return letters if letters.isprintable() else encoded[0]


def about(label: str, what: str) -> str:
    """The label of a button in a row, with `what` the row is about. Only screen readers tell it (style.css); others see
    it beside the button.
    """
    return f"{label} :gray[{plain(what)}]"
