"""Whether a page without text shows something: a scan, drawn letters, or letters of a font that does not name them."""

from contextlib import closing
from itertools import islice

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfiumError, PdfPage

COVERED = 0.5
"""share of the page that pictures cover at least: a logo covers less"""

DRAWN = 20
"""lines, shapes and pieces of text at least: a frame or a running title has fewer"""


def shows_something(pdf: PdfDocument, number: int) -> bool:
    """`number`: of the page, from 0. True for a damaged page."""
    try:
        with closing(pdf[number]) as page:
            drawn = page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_TEXT])
            return _share_of_pictures(page) >= COVERED or len(list(islice(drawn, DRAWN))) == DRAWN
    except PdfiumError:
        return True


def is_covered(pdf: PdfDocument, number: int) -> bool:
    """Whether pictures cover the page, from 0, as a scan does."""
    try:
        with closing(pdf[number]) as page:
            return _share_of_pictures(page) >= COVERED
    except PdfiumError:
        return False


def _share_of_pictures(page: PdfPage) -> float:
    """Of the page. A scan may come in strips, or in a group."""
    pictures = page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM], max_depth=1)
    share: float = sum(_area(*each.get_bounds()) for each in pictures) / max(_area(*page.get_bbox()), 1)
    return share


def _area(left: float, bottom: float, right: float, top: float) -> float:
    return (right - left) * (top - bottom)
