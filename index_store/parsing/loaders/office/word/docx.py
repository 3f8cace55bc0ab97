"""DOCX as it reads on paper: headings (by their styles, or else plain ones), lists with their numbers, tables, notes.

Left out: headers and footers, comments, tracked deletions, hidden text, tables of contents, readings above kanji.
The body is read one block after another, so a long document costs no more memory than its text.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial

from index_store.base.errors import NoText
from index_store.parsing.loaders.document import HEADING_LENGTH, LoadedDocument, Page, RawFile, only_highest, title_of
from index_store.parsing.loaders.markdown import as_markdown, tables
from index_store.parsing.loaders.markdown.header_rows import Cell, with_one_header
from index_store.parsing.loaders.markdown.plain_headings import with_plain_headings
from index_store.parsing.loaders.markdown.plain_headings.bold import with_bold
from index_store.parsing.loaders.office import drawing, eq_field, formula
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
from index_store.parsing.loaders.office.word import marks
from index_store.parsing.loaders.office.word.numbering import BULLET, Numbering
from index_store.parsing.loaders.office.word.styles import BODY_LEVEL, Style, Styles

_DROPPED = {
    "pPr", "rPr", "sdtPr", "del", "moveFrom", "delText", "instrText", "delInstrText", "rt", "rubyPr", "annotationRef",
    "footnoteRef", "endnoteRef", "commentReference", "fldData", "Fallback", "tblPr", "tblGrid", "ctrlPr",
}  # fmt: skip
_CONTENTS = "Table of Contents"
_NOTE, _NOTE_END = "\x13", "\x14"
"""control characters around a note, until it is known whether it is one of a heading"""
_BOLD = "\x15"
"""the same before a paragraph that is bold as a whole"""
_IS_NOTE = re.compile(f"{_NOTE}([^{_NOTE_END}]*){_NOTE_END}")

COLUMNS = 63
"""of a table at most (Word's own limit)"""
_HOLDERS = {"sdt", "sdtContent", "customXml", "ins", "moveTo"}


def load(file: RawFile) -> LoadedDocument:
    with opened(file, "Word") as package:
        reader = _Reader(package)
        markdown = "\n\n".join(_lists_joined(reader.blocks()))
        if not markdown.strip():
            raise NoText(name=file.name)
        title = title_of(file.name, package.title(), reader.title, only_highest(reader.headings))
        bold = {(0, number) for number, line in enumerate(markdown.split("\n")) if line.startswith(_BOLD)}
        pages = with_plain_headings([Page(markdown=markdown.replace(_BOLD, "") + "\n")])
        return LoadedDocument(title=title, pages=with_bold(pages, bold))


def _lists_joined(blocks: Iterator[tuple[str, bool]]) -> Iterator[str]:
    """Joins neighbouring items into one list, without blank lines between them."""
    items: list[str] = []
    for block, is_item in blocks:
        if is_item:
            items.append(block)
            continue
        if items:
            yield "\n".join(items)
            items = []
        yield block
    if items:
        yield "\n".join(items)


class _Reader:
    def __init__(self, package: Package) -> None:
        self._package = package
        self._document = package.main()
        self._styles = Styles(package, self._document)
        self._numbering = Numbering(package, self._document)
        self._fields: list[list[str] | None] = []
        """of the paragraph, one inside another: the pieces of an instruction, or None while the field's text is read"""
        self._notes: dict[str, dict[str, str]] = {"footnote": {}, "endnote": {}}
        for kind in self._notes:
            self._read_notes(kind)
        self.title = ""
        self.headings: list[tuple[int, str]] = []

    def blocks(self) -> Iterator[tuple[str, bool]]:
        """Each block of text as Markdown, and whether it is an item of a list."""
        for element in self._package.elements(self._document, "p", "tbl", "sdt", "customXml", "ins", "moveTo"):
            parent = element.getparent()
            if parent is None or local(parent) != "body":
                continue
            yield from self._blocks(element)
            release(element)

    def _blocks(self, element: Element) -> Iterator[tuple[str, bool]]:
        match local(element):
            case "p":
                yield from self._paragraph(element)
            case "tbl":
                yield from self._table(element)
            case "sdt" if _is_placeholder(element):
                return
            case name if name not in _DROPPED:
                for child in element:
                    yield from self._blocks(child)

    def _paragraph(self, paragraph: Element, in_cell: bool = False) -> Iterator[tuple[str, bool]]:
        properties = paragraph.find("{*}pPr")
        style = self._styles[attribute(paragraph.find("{*}pPr/{*}pStyle"), "val")]
        text, boxes = self._text(paragraph)
        # Word counts paragraphs without text, too.
        label, depth = self._label(properties, style) if text.strip() or not _is_gone(properties) else (None, 0)
        level = self._level(properties, style)
        text, notes = _notes_apart(text) if level else (_notes_within(text), [])
        if style.is_contents or style.is_hidden:
            pass
        elif text.strip():
            block, is_item = self._written(text, label, depth, level, style)
            is_bold = not (in_cell or is_item or level or "\n" in block) and _is_bold(paragraph)
            yield _BOLD + block if is_bold else block, is_item
            for note in notes:
                yield as_markdown.paragraph(note), False
        elif in_cell and label and label != BULLET:
            # It names the row.
            yield label, True
        for box in boxes:
            for drawn in drawing.texts(self._package, self._document, box):
                yield drawn, False
            for child in box if local(box) == "txbxContent" else ():
                yield from self._blocks(child)

    def _written(self, text: str, label: str | None, depth: int, level: int, style: Style) -> tuple[str, bool]:
        line = _on_a_line(text)
        if level and len(line) <= HEADING_LENGTH:
            if label and label != BULLET:
                line = f"{label} {line}"
            if style.is_title:
                self.title = self.title or line
            self.headings.append((level, line))
            return as_markdown.heading(level, line), False
        body = as_markdown.paragraph(text)
        if label:
            indent = "  " * depth
            return indent + f"{label} {body}".replace("\n", "\n" + indent + "  "), True
        return body, False

    def _level(self, properties: Element | None, style: Style) -> int:
        outline = properties.find("{*}outlineLvl") if properties is not None else None
        if outline is None:
            return style.level
        level = number(outline, "val", BODY_LEVEL)
        return level + 1 if 0 <= level < BODY_LEVEL else 0

    def _label(self, properties: Element | None, style: Style) -> tuple[str | None, int]:
        """The list's mark before the paragraph, if it is in a list, and its level."""
        own = properties.find("{*}numPr") if properties is not None else None
        list_id = attribute(own.find("{*}numId"), "val") if own is not None else None
        if list_id is None:
            list_id = style.numbering
        if list_id in (None, "0"):
            return None, 0
        given = own.find("{*}ilvl") if own is not None else None
        depth = number(given, "val", style.numbering_level or 0)
        return self._numbering.label(list_id or "", depth), min(max(depth, 0), BODY_LEVEL)

    def _table(self, table: Element) -> Iterator[tuple[str, bool]]:
        if _is_layout(table):
            for cell in _cells(table):
                for child in cell:
                    yield from self._blocks(child)
            return
        text = tables.table(_grid(table, self._cell))
        if text:
            yield text, False

    def _cell(self, cell: Element) -> str:
        """Everything in a cell, on one line; for a table inside it, each row."""
        if _is_unfilled(cell):
            return ""
        parts: list[str] = []
        for child in cell:
            match local(child):
                case "p":
                    parts += [text for text, _ in self._paragraph_in_cell(child)]
                case "tbl":
                    parts += [" ".join(filter(None, row)) for row in _grid(child, self._cell)]
                case name if name not in _DROPPED and not _is_placeholder(child):
                    parts.append(self._cell(child))
        return " ".join(filter(None, map(str.strip, parts)))

    def _paragraph_in_cell(self, paragraph: Element) -> Iterator[tuple[str, bool]]:
        # A heading in a cell is no heading of the document.
        for block, is_item in self._paragraph(paragraph, in_cell=True):
            yield re.sub(r"^\\?#+ ", "", block), is_item

    def _text(self, element: Element) -> tuple[str, list[Element]]:
        """The text of a paragraph, and the text boxes and drawings attached to it."""
        parts: list[str] = []
        boxes: list[Element] = []
        # One that goes on from the paragraph before, such as a table of contents, shows its text.
        self._fields.clear()
        self._gather(element, parts, boxes)
        return as_markdown.with_raised(as_markdown.with_struck("".join(parts))), boxes

    def _gather(self, element: Element, parts: list[str], boxes: list[Element]) -> None:
        for child in element:
            match local(child):
                case "t":
                    self._holder(parts).append(marks.text_in(element, child.text or ""))
                case "tab" | "ptab":
                    parts.append(" ")
                case "br" | "cr":
                    parts.append("\n")
                case "noBreakHyphen":
                    parts.append("-")
                case "sym":
                    parts.append(marks.symbol(child))
                case "fldChar":
                    parts.append(marks.field(child))
                    self._pass_mark(attribute(child, "fldCharType"), parts)
                case "instrText" if self._fields and self._fields[-1] is not None:
                    self._fields[-1].append(child.text or "")
                case "fldSimple":
                    parts.append(eq_field.shown(attribute(child, "instr") or ""))
                    self._gather(child, parts, boxes)
                case "footnoteReference" | "endnoteReference" as name:
                    parts.append(self._notes[name.removesuffix("Reference")].get(attribute(child, "id") or "", ""))
                case "r" if is_on(child.find("{*}rPr/{*}vanish")):
                    pass
                case "r" if self._styles[attribute(child.find("{*}rPr/{*}rStyle"), "val") or "?"].is_hidden:
                    pass
                case "r" if self._is_raised(child) or _is_struck(child):
                    text = self._inner(child, boxes)
                    text = as_markdown.raised(text) if self._is_raised(child) else text
                    parts.append(as_markdown.struck(text) if _is_struck(child) else text)
                case _ if formula.is_part(child):
                    inner = partial(self._inner, boxes=boxes)
                    parts.append(formula.written(child, inner, parts[-1] if parts else ""))
                case "txbxContent":
                    boxes.append(child)
                case "graphicData":
                    boxes.append(child)
                    self._gather(child, parts, boxes)
                case "sdt" if _is_placeholder(child):
                    pass
                case "AlternateContent" if child.find("{*}Choice") is None:
                    for fallback in child:
                        self._gather(fallback, parts, boxes)
                case name if name not in _DROPPED:
                    self._gather(child, parts, boxes)

    def _pass_mark(self, kind: str | None, parts: list[str]) -> None:
        """Opens a field, or ends its instruction, or the field."""
        if kind == "begin":
            self._fields.append([])
            return
        if self._fields and (instruction := self._fields[-1]) is not None:
            self._fields[-1] = None
            self._holder(parts).append(eq_field.shown("".join(instruction)))
        if kind == "end" and self._fields:
            self._fields.pop()

    def _holder(self, parts: list[str]) -> list[str]:
        """What takes the next text: `parts`, or the instruction of a field if the text is of a field inside it."""
        if self._fields and self._fields[-1] is None:
            return next((outer for outer in reversed(self._fields) if outer is not None), parts)
        return parts

    def _inner(self, element: Element, boxes: list[Element]) -> str:
        parts: list[str] = []
        self._gather(element, parts, boxes)
        return "".join(parts)

    def _is_raised(self, run: Element) -> bool:
        position = attribute(run.find("{*}rPr/{*}vertAlign"), "val")
        style = self._styles[attribute(run.find("{*}rPr/{*}rStyle"), "val") or "?"]
        return position == "superscript" if position else style.is_raised

    def _read_notes(self, kind: str) -> None:
        """A note is put in brackets where the text refers to it, or below the heading that refers to it."""
        for part in self._package.related(self._document, kind + "s"):
            for note in self._package.tree(part).iterfind("{*}" + kind):
                text = self._cell(note)
                # Separators are stored as notes, too.
                if text and attribute(note, "type") in (None, "normal"):
                    self._notes[kind][attribute(note, "id") or ""] = f"{_NOTE} ({text}) {_NOTE_END}"


def _on_a_line(text: str) -> str:
    return as_markdown.squeezed(text.replace("\n", " "))


def _notes_within(text: str) -> str:
    return text.replace(_NOTE, "").replace(_NOTE_END, "")


def _notes_apart(text: str) -> tuple[str, list[str]]:
    """A heading and its notes. In it, they would stand above each passage below it, and could make it too long."""
    heading = _IS_NOTE.sub("", text)
    if 0 < len(_on_a_line(heading)) <= HEADING_LENGTH:
        return heading, _IS_NOTE.findall(text)
    return _notes_within(text), []


def _is_gone(properties: Element | None) -> bool:
    """Whether the end of the paragraph is deleted, moved away or hidden."""
    end = properties.find("{*}rPr") if properties is not None else None
    if end is None:
        return False
    return is_on(end.find("{*}vanish")) or any(end.find(f"{{*}}{change}") is not None for change in ("del", "moveFrom"))


def _is_struck(run: Element) -> bool:
    return any(is_on(run.find(f"{{*}}rPr/{{*}}{line}")) for line in ("strike", "dstrike"))


def _is_bold(paragraph: Element) -> bool:
    """Whether all its words are, by themselves and not by their style."""
    runs = [run for run in paragraph.iter("{*}r") if any((text.text or "").strip() for text in run.iterfind("{*}t"))]
    return bool(runs) and all(is_on(run.find("{*}rPr/{*}b")) for run in runs)


def _is_placeholder(element: Element) -> bool:
    """A field that is not filled in yet, or a table of contents: not the author's words."""
    if local(element) != "sdt":
        return False
    gallery = attribute(element.find("{*}sdtPr/{*}docPartObj/{*}docPartGallery"), "val")
    return gallery == _CONTENTS or is_on(element.find("{*}sdtPr/{*}showingPlcHdr"))


def _is_unfilled(cell: Element) -> bool:
    """Whether the whole cell is a field that is not filled in yet."""
    content = cell.getparent()
    field = content.getparent() if content is not None and local(content) == "sdtContent" else None
    return field is not None and _is_placeholder(field)


# The grid of a table: cells in their columns; cells that span rows or named columns are in each of them


def _grid(table: Element, text_of: Callable[[Element], str]) -> list[list[str]]:
    """Rows of texts, with one header, since Markdown has one."""
    rows: list[list[str]] = []
    merged: list[list[Cell]] = []
    above: dict[int, str] = {}
    """column -> the text of the cell that may continue below"""
    headers = 0
    for row in _rows(table):
        line: list[str] = [""] * min(number(row.find("{*}trPr/{*}gridBefore"), "val", 0), COLUMNS)
        merged.append([])
        for cell in _children(row, "tc"):
            merge = cell.find("{*}tcPr/{*}vMerge")
            goes_on = merge is not None and attribute(merge, "val") in (None, "continue")
            if goes_on:
                text = above.get(len(line), "")
            else:
                text = text_of(cell)
                above.pop(len(line), None)
                if merge is not None:
                    above[len(line)] = text
            span = min(max(number(cell.find("{*}tcPr/{*}gridSpan"), "val", 1), 1), COLUMNS)
            merged[-1].append(Cell(len(line), span, text, goes_on))
            line += [text] + [tables.BESIDE] * (span - 1)
            if len(line) >= COLUMNS:
                break
        if len(rows) == headers and is_on(row.find("{*}trPr/{*}tblHeader")):
            headers += 1
        rows.append(line)
    # Those that Word repeats on each page, or those that are merged like a header.
    return with_one_header(rows, merged, marked=headers)


def _is_layout(table: Element) -> bool:
    """Whether the table only frames text: it has one column, such as a box around a notice, or one row of texts."""
    rows = [list(_children(row, "tc")) for row in _rows(table)]
    return all(len(row) < 2 for row in rows) or (len(rows) == 1 and any(map(_has_paragraphs, rows[0])))


def _has_paragraphs(cell: Element) -> bool:
    """Whether it has text in several paragraphs."""
    return sum(any(text.text for text in part.iter("{*}t")) for part in cell.iterfind("{*}p")) > 1


def _cells(table: Element) -> Iterator[Element]:
    for row in _rows(table):
        yield from (cell for cell in _children(row, "tc") if not _is_unfilled(cell))


def _rows(table: Element) -> Iterator[Element]:
    # A deleted row is still in the file until the change is accepted.
    return (row for row in _children(table, "tr") if row.find("{*}trPr/{*}del") is None)


def _children(element: Element, name: str) -> Iterator[Element]:
    """Also finds children inside elements that may enclose rows and cells: fields to fill in, tracked changes."""
    for child in element:
        if local(child) == name:
            yield child
        elif local(child) in _HOLDERS:
            yield from _children(child, name)
