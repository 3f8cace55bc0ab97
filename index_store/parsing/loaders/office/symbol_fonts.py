"""What fonts of symbols show for a code: the marks of forms, arrows, Greek letters and signs of mathematics."""

from collections.abc import Iterable, Mapping

_WINGDINGS = {
    0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "☐", 0x72: "☐", 0x78: "☒", 0xA1: "○", 0xA4: "◉", 0xA8: "☐",
    0xDF: "←", 0xE0: "→", 0xE8: "➔", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
"""the marks of forms, and the arrows that Word makes of --> while one types"""

_WINGDINGS_2 = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐"}

_SYMBOL = {
    first + place: character
    for first, characters in {
        0x21: "!∀#∃%&∋()∗+,−./0123456789:;<=>?",
        0x40: "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_",
        0x60: "‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
        0xA1: "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵",
        0xC0: "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓",
        0xE0: "◊〈®©™∑",
        0xF1: "〉∫",
    }.items()
    for place, character in enumerate(characters)
}
"""Adobe's encoding of the font Symbol, without the pieces of large brackets"""

CHARACTERS: Mapping[str, Mapping[int, str]] = {
    # Word writes the codes of symbol fonts at the end of the private use area, too.
    font: {start + code: character for code, character in symbols.items() for start in (0, 0xF000)}
    for font, symbols in {"Symbol": _SYMBOL, "Wingdings": _WINGDINGS, "Wingdings 2": _WINGDINGS_2}.items()
}
"""font -> its code -> the character. Other codes are pictures that other fonts don't have."""

_SPACE = 0x20


def characters(codes: Iterable[int], font: str) -> str:
    """What the symbol font of this name shows for the codes; nothing for pictures."""
    known = CHARACTERS.get(font, {})
    return "".join(known.get(code, " " if code == _SPACE else "") for code in codes)
