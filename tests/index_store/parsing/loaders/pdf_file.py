"""Makes small PDF files for tests: lines of text at given places, an outline, forms and comments."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(frozen=True)
class Text:
    """A line of text that starts x, y points from the lower left corner. If it isn't ASCII, its font is Japanese."""

    x: float
    y: float
    text: str
    size: int = 12
    """font size in points"""
    paint: str = ""
    """PDF operators before it, such as 1 g for white and 3 Tr for invisible"""


SCAN = "600 0 0 400 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID 0 EI"
"""PDF operators: a picture over half of the page"""


def painted(operators: str) -> Text:
    """What they draw, without text."""
    return Text(0, 0, " ", paint=operators)


def rule(left: float, bottom: float, right: float, top: float) -> Text:
    return painted(f"{left} {bottom} m {right} {top} l S")


def rules(columns: Sequence[float], heights: Sequence[float]) -> list[Text]:
    """Each side of each cell, as programs draw them."""
    across = [rule(left, y, right, y) for y in heights for left, right in pairwise(columns)]
    return across + [rule(x, bottom, x, top) for x in columns for top, bottom in pairwise(heights)]


@dataclass(frozen=True)
class Annotation:
    """Something that was put onto a page later; its text starts x, y points from the lower left corner."""

    kind: str
    """as PDF calls it: Widget, which is a field of a form, FreeText, Text (a comment), Popup, Link"""
    x: float
    y: float
    text: str
    is_drawn: bool = True
    """whether the file says how it looks; otherwise it only has the text"""
    step: int = 0
    """points from each character to the next, if each has a box of its own"""


@dataclass
class PdfFile:
    pages: list[list[Text]]
    outline: list[tuple[str, int]] = field(default_factory=list)
    """title and page, from 0"""
    title: str = ""
    """in the metadata of the file"""
    annotations: list[Annotation] = field(default_factory=list)
    """of the first page"""

    def content(self) -> bytes:
        objects = [
            b"",  # the catalogue, written below, when the number of the outline is known
            b"",  # the list of pages, written below, when their numbers are known
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            b"<< /Type /Font /Subtype /Type0 /BaseFont /MSGothic /Encoding /90ms-RKSJ-H /DescendantFonts [5 0 R] >>",
            b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /MSGothic /DW 1000 /FontDescriptor 6 0 R"
            b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> >>",
            b"<< /Type /FontDescriptor /FontName /MSGothic /Flags 4 /FontBBox [0 -136 1000 859] /ItalicAngle 0"
            b" /Ascent 859 /Descent -136 /CapHeight 700 /StemV 80 >>",
        ]
        annotations = []
        for annotation in self.annotations:
            objects.append(_stream(_drawn_entry(annotation), b" /Subtype /Form /BBox [0 0 200 20]" + FONTS))
            objects.append(_annotation(annotation, b"<< /N %d 0 R >>" % len(objects)))
            annotations.append(b"%d 0 R" % len(objects))
        pages = []
        for page in self.pages:
            objects.append(_stream(b"".join(map(_drawn, page))))
            objects.append(
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R%s /Annots [%s] >>"
                % (len(objects), FONTS, b"" if pages else b" ".join(annotations))
            )
            pages.append(len(objects))
        objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (
            len(pages), b" ".join(b"%d 0 R" % number for number in pages),
        )  # fmt: skip
        first = len(objects) + 2
        last = first + len(self.outline) - 1
        objects.append(b"<< /Type /Outlines /First %d 0 R /Last %d 0 R /Count %d >>" % (first, last, len(self.outline)))
        objects[0] = b"<< /Type /Catalog /Pages 2 0 R%s%s >>" % (
            b" /Outlines %d 0 R" % len(objects) if self.outline else b"",
            b" /AcroForm << /Fields [%s] /DA (/E 12 Tf) /DR << /Font << /E 3 0 R >> >> >>" % b" ".join(annotations)
            if any(annotation.kind == "Widget" for annotation in self.annotations)
            else b"",
        )
        for number, (title, page) in enumerate(self.outline, first):
            following = b" /Next %d 0 R" % (number + 1) if number < last else b""
            objects.append(
                b"<< /Title <%s> /Parent %d 0 R /Dest [%d 0 R /Fit]%s >>"
                % (_encoded(title), first - 1, pages[page], following)
            )
        objects.append(b"<< /Title <%s> >>" % _encoded(self.title))
        return _file(objects)


FONTS = b" /Resources << /Font << /E 3 0 R /J 4 0 R >> >>"


def _stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d%s >> stream\n%s\nendstream" % (len(content), entries, content)


def _annotation(annotation: Annotation, appearance: bytes) -> bytes:
    place = b"%d %d %d %d" % (annotation.x - 2, annotation.y - 4, annotation.x + 198, annotation.y + 16)
    text = _encoded(annotation.text)
    return b"<< /Type /Annot /Subtype /%s /F 4 /Rect [%s] /Contents <%s> %s >>" % (
        annotation.kind.encode(),
        place,
        text,
        b"/FT /Tx /Ff %d /T <%s> /V <%s> /DA (/E 12 Tf)" % (bool(annotation.step) << 24, text, text)
        + (b" /AP %s" % appearance if annotation.is_drawn else b""),
    )


def _drawn(line: Text) -> bytes:
    font = b"/E" if line.text.isascii() else b"/J"
    text = line.text.encode("cp932").hex().encode()
    place = b"%d %d Td" % (line.x, line.y)
    return b"q BT %s %s %d Tf %s <%s> Tj ET Q\n" % (line.paint.encode(), font, line.size, place, text)


def _drawn_entry(annotation: Annotation) -> bytes:
    if not annotation.step:
        return _drawn(Text(2, 4, annotation.text))
    return b"".join(_drawn(Text(2 + annotation.step * at, 4, text)) for at, text in enumerate(annotation.text))


def _encoded(text: str) -> bytes:
    return (b"\xfe\xff" + text.encode("utf-16-be", "surrogatepass")).hex().encode()


def _file(objects: list[bytes]) -> bytes:
    """The whole file. The last object is its metadata."""
    out = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    trailer = b"<< /Size %d /Root 1 0 R /Info %d 0 R >>" % (size, len(objects))
    table = b"0 %d\n0000000000 65535 f \n%s" % (size, table)
    return out + b"xref\n%strailer %s\nstartxref\n%d\n%%%%EOF\n" % (table, trailer, len(out))
