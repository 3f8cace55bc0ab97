"""What is ticked or chosen in a Word document: characters of symbol fonts, and the fields of forms."""

import re

from index_store.parsing.loaders.office.package import Element, attribute, is_on, number
from index_store.parsing.loaders.office.symbol_fonts import CHARACTERS

_PRIVATE_USE = range(0xE000, 0xF900)
_SURROGATES = range(0xD800, 0xE000)


def symbol(element: Element) -> str:
    """A `w:sym`. Other characters for private use are pictures that other fonts don't have."""
    code = attribute(element, "char") or ""
    value = int(code, 16) if re.fullmatch(r"[0-9A-Fa-f]{1,5}", code) else 0
    known = CHARACTERS.get(attribute(element, "font") or "", {}).get(value)
    return known or (chr(value) if value and value not in _PRIVATE_USE and value not in _SURROGATES else "")


def text_in(run: Element, text: str) -> str:
    """The text as the font of its run shows it."""
    characters = CHARACTERS.get(attribute(run.find("{*}rPr/{*}rFonts"), "ascii") or "")
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
