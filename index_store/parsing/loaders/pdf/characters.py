"""The characters of a PDF's page: where each stands, its size, and those that are left out or written otherwise."""

import ctypes
import math
import re
import unicodedata
from collections import Counter
from itertools import pairwise

import pypdfium2.raw as pdfium
from pypdfium2 import PdfTextPage

from index_store.base.text.radicals import KANJI_OF_RADICALS
from index_store.parsing.loaders.markdown import as_markdown
from index_store.parsing.loaders.pdf.upright import Box, turned_back

RAISED_SIZE = 0.8
"""times the size of the type, of raised figures at most"""
RAISED = 0.1
"""times the height of a figure; the middle of a raised one is higher than its middle by this at least"""
RAISED_GAP = 1.2
"""times the height of a figure, from it to the raised one at most"""
TOUCHING = 0.1
"""share of the size of the type; characters whose widths end and begin this close are of one word"""
LETTER_GAP = 0.5
"""share of the size of the type; Japanese characters that are closer than this are of one word"""
SLANT = 0.2
"""rise of a line on its length, from which it is slanted; scans that lie a little askew have less"""

HYPHENS = "\x02\ufffe\u00ad"
"""characters that pdfium gives for the hyphen of a word divided at the end of a line"""
WIDE = re.compile(r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
"""a Japanese character, or one of full width"""

_AS_WRITTEN = {
    code: unicodedata.normalize("NFKC", chr(code))
    for code in (*range(0x2E80, 0x2FE0), *range(0xFB00, 0xFB07))
    if unicodedata.normalize("NFKC", chr(code)) != chr(code)
} | KANJI_OF_RADICALS
"""radicals and ligatures that fonts give for kanji and letters: the same text in other characters"""
_FONT_NAME = 128
"""bytes of a font's name that are read; a PDF has 127 at most"""
_BOLD = re.compile(rb"(?i:bold|heavy|black|demi)|CMBX|-W[6-9]")
"""in the name of a font"""
_FRACTION = re.compile(r"\d+ ?[/⁄]")
_SPACED = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff]) (?=[\u3040-\u30ff\u3400-\u9fff])")
_LEADER = re.compile(r" ?(?:[.．・‥…·] ?){6,}")
"""the dots from a title to its page, or from an item to its price"""


def characters_of(page: PdfTextPage, end: int) -> list[str]:
    characters = [chr(pdfium.FPDFText_GetUnicode(page, index)) for index in range(end)]
    _leave_out_unnamed(page, characters)
    _leave_out_cropped(page, characters)
    return characters


def _leave_out_unnamed(page: PdfTextPage, characters: list[str]) -> None:
    """Empties those whose font does not say which characters they are: pdfium gives their numbers in the font.

    Small numbers alone are kept: old programs number the characters of a font as ASCII does.
    """
    large = [
        index
        for index, character in enumerate(characters)
        if character > "\xff" and pdfium.FPDFText_HasUnicodeMapError(page, index) == 1
    ]
    if not large:
        return
    fonts = {index: _font(page, index) for index, character in enumerate(characters) if not character.isspace()}
    counts, unnamed = Counter(fonts.values()), Counter(fonts[index] for index in large)
    for index, font in fonts.items():
        # pdfium does not tell it of numbers that would be Hebrew or Arabic.
        if 2 * unnamed[font] > counts[font]:
            characters[index] = " "
    for index in large:
        characters[index] = " "


def _leave_out_cropped(page: PdfTextPage, characters: list[str]) -> None:
    """Empties the characters outside the part of the page that is shown: both halves of a spread that was cut into two
    pages have the text of the whole. A line that begins inside is kept up to a gap: it may be too long for its paper.
    """
    cropped = page.page.get_cropbox(fallback_ok=False)
    if cropped is None or cropped == page.page.get_mediabox(fallback_ok=False):
        return
    shown = page.page.get_bbox()
    before: Box | None = None
    for index, character in enumerate(characters):
        box = None if character in "\r\n" else _place(page, index)
        if box and not _is_shown(box, shown) and not (before and _is_next(before, box)):
            characters[index] = ""
            box = None
        before = box


def _is_shown(box: Box, shown: tuple[float, float, float, float]) -> bool:
    left, bottom, right, top = shown
    return left <= (box[0] + box[1]) / 2 <= right and bottom <= (box[2] + box[3]) / 2 <= top


def _is_next(before: Box, box: Box) -> bool:
    """Whether the distance of two characters is smaller than they are."""
    size = max(box[1] - box[0], box[3] - box[2], before[1] - before[0], before[3] - before[2])
    return max(box[0] - before[1], before[0] - box[1], box[2] - before[3], before[2] - box[3]) < size


def breaks_in_words(page: PdfTextPage, characters: list[str], turn: int) -> set[int]:
    """On some pages of tables, pdfium takes each character for a line."""
    breaks: set[int] = set()
    for at in range(1, len(characters) - 2):
        if characters[at] == "\r" and characters[at + 1] == "\n" and _is_in_word(page, characters, at, turn):
            breaks |= {at, at + 1}
    for at in range(1, len(characters) - 1):
        # pdfium divides a word at a narrow character of full width, too: １１
        if characters[at] != " " or not (WIDE.match(characters[at - 1]) and WIDE.match(characters[at + 1])):
            continue
        if pdfium.FPDFText_IsGenerated(page, at) == 1 and adjoin(page, at - 1, at + 1, turn):
            breaks.add(at)
    return breaks


