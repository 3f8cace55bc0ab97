"""What was typed into the fields of a form or onto a page: in the lines of the page, beside or below its label.

A PDF has it apart from the page's own text, in any order. Comments and links are not part of the page.
"""

import ctypes
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfPage

from index_store.parsing.loaders.pdf.line import SAME_LINE, Cell, Line, one_line
from index_store.parsing.loaders.pdf.lines import lines_of, words_of
from index_store.parsing.loaders.pdf.upright import upright_text

NEIGHBOURS = 6
"""lines above and below an entry among which its label is looked for"""

COMB = 1 << 24
"""flag of a field with a box for each character (PDF 1.7, table 228)"""
COMBS, LONGEST = 200, 100
"""such fields that are read of a page, and their characters; a form has hardly more"""

_TYPED = {pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT}


def lines_with_entries(pdf: PdfDocument, number: int) -> list[Line]:
    """The lines of a page, from 0, in reading order."""
    with closing(pdf[number]) as page:
        kinds = list(_kinds(page))
        if _TYPED.isdisjoint(kinds):
            return lines_of(page)
        for index in reversed(range(len(kinds))):
            if kinds[index] not in _TYPED:
                pdfium.FPDFPage_RemoveAnnot(page, index)
        combs = _combs(pdf, page)
        with closing(upright_text(page)[0]) as text:
            printed = pdfium.FPDFText_CountChars(text)
        # Only the copy in memory changes: the entries are drawn after the page's own text.
        pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY)
    with closing(pdf[number]) as page:
        words = words_of(page, printed)
        entries = _entries(_joined([word for word in words if word.cells], combs))
        return [*_placed(lines_of(page, printed), entries), *(word for word in words if not word.cells)]


def _kinds(page: PdfPage) -> Iterator[int]:
    for index in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        yield pdfium.FPDFAnnot_GetSubtype(annotation)
        pdfium.FPDFPage_CloseAnnot(annotation)


def _combs(pdf: PdfDocument, page: PdfPage) -> list[str]:
    """What was typed into fields with a box for each character, without spaces."""
    found: dict[str, None] = {}
    for index in range(pdfium.FPDFPage_GetAnnotCount(page)) if pdf.formenv else ():
        field = pdfium.FPDFPage_GetAnnot(page, index)
        if pdfium.FPDFAnnot_GetFormFieldFlags(pdf.formenv, field) & COMB:
            size = pdfium.FPDFAnnot_GetFormFieldValue(pdf.formenv, field, None, 0)
            value = (ctypes.c_ushort * (size // 2))()
            pdfium.FPDFAnnot_GetFormFieldValue(pdf.formenv, field, value, size)
            found["".join(bytes(value).decode("utf-16-le", "replace").rstrip("\0").split())] = None
        pdfium.FPDFPage_CloseAnnot(field)
    return [text for text in found if 1 < len(text) <= LONGEST][:COMBS]


def _joined(words: Sequence[Line], combs: Sequence[str]) -> list[Line]:
    """The characters in the boxes of a field as one word."""
    out: list[Line] = []
    at = 0
    while at < len(words):
        first = words[at]
        count, text = max(((_words_of(comb, words, at), comb) for comb in combs), default=(0, ""))
        if count:
            end = words[at + count - 1].end
            first = replace(first, text=text, end=end, cells=(Cell(first.begin, end, text),))
        out.append(first)
        at += max(count, 1)
    return out


def _words_of(comb: str, words: Sequence[Line], at: int) -> int:
    """How many words from `at` on are the characters of the field; 0 if they are not."""
    text = ""
    for count, word in enumerate(words[at : at + len(comb)], 1):
        text += word.text
        if text == comb:
            return count
        if not comb.startswith(text):
            break
    return 0


def _entries(words: list[Line]) -> Iterator[Line]:
    """Each line of each entry; pdfium gives them all in one line."""
    for row in _rows(sorted(words, key=lambda word: word.across)):
        for cell in row.cells:
            yield replace(row, text=cell.text, begin=cell.begin, end=cell.end, row=False, cells=(cell,))


def _placed(lines: list[Line], entries: Iterable[Line]) -> list[Line]:
    heights = sorted((line.across, index) for index, line in enumerate(lines) if line.cells)
    beside: defaultdict[int, list[Line]] = defaultdict(list)
    below: defaultdict[int, list[Line]] = defaultdict(list)
    for entry in entries:
        at = bisect(heights, (entry.across, len(lines)))
        near = [index for _, index in heights[max(0, at - NEIGHBOURS) : at + NEIGHBOURS]]
        above = [index for _, index in heights[max(0, at - NEIGHBOURS) : at]]
        same = [index for index in near if _is_beside(lines[index], entry)]
        if same:
            beside[min(same, key=lambda index: _distance(lines[index], entry))].append(entry)
        else:
            # The nearest one that is not in another column, or none at the top of the page.
            below[min(reversed(above), key=lambda index: _distance(lines[index], entry) > 0, default=-1)].append(entry)
    out = _rows(below[-1])
    for index, line in enumerate(lines):
        out += [one_line([line, *beside[index]]) if index in beside else line, *_rows(below[index])]
    return out


def _is_beside(line: Line, entry: Line) -> bool:
    return abs(line.across - entry.across) < SAME_LINE * max(line.height, entry.height)


def _distance(line: Line, entry: Line) -> float:
    return max(0, line.begin - entry.end, entry.begin - line.end)


def _rows(pieces: list[Line]) -> list[Line]:
    """Those that are beside each other as one line; they are sorted by their heights."""
    rows: list[list[Line]] = []
    for piece in pieces:
        if rows and _is_beside(rows[-1][0], piece):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [one_line(row) for row in rows]
