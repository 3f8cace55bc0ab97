"""The text of a PDF's page as on a page that is turned until most of the text is upright.

Programs store a page that is wider than high as a turned one, or put a wide table sideways on a page.
"""

import math
from collections import Counter

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

SAMPLE = 200
"""characters of a page, at most, that show how it is turned"""

Box = tuple[float, float, float, float]
"""left, right, bottom, top"""


def upright_text(page: PdfPage) -> tuple[PdfTextPage, int]:
    """The text, and how many quarter turns to the right it has in the file."""
    text = page.get_textpage()
    turn = _turn(text)
    rotation = -turn % 4 * 90
    if page.get_rotation() != rotation:
        # pdfium reads from left to right and from the top as the page is shown.
        text.close()
        page.set_rotation(rotation)
        text = page.get_textpage()
    return text, turn


def turned_back(box: Box, turn: int) -> Box:
    """The place of a box after so many quarter turns to the left."""
    left, right, bottom, top = box
    return (box, (-top, -bottom, left, right), (-right, -left, -top, -bottom), (bottom, top, -right, -left))[turn]


def _turn(text: PdfTextPage) -> int:
    """Of most characters; those of vertical Japanese are upright."""
    count = pdfium.FPDFText_CountChars(text)
    turns = Counter(
        round(pdfium.FPDFText_GetCharAngle(text, index) / (math.pi / 2)) % 4
        for index in range(0, count, count // SAMPLE + 1)
        if not chr(pdfium.FPDFText_GetUnicode(text, index)).isspace()
    )
    return turns.most_common(1)[0][0] if turns else 0
