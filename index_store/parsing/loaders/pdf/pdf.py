"""PDF by its text layer: paragraphs put together again from lines, tables from columns, headings from the outline and
by their type, entries of forms, a number for each page.

Does not read scans: a file without text is refused with what to do.
"""

import logging
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import partial, reduce

import pypdfium2
from pypdfium2 import PdfDocument, PdfiumError

from index_store.base.errors import CopyProtected, NoText, PasswordProtected, Unreadable, WrongContent
from index_store.parsing.loaders.content import content_kind, unreadable
from index_store.parsing.loaders.document import Heading, LoadedDocument, Page, RawFile, page_ranges, title_of
from index_store.parsing.loaders.markdown.plain_headings import with_plain_headings
from index_store.parsing.loaders.markdown.plain_headings.bold import with_bold
from index_store.parsing.loaders.pdf.entries import lines_with_entries
from index_store.parsing.loaders.pdf.headings import Headings, bold_lines, completed, title_by_size
from index_store.parsing.loaders.pdf.line import Line
from index_store.parsing.loaders.pdf.paragraphs import joined, paragraphs
from index_store.parsing.loaders.pdf.pictures import is_covered, shows_something
from index_store.parsing.loaders.pdf.readings import without_readings
from index_store.parsing.loaders.pdf.running_lines import undigited, without_running_lines
from index_store.parsing.loaders.pdf.tables.tables import Table, header_alone, in_columns, tables
from index_store.parsing.loaders.text.decode import japanese

log = logging.getLogger(__name__)

FOUND_SHARE = 0.5
"""share of the outline's entries that must be found in the text; with fewer, the outline is not used"""

_BYTES = {
    ord(character): first + at
    for first, characters in (
        (0x18, "˘ˇˆ˙˝˛˚˜"),
        (0x80, "•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž"),
        (0xA0, "€"),
    )
    for at, character in enumerate(characters)
}
"""character -> byte in PDFDocEncoding (PDF 1.7, appendix D.2), where it differs from Latin-1"""
_JAPANESE = re.compile(r"[々ぁ-ヶー一-龠]{2}")

DAMAGED_PAGES = 100
"""in a row, after which reading ends: a damaged file may claim any number of pages"""


def load(file: RawFile) -> LoadedDocument:
    name = file.name
    kind = content_kind(file.content)
    if kind not in ("PDF", None):
        raise WrongContent(name=name, content=kind)
    try:
        pdf = PdfDocument(file.content)
    except PdfiumError as error:
        if error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD:
            raise PasswordProtected(name=name) from error
        # Its key is for certain readers or programs.
        if error.err_code == pypdfium2.raw.FPDF_ERR_SECURITY:
            raise CopyProtected(name=name) from error
        raise unreadable(name, file.content) from error
    # pdfium then draws the entries of a form whose file does not say how they look.
    pdf.init_forms()
    pages: list[list[Line] | None] = []
    damaged = 0
    while len(pages) < len(pdf) and damaged < DAMAGED_PAGES:
        pages.append(_lines(pdf, len(pages), name))
        damaged = damaged + 1 if pages[-1] is None else 0
    if all(page is None for page in pages):
        raise Unreadable(name=name)
    found = [page or [] for page in pages]
    lines = without_running_lines(found)
    if not any(lines) or _are_stamped_scans(pdf, found):
        raise NoText(name=name)
    headings = completed(_outlined(pdf, lines), lines)
    title = title_of(name, _as_meant(_decoded(partial(pdf.get_metadata_value, "Title"))), title_by_size(lines))
    without_text = [number + 1 for number, page in enumerate(lines) if not page and shows_something(pdf, number)]
    written = with_plain_headings(list(_pages(lines, headings)))
    written = with_bold(written, bold_lines(lines, written))
    return LoadedDocument(title=title, pages=written, pages_without_text=page_ranges(without_text))


def _lines(pdf: PdfDocument, number: int, name: str) -> list[Line] | None:
    try:
        return in_columns(without_readings(lines_with_entries(pdf, number)))
    except PdfiumError as error:
        # The other pages of a damaged file are still useful.
        log.warning("page %d of %s can't be read: %s", number + 1, name, error)
        return None


