"""PPTX: each slide a page under its title, shapes in reading order, tables, charts, diagrams, and the speaker's notes.

Left out: footers, dates and slide numbers, comments, everything on the master. Hidden slides are read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from index_store.base.errors import NoText
from index_store.parsing.loaders.document import LoadedDocument, Page, RawFile, page_ranges, title_of
from index_store.parsing.loaders.markdown import as_markdown, tables
from index_store.parsing.loaders.markdown.header_rows import Cell, with_one_header
from index_store.parsing.loaders.markdown.list_number import list_number
from index_store.parsing.loaders.office import drawing
from index_store.parsing.loaders.office.package import Element, Package, attribute, local, number, opened

TITLE_LENGTH = 100
"""characters of a slide's first line; a longer line is no title"""
LEVELS = 9
"""of lists (ISO 29500-1, 21.1.2.2.7)"""

_TITLES = {"title", "ctrTitle"}
_NOT_CONTENT = {"dt", "ftr", "hdr", "sldNum", "sldImg"}
_LISTS = {"body", "obj", None}
"""kinds of placeholders whose paragraphs are a list unless they say otherwise; None is the default kind"""
_KINDS = {
    "arabicDb": "decimalFullWidth", "alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman",
    "romanUc": "upperRoman", "circleNum": "decimalEnclosedCircle", "ea1": "japaneseCounting",
}  # fmt: skip
"""how a kind of number begins -> its name in Word"""
_SHAPES = ("sp", "graphicFrame", "grpSp", "contentPart", "AlternateContent")
"""kinds of shapes that may have text; lines between them have none"""

OVERLAP = 0.1
"""share of the smaller box's side by which neighbours may overlap: frames are larger than their text"""
COMPARED = 200
"""shapes at most to which those below are compared, to read both as columns; slides made by people have fewer"""
GAPS = 100
"""at most, one inside another; slides made by people have few"""


def load(file: RawFile) -> LoadedDocument:
    with opened(file, "PowerPoint") as package:
        deck = _Deck(package)
        pages = list(deck.pages())
        if not pages:
            raise NoText(name=file.name)
        title = title_of(file.name, package.title(), deck.title)
        return LoadedDocument(title=title, pages=pages, pages_without_text=page_ranges(deck.pictures))


