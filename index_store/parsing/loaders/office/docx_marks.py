"""What is ticked or chosen in a Word document: characters of symbol fonts, and the fields of forms."""

import re

from index_store.parsing.loaders.office.package import Element, attribute, is_on, number

_PRIVATE_USE = range(0xE000, 0xF900)
_SURROGATES = range(0xD800, 0xE000)

_SYMBOLS = {
    "Wingdings": {
        0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "☐", 0x72: "☐", 0x78: "☒", 0xA1: "○", 0xA4: "◉", 0xA8: "☐",
        0xDF: "←", 0xE0: "→", 0xE8: "➔", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
    },
    "Wingdings 2": {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐"},
}  # fmt: skip
"""font -> its code -> the character: the marks of forms, and the arrows that Word makes of --> while one types"""
# Word writes the codes of symbol fonts at the end of the private use area, too.
_CHARACTERS = {
    font: {start + code: character for code, character in symbols.items() for start in (0, 0xF000)}
    for font, symbols in _SYMBOLS.items()
}


def symbol(element: Element) -> str:
    """A `w:sym`. Other characters for private use are pictures that other fonts don't have."""
    code = attribute(element, "char") or ""
    value = int(code, 16) if re.fullmatch(r"[0-9A-Fa-f]{1,5}", code) else 0
    known = _CHARACTERS.get(attribute(element, "font") or "", {}).get(value)
    return known or (chr(value) if value and value not in _PRIVATE_USE and value not in _SURROGATES else "")


def text_in(run: Element, text: str) -> str:
    """The text as the font of its run shows it."""
    characters = _CHARACTERS.get(attribute(run.find("{*}rPr/{*}rFonts"), "ascii") or "")
    return text.translate(characters) if characters else text


def field(element: Element) -> str:
    """A `w:fldChar`: what a box to tick or a list of a form shows; the text of other fields stands in the document."""
    box = element.find("{*}ffData/{*}checkBox")
    if box is not None:
        state = box.find("{*}checked")
        return "☑" if is_on(box.find("{*}default") if state is None else state) else "☐"
    choices = element.find("{*}ffData/{*}ddList")
    if choices is None:
        return ""
    entries = [attribute(entry, "val") or "" for entry in choices.iterfind("{*}listEntry")]
    chosen = number(choices.find("{*}result"), "val", number(choices.find("{*}default"), "val", 0))
    return entries[chosen] if 0 <= chosen < len(entries) else ""