def _are_stamped_scans(pdf: PdfDocument, pages: list[list[Line]]) -> bool:
    """Whether all text is one line that pages share, such as the name of a scanner's app, and pictures cover these."""
    with_text = {number: page for number, page in enumerate(pages) if page}
    texts = {undigited(line) for page in with_text.values() for line in page}
    is_shared = len(with_text) > 1 and len(texts) == 1 and all(len(page) == 1 for page in with_text.values())
    return is_shared and all(is_covered(pdf, number) for number in with_text)


def _outlined(pdf: PdfDocument, pages: list[list[Line]]) -> Headings:
    """The headings that the outline lists. Empty if the outline is wrong."""
    found: Headings = {}
    wanted = hits = 0
    for level, title, page in _outline(pdf):
        if page is None or not 0 <= page < len(pages) or not _key(title):
            continue
        wanted += 1
        above = found.get(page, [])
        place = _find(title, pages[page], above[-1][0] + above[-1][1] if above else 0)
        if place:
            hits += 1
            found.setdefault(page, []).append((*place, min(level, 6)))
    return found if hits and hits >= FOUND_SHARE * wanted else {}


def _outline(pdf: PdfDocument) -> Iterator[tuple[int, str, int | None]]:
    """Level from 1, title, and page from 0, of each entry."""
    try:
        for entry in pdf.get_toc():
            target = entry.get_dest()
            yield entry.level + 1, _decoded(entry.get_title), target.get_index() if target else None
    except PdfiumError as error:
        log.info("the outline can't be read: %s", error)


def _decoded(get: Callable[[], str]) -> str:
    """The text that pypdfium2 gives; "" if its bytes are no text and it raises."""
    try:
        return get()
    except UnicodeDecodeError:
        return ""


def _as_meant(title: str) -> str:
    """A title in Shift_JIS or EUC-JP, as printer drivers write it, although a PDF has no such text. "" if some of its
    bytes are no characters in a PDF, and so are lost.
    """
    try:
        raw = title.translate(_BYTES).encode("latin-1")
    except UnicodeEncodeError:
        return title
    if "\0" in title:
        # Some programs end the title with it.
        return title.rstrip("\0") if title.isascii() else ""
    # A single kanji may be a sign and a letter: the ’s of Q&A’s.
    read = japanese(raw)
    return read if read and _JAPANESE.search(read) else title


def _find(title: str, lines: list[Line], start: int) -> tuple[int, int] | None:
    """Where the title is, in one to three lines, perhaps after a number that the outline leaves out."""
    wanted = _key(title)
    for at in range(start, len(lines)):
        for count in (1, 2, 3):
            text = _key("".join(line.text for line in lines[at : at + count]))
            number = text.removesuffix(wanted)
            if text == wanted or (text != number and re.fullmatch(r"[第章節条項部付録図表\W\da-zivx]{1,8}", number)):
                return at, count
            if len(text) > len(wanted) + 8:
                break
    return None


def _key(text: str) -> str:
    return re.sub(r"[\s^]+", "", unicodedata.normalize("NFKC", text)).casefold()


def _pages(pages: list[list[Line]], headings: Headings) -> Iterator[Page]:
    table: Table | None = None
    for number, lines in enumerate(pages):
        page, table = _page(number, lines, headings, table)
        yield page


def _page(number: int, lines: list[Line], headings: Headings, above: Table | None) -> tuple[Page, Table | None]:
    """`above`: the table with which the page before ends, if it does. Returns that of this page, too."""
    out: list[str] = []
    marks = []
    at = 0
    for start, count, level in headings.get(number, []):
        out += _text_lines(lines, at, start, above)[0]
        text = reduce(joined, (line.text.strip() for line in lines[start : start + count]))
        marks.append(Heading(line=len(out), level=level, text=text))
        out.append(text)
        at, above = start + count, None
    rest, last = _text_lines(lines, at, len(lines), above)
    return Page(markdown="\n".join(out + rest), number=number + 1, headings=tuple(marks)), last


def _text_lines(lines: list[Line], start: int, end: int, above: Table | None) -> tuple[list[str], Table | None]:
    """Also the table with which they end, if they do, or its header alone."""
    out: list[str] = []
    last: Table | None = None
    for table in tables(lines, start, end, above):
        if start < table.start:
            out += paragraphs(lines, start, table.start).split("\n")
        out += ["", *table.markdown.split("\n"), ""]
        start, last = table.end, table
    if start < end:
        return out + paragraphs(lines, start, end).split("\n"), header_alone(lines, end - 1)
    return out, last