def add_line_ends(page: PdfTextPage, characters: list[str], turn: int) -> None:
    """On some pages of tables, pdfium gives a space between a row and the next one that begins with one character."""
    for at in range(1, len(characters) - 1):
        if characters[at] != " " or not (characters[at - 1].strip() and characters[at + 1].strip()):
            continue
        if pdfium.FPDFText_IsGenerated(page, at) != 1:
            continue
        before, after = (_whole_box(page, each, turn) for each in (at - 1, at + 1))
        size = size_of(page, at + 1)
        if before[2] - after[2] > LETTER_GAP * size and after[0] < before[0] - size:
            characters[at] = "\n"


def _is_in_word(page: PdfTextPage, characters: list[str], at: int, turn: int) -> bool:
    """Whether the characters around a break are beside each other; Japanese ones may be spread."""
    if adjoin(page, at - 1, at + 2, turn):
        return True
    if not WIDE.match(characters[at - 1]) or not WIDE.match(characters[at + 2]):
        return False
    before, after, size = box_of(page, at - 1, turn), box_of(page, at + 2, turn), size_of(page, at - 1)
    if before is None or after is None or size != size_of(page, at + 2):
        return False
    shared = min(before[3], after[3]) - max(before[2], after[2])
    return abs(after[0] - before[1]) < LETTER_GAP * size and shared > 0


def adjoin(page: PdfTextPage, index: int, following: int, turn: int) -> bool:
    """Whether one character begins where the other ends, by their widths and not by their ink: 1 and i are narrow."""
    size = size_of(page, index)
    if size != size_of(page, following):
        return False
    before, after = (_whole_box(page, at, turn) for at in (index, following))
    shared = min(before[3], after[3]) - max(before[2], after[2])
    return before[1] > before[0] and abs(after[0] - before[1]) < TOUCHING * size and shared > 0


def _whole_box(page: PdfTextPage, index: int, turn: int) -> Box:
    box = pdfium.FS_RECTF()
    pdfium.FPDFText_GetLooseCharBox(page, index, ctypes.byref(box))
    return turned_back((box.left, box.right, box.bottom, box.top), turn)


def mark_raised(page: PdfTextPage, characters: list[str], places: list[tuple[int, Box]]) -> None:
    """Puts ^ before raised figures that would read as more digits of the number before them."""
    for (base, (left, right, bottom, top)), (index, box) in pairwise(places):
        height = top - bottom
        is_above = (box[2] + box[3]) / 2 > (bottom + top) / 2 + RAISED * height
        if not is_above or not left < box[0] < right + RAISED_GAP * height:
            continue
        marked = as_markdown.with_raised(characters[base] + as_markdown.raised(characters[index]))
        # pdfium adds a space before the number of a note.
        added = range(base + 1, index) if characters[base].isdigit() else ()
        if (
            "^" in marked
            and base + 1 + len(added) == index
            and all(pdfium.FPDFText_IsGenerated(page, at) == 1 for at in added)
            and size_of(page, index) < RAISED_SIZE * size_of(page, base)
            and not _FRACTION.match("".join(characters[index : index + 8]))
        ):
            characters[base + 1 : index + 1] = [*[""] * len(added), f"^{characters[index]}"]


def text_of(characters: list[str]) -> str:
    # For a character above U+FFFF, pdfium may give its two halves.
    text = "".join(characters).encode("utf-16", "surrogatepass").decode("utf-16", "replace").translate(_AS_WRITTEN)
    if len(_SPACED.findall(text)) > 0.4 * len(WIDE.findall(text)):
        text = _SPACED.sub("", text)
    return _LEADER.sub(" … ", text)


def _font(page: PdfTextPage, index: int) -> bytes:
    """Its name."""
    name = ctypes.create_string_buffer(_FONT_NAME)
    pdfium.FPDFText_GetFontInfo(page, index, name, _FONT_NAME, None)
    return name.value


def size_of(page: PdfTextPage, index: int) -> float:
    """Some programs write in type of one point, and scale it."""
    matrix = _matrix(page, index)
    size: float = pdfium.FPDFText_GetFontSize(page, index)
    return round(size * (math.hypot(matrix.c, matrix.d) if matrix else 1), 1)


def weight_of(page: PdfTextPage, index: int) -> int:
    """400 is usual, 700 bold. pdfium tells it by the width of the stems, which Word and Chrome give too small."""
    written = pdfium.FPDFText_GetTextObject(page, index)
    mode = pdfium.FPDFTextObj_GetTextRenderMode(written) if written else None
    weight: int = pdfium.FPDFText_GetFontWeight(page, index)
    # Programs draw the outlines too, for the bold type of a Japanese font that has none.
    is_bold = mode == pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE or _BOLD.search(_font(page, index))
    return max(weight, 700) if is_bold else weight


def is_slanted(page: PdfTextPage, index: int) -> bool:
    # The angle that pdfium tells is that of the letters: italics lean, too.
    matrix = _matrix(page, index)
    if matrix is None:
        return False
    run, rise = sorted((abs(matrix.a), abs(matrix.b)), reverse=True)
    return bool(rise > SLANT * run)


def _matrix(page: PdfTextPage, index: int) -> pdfium.FS_MATRIX | None:
    matrix = pdfium.FS_MATRIX()
    return matrix if pdfium.FPDFText_GetMatrix(page, index, ctypes.byref(matrix)) else None


def box_of(page: PdfTextPage, index: int, turn: int) -> Box | None:
    """None for a character that pdfium has added."""
    place = _place(page, index)
    return turned_back(place, turn) if place and place[1] > place[0] else None


def _place(page: PdfTextPage, index: int) -> Box | None:
    values = [ctypes.c_double() for _ in range(4)]
    ok = pdfium.FPDFText_GetCharBox(page, index, *map(ctypes.byref, values))
    left, right, bottom, top = (value.value for value in values)
    return (left, right, bottom, top) if ok else None