@dataclass(frozen=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float
    shape: Element


class _Deck:
    def __init__(self, package: Package) -> None:
        self._package = package
        self._main = package.main()
        self.title = ""
        """of the first slide"""
        self.pictures: list[int] = []
        """the numbers of the slides that have a picture, but no text"""
        self._placeholders = lru_cache(maxsize=256)(self._read_placeholders)

    def pages(self) -> Iterator[Page]:
        """Pages of the slides with text; a slide's number is its place, even if others are empty."""
        slides = self._package.tree(self._main).iterfind("{*}sldIdLst/{*}sldId")
        for place, slide in enumerate(slides, 1):
            part = self._package.target(self._main, _relation(slide))
            if part is None:
                continue
            title, blocks = self._slide(part)
            if place == 1:
                self.title = title
            if title or blocks:
                # A slide without a title gets its number; otherwise its text would belong to the slide before.
                heading = as_markdown.heading(2, title or str(place))
                yield Page(markdown="\n\n".join([heading, *blocks]) + "\n", number=place)
            elif self._has_picture(part):
                self.pictures.append(place)

    def _has_picture(self, part: str) -> bool:
        return self._package.tree(part).find("{*}cSld/{*}spTree//{*}pic") is not None

    def _slide(self, part: str) -> tuple[str, list[str]]:
        tree = self._package.tree(part).find("{*}cSld/{*}spTree")
        title = ""
        blocks: list[str] = []
        for shape in self._in_order(part, tree) if tree is not None else ():
            if not title and _kind(shape) in _TITLES:
                title = as_markdown.squeezed(" ".join(_lines(shape)).replace("\n", " "))
            else:
                blocks += [block for block in self._blocks(part, shape) if block.strip()]
        if (
            not title
            and blocks
            and "\n" not in blocks[0]
            and len(blocks[0]) <= TITLE_LENGTH
            and blocks[0][0] not in "|-"
        ):
            title = blocks.pop(0)
        for notes in self._package.related(part, "notesSlide"):
            blocks += self._notes(notes)
        return title, blocks

    def _notes(self, part: str) -> Iterator[str]:
        """The speaker's notes, as a quotation: they are not on the slide."""
        for shape in self._package.tree(part).iterfind("{*}cSld/{*}spTree/{*}sp"):
            lines = [line for line in _lines(shape) if line] if _kind(shape) == "body" else []
            if lines:
                yield "\n".join(f"> {line}" for text in lines for line in as_markdown.paragraph(text).split("\n"))

    def _in_order(self, part: str, tree: Element) -> list[Element]:
        shapes = (shape for shape in _shapes(tree) if _kind(shape) not in _NOT_CONTENT and not _is_panel(shape))
        boxes = [self._box(part, shape) for shape in shapes]
        return [box.shape for box in _reading_order(boxes)]

    def _blocks(self, part: str, shape: Element) -> Iterator[str]:
        match local(shape):
            case "sp":
                yield _text(shape)
            case "grpSp":
                for inner in self._in_order(part, shape):
                    yield from self._blocks(part, inner)
            case "graphicFrame":
                for graphic in shape.iterfind("{*}graphic/{*}graphicData"):
                    for table in graphic.iterfind("{*}tbl"):
                        yield tables.table(_grid(table))
                    yield from drawing.texts(self._package, part, graphic)

    def _box(self, part: str, shape: Element) -> _Box:
        """The place of the shape; if it has none, that of the same placeholder in its layout or master."""
        transform = _transform(shape)
        if transform is None:
            transform = self._inherited(part, shape)
        offset = transform.find("{*}off") if transform is not None else None
        extent = transform.find("{*}ext") if transform is not None else None
        left, top = number(offset, "x", 0), number(offset, "y", 0)
        return _Box(left, top, left + number(extent, "cx", 0), top + number(extent, "cy", 0), shape)

    def _inherited(self, part: str, shape: Element) -> Element | None:
        found = _placeholder(shape)
        if found is None:
            return None
        kind, index = attribute(found, "type"), attribute(found, "idx") or "0"
        for layout in self._package.related(part, "slideLayout"):
            for holder in (layout, *self._package.related(layout, "slideMaster")):
                places = self._placeholders(holder)
                for key in ((kind, index), (None, index) if index != "0" else (kind, ""), (kind or "body", "")):
                    if key in places:
                        return places[key]
        return None

    def _read_placeholders(self, part: str) -> dict[tuple[str | None, str], Element]:
        """Kind and index, or one of them, -> the transform of a placeholder in a layout or master."""
        places: dict[tuple[str | None, str], Element] = {}
        for shape in self._package.tree(part).iterfind("{*}cSld/{*}spTree/{*}sp"):
            found, transform = _placeholder(shape), _transform(shape)
            if found is not None and transform is not None:
                kind, index = attribute(found, "type"), attribute(found, "idx") or "0"
                # A centred title of a slide is a title in the master.
                kinds = {kind, "ctrTitle", "title"} if kind in _TITLES else {kind}
                for key in [(k, i) for k in kinds for i in (index, "")] + [(None, index)]:
                    places.setdefault(key, transform)
        return places


def _shapes(tree: Element) -> Iterator[Element]:
    """In drawing order; if a shape is there in two forms, the first."""
    for child in tree:
        if local(child) == "AlternateContent":
            for choice in child:
                yield from _shapes(choice)
                break
        elif local(child) in _SHAPES and not _is_hidden(child):
            yield child


def _is_hidden(shape: Element) -> bool:
    properties = next(iter(shape), None)
    drawn = properties.find("{*}cNvPr") if properties is not None else None
    return attribute(drawn, "hidden") in ("1", "true")


def _is_panel(shape: Element) -> bool:
    """Whether it is drawn without words, often behind several texts, between which it would leave no gap."""
    return local(shape) == "sp" and not any(line.strip() for line in _lines(shape))


def _placeholder(shape: Element) -> Element | None:
    return (
        shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
        if local(shape) == "sp"
        else shape.find("{*}nvGraphicFramePr/{*}nvPr/{*}ph")
    )


def _kind(shape: Element) -> str | None:
    return attribute(_placeholder(shape), "type")


def _transform(shape: Element) -> Element | None:
    for path in ("{*}xfrm", "{*}spPr/{*}xfrm", "{*}grpSpPr/{*}xfrm"):
        found = shape.find(path)
        if found is not None and found.find("{*}off") is not None:
            return found
    return None


def _relation(slide: Element) -> str | None:
    """The id of the relationship, not the slide's own `id`, which has no namespace."""
    return next((value for key, value in slide.attrib.items() if key.endswith("}id")), None)


def _paragraphs(shape: Element) -> Iterator[Element]:
    yield from shape.iterfind("{*}txBody/{*}p")


def _lines(shape: Element) -> Iterator[str]:
    yield from (drawing.line(paragraph) for paragraph in _paragraphs(shape))


def _text(shape: Element) -> str:
    """A list if its paragraphs have bullets or numbers, otherwise one paragraph each."""
    paragraphs = [paragraph for paragraph in _paragraphs(shape) if drawing.line(paragraph).strip()]
    placeholder = _placeholder(shape)
    by_default = placeholder is not None and _kind(shape) in _LISTS and len(paragraphs) > 1
    out: list[str] = []
    numbers = _Numbers()
    for paragraph in paragraphs:
        properties = paragraph.find("{*}pPr")
        level = min(max(number(properties, "lvl", 0), 0), LEVELS)
        marks = {local(child) for child in properties} if properties is not None else set()
        text = as_markdown.paragraph(drawing.line(paragraph))
        is_item = bool(marks & {"buChar", "buAutoNum", "buBlip"}) or (by_default and "buNone" not in marks)
        mark = numbers.next(level, properties.find("{*}buAutoNum") if properties is not None else None)
        if not is_item:
            out.append(text)
            continue
        indent = "  " * level
        out.append(indent + f"{mark or '-'} {text}".replace("\n", "\n" + indent + "  "))
    return "\n".join(out)


class _Numbers:
    """Counts the paragraphs of a shape; call `next` for each, in order."""

    def __init__(self) -> None:
        self._counts: dict[int, tuple[str, int, int]] = {}
        """level -> the kind, start and number of its last paragraph, if that had a number"""

    def next(self, level: int, numbering: Element | None) -> str:
        """The number before the paragraph; "" if it has none."""
        self._counts = {at: count for at, count in self._counts.items() if at <= level}
        before = self._counts.pop(level, None)
        if numbering is None:
            return ""
        kind, start = attribute(numbering, "type") or "", max(number(numbering, "startAt", 1), 1)
        count = before[2] + 1 if before and before[:2] == (kind, start) else start
        self._counts[level] = (kind, start, count)
        return _written(count, kind)


def _written(count: int, kind: str) -> str:
    """A number as a slide shows it (ISO 29500-1, 20.1.10.61): kinds are named as in arabicParenBoth."""
    text = list_number(count, next((name for start, name in _KINDS.items() if kind.startswith(start)), "decimal"))
    if kind.endswith("ParenBoth"):
        return f"({text})"
    return text + (")" if kind.endswith("ParenR") else "" if kind.endswith("Plain") else ".")


def _grid(table: Element) -> list[list[str]]:
    """A cell that spans rows or named columns is in each of them; rows of a header become one."""
    grid: list[list[str]] = []
    merged: list[list[Cell]] = []
    for row in table.iterfind("{*}tr"):
        line: list[str] = []
        merged.append([])
        for cell in row.iterfind("{*}tc"):
            above = grid[-1] if grid else []
            is_below = attribute(cell, "vMerge") in ("1", "true")
            is_beside = attribute(cell, "hMerge") in ("1", "true")
            goes_on = is_below and not is_beside and len(line) < len(above)
            text = above[len(line)] if goes_on else " ".join(_lines(cell))
            if not is_beside:
                merged[-1].append(Cell(len(line), number(cell, "gridSpan", 1), text, goes_on))
            line.append(text or tables.BESIDE if is_beside else text)
        grid.append(line)
    return with_one_header(grid, merged)


def _reading_order(boxes: Sequence[_Box], gaps: int = GAPS) -> list[_Box]:
    """Bands from top to bottom, in them columns from left to right; boxes that overlap stay in their order.

    The recursive XY-cut (Nagy and Seth, 1984): boxes are separated where a straight gap runs through all of them.
    """
    if len(boxes) < 2 or not gaps:
        return list(boxes)
    for groups in (_with_columns(_parted(boxes, "top", "bottom"), boxes), _parted(boxes, "left", "right")):
        if len(groups) > 1:
            return [box for group in groups for box in _reading_order(group, gaps - 1)]
    return list(boxes)


def _with_columns(bands: list[list[_Box]], boxes: Sequence[_Box]) -> list[list[_Box]]:
    """Makes bands below each other one where a gap runs down through both and they were drawn column by column: each
    name stands above what is compared.
    """
    places = {id(box): place for place, box in enumerate(boxes)}
    joined: list[list[_Box]] = []
    for band in bands:
        if joined and 1 < len(joined[-1]) <= COMPARED and len(band) > 1:
            both = sorted(joined[-1] + band, key=lambda box: places[id(box)])
            columns = _parted(both, "left", "right")
            if len(columns) > 1 and [box for column in columns for box in column] == both:
                joined[-1] = both
                continue
        joined.append(band)
    return joined


def _parted(boxes: Sequence[_Box], low: str, high: str) -> list[list[_Box]]:
    groups: list[list[_Box]] = []
    end, size = float("-inf"), 0.0  # of the box that reaches furthest
    places = {id(box): place for place, box in enumerate(boxes)}
    for box in sorted(boxes, key=lambda box: getattr(box, low)):
        start, stop = getattr(box, low), getattr(box, high)
        if start < end - OVERLAP * min(stop - start, size):
            groups[-1].append(box)
        else:
            groups.append([box])
        if stop >= end:
            end, size = stop, stop - start
    return [sorted(group, key=lambda box: places[id(box)]) for group in groups]
