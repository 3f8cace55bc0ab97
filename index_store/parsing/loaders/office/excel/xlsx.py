"""XLSX: each sheet is a heading with its tables; numbers and dates are written as the sheet shows them.

For a formula, the value is read that was computed when the file was saved; without one, the formula itself. Left out:
hidden sheets and columns, comments, readings above kanji. Rows are read one after another, so the empty rows of a
sheet formatted to its end cost nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from index_store.base.errors import NoText
from index_store.parsing.loaders.document import LoadedDocument, Page, RawFile, title_of
from index_store.parsing.loaders.markdown import as_markdown
from index_store.parsing.loaders.office.excel import shapes
from index_store.parsing.loaders.office.excel.number_format import BUILT_IN, GENERAL, shown_text
from index_store.parsing.loaders.office.package import (
    Element,
    Package,
    attribute,
    is_on,
    local,
    number,
    opened,
    release,
)
from index_store.parsing.loaders.sheet import Row, Sheet, Span

COLUMNS, ROWS = 16_384, 1_048_576
"""of a sheet (Excel's own limits)"""

_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


def load(file: RawFile) -> LoadedDocument:
    with opened(file, "Excel") as package:
        workbook = _Workbook(package)
        pages = list(workbook.pages(hidden=False)) or list(workbook.pages(hidden=True))
        if not pages:
            raise NoText(name=file.name)
        return LoadedDocument(title=title_of(file.name, package.title()), pages=pages)


class _Workbook:
    def __init__(self, package: Package) -> None:
        self._package = package
        self._main = package.main()
        self._root = package.tree(self._main)
        self._is_1904 = attribute(self._root.find("{*}workbookPr"), "date1904") in ("1", "true")
        self._is_computed = attribute(self._root.find("{*}calcPr"), "fullCalcOnLoad") not in ("1", "true")
        """if not, Excel computes when it opens the file: libraries that can't compute save 0 for each formula"""
        self._formats: list[str] = []
        """the number formats of the cells' styles, in the order of the styles"""
        self._struck: list[bool] = []
        """whether a style strikes its text through"""
        self._read_styles()
        self._strings = [
            text for part in package.related(self._main, "sharedStrings") for text in self._read_strings(part)
        ]

    def pages(self, hidden: bool) -> Iterator[Page]:
        """One page for each sheet with text, of the hidden sheets or of the others."""
        for sheet in self._root.iterfind("{*}sheets/{*}sheet"):
            part = self._package.target(self._main, attribute(sheet, "id"))
            if part and hidden == (attribute(sheet, "state") in ("hidden", "veryHidden")):
                blocks = [block for block in self._blocks(part) if block.strip()]
                if blocks:
                    heading = as_markdown.heading(2, attribute(sheet, "name") or "")
                    yield Page(markdown="\n\n".join([heading, *blocks]) + "\n")

    def _blocks(self, part: str) -> Iterator[str]:
        sheet = Sheet()
        hidden = bytearray(COLUMNS)
        behind: dict[int, Row] = {}
        """row number -> its cells in hidden columns"""
        controls: dict[str, str] = {}
        last = 0
        for element in self._package.elements(part, "row", "mergeCell", "col", "control"):
            match local(element):
                case "row":
                    last = min(number(element, "r", last + 1), ROWS)
                    row = self._row(element)
                    shown = {column: text for column, text in row.items() if not hidden[column]}
                    if shown:
                        sheet.rows[last] = shown
                    if len(shown) < len(row):
                        behind[last] = {column: text for column, text in row.items() if hidden[column]}
                case "mergeCell":
                    sheet.spans += _span(attribute(element, "ref") or "")
                case "control":
                    controls[attribute(element, "shapeId") or ""] = attribute(element, "id") or ""
                case "col" if attribute(element, "hidden") in ("1", "true"):
                    low = min(max(number(element, "min", 1) - 1, 0), COLUMNS)
                    high = min(max(number(element, "max", 0), 0), COLUMNS)
                    hidden[low:high] = b"\1" * max(high - low, 0)
            release(element)
        sheet.hidden = hidden
        _show_merged(sheet, behind)
        yield from sheet.blocks()
        yield from shapes.blocks(self._package, part, controls, with_charts=not sheet.rows)

    def _row(self, row: Element) -> Row:
        cells: Row = {}
        column = -1
        for cell in row:
            column = _column((cell.get("r") or "").rstrip("0123456789"), column + 1)
            if len(cell) and column < COLUMNS:
                style = cell.get("s") or "0"
                at = int(style) if style.isascii() and style.isdigit() else 0
                text = self._text(cell, self._formats[at] if at < len(self._formats) else GENERAL)
                if text and not text.isspace():
                    # Parts of a text may be struck by themselves.
                    is_struck = at < len(self._struck) and self._struck[at] and "~~" not in text
                    cells[column] = f"~~{text}~~" if is_struck else text
        return cells

    def _text(self, cell: Element, number_format: str) -> str:
        kind = cell.get("t")
        value = formula = ""
        for child in cell:
            match local(child):
                case "v":
                    value = child.text or ""
                case "f" if child.text:
                    formula = f"={child.text}"
                case "is" if kind == "inlineStr":
                    return _rich(child)
        match kind:
            case "s":
                at = int(value) if value.isascii() and value.isdigit() else len(self._strings)
                return self._strings[at] if at < len(self._strings) else ""
            case "b":
                return {"1": "TRUE", "0": "FALSE"}.get(value, value)
            case "str" | "e" | "d":
                return _unescaped(value)
        if not value or (formula and value == "0" and not self._is_computed):
            return formula
        return shown_text(value, number_format, self._is_1904)

    def _read_styles(self) -> None:
        for part in self._package.related(self._main, "styles"):
            root = self._package.tree(part)
            own = {
                number(one, "numFmtId", -1): attribute(one, "formatCode") or GENERAL
                for one in root.iterfind("{*}numFmts/{*}numFmt")
            }
            struck = [is_on(font.find("{*}strike")) for font in root.iterfind("{*}fonts/{*}font")]
            for style in root.iterfind("{*}cellXfs/{*}xf"):
                code, font = number(style, "numFmtId", 0), number(style, "fontId", 0)
                self._formats.append(own.get(code) or BUILT_IN.get(code, GENERAL))
                self._struck.append(0 <= font < len(struck) and struck[font])

    def _read_strings(self, part: str) -> Iterator[str]:
        for item in self._package.elements(part, "si"):
            yield _rich(item)
            release(item)


def _rich(item: Element) -> str:
    """The text of a cell in several formats, without the readings (`rPh`) above it."""
    parts = []
    for child in item:
        match local(child):
            case "t":
                parts.append(child.text or "")
            case "r":
                text = child.findtext("{*}t") or ""
                is_raised = attribute(child.find("{*}rPr/{*}vertAlign"), "val") == "superscript"
                text = as_markdown.raised(text) if is_raised else text
                parts.append(as_markdown.struck(text) if is_on(child.find("{*}rPr/{*}strike")) else text)
    return _unescaped(as_markdown.with_raised(as_markdown.with_struck("".join(parts))))


def _unescaped(text: str) -> str:
    """Characters that XML can't hold are written _x000B_ (ISO 29500-1, 22.9.2.19)."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _show_merged(sheet: Sheet, behind: dict[int, Row]) -> None:
    """Excel shows a merged cell in what is left of it if its first columns are hidden, as a title over a hidden one."""
    moved = set()
    for at, span in enumerate(sheet.spans):
        shown = sheet.hidden.find(0, span.left, span.right + 1) if span.left in behind.get(span.top, ()) else -1
        if shown >= 0:
            sheet.spans[at] = replace(span, left=shown)
            sheet.rows.setdefault(span.top, {})[shown] = behind[span.top].pop(span.left)
            moved.add(span.top)
    if moved:
        sheet.rows = {
            number: dict(sorted(row.items())) if number in moved else row for number, row in sorted(sheet.rows.items())
        }


def _span(reference: str) -> list[Span]:
    first, _, last = reference.partition(":")
    top, bottom = _REFERENCE.fullmatch(first), _REFERENCE.fullmatch(last)
    if not top or not bottom:
        return []
    return [Span(int(top[2]), _column(top[1], 0), min(int(bottom[2]), ROWS), _column(bottom[1], 0))]


@lru_cache(maxsize=COLUMNS)
def _column(letters: str, default: int) -> int:
    """From 0."""
    if not (letters.isascii() and letters.isupper() and letters.isalpha() and len(letters) <= 3):
        return default
    place = 0
    for letter in letters:
        place = place * 26 + ord(letter) - ord("A") + 1
    return place - 1
