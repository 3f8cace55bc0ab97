"""What lies over the cells of a sheet: text boxes, diagrams, charts, and the controls of a form with their state."""

import logging
import re
from collections.abc import Iterator, Mapping

from index_store.base.errors import Unreadable
from index_store.parsing.loaders.markdown import as_markdown
from index_store.parsing.loaders.office import drawing
from index_store.parsing.loaders.office.package import Element, Package, attribute, local

log = logging.getLogger(__name__)

_MARKS = {"checkbox": ("☐", "☑"), "radio": ("○", "◉")}
"""kind of a control -> what is before its words, off and on"""
_OLD_NAME = re.compile(r"_x0000_s(\d{1,9})")


def blocks(package: Package, sheet: str, controls: Mapping[str, str], with_charts: bool) -> Iterator[str]:
    """`controls`: the number of each control's shape -> the id of its relationship.

    `with_charts`: they show the values of cells, so they are read only if there are none.
    """
    marks = {}
    for number, reference in controls.items():
        part = package.target(sheet, reference)
        if part:
            state = package.tree(part)
            marks[number] = _mark(attribute(state, "objectType"), attribute(state, "checked") == "Checked")
    seen = set()
    for part in package.related(sheet, "drawing"):
        for element in _read(package.tree(part)):
            if local(element) == "graphicData":
                yield from drawing.texts(package, part, element, with_charts)
                continue
            number = attribute(element.find("../{*}nvSpPr/{*}cNvPr"), "id") or ""
            seen.add(number)
            lines = (as_markdown.paragraph(drawing.line(p)) for p in element.iterfind("{*}p"))
            yield _labelled(marks.get(number, ""), "\n".join(filter(None, lines)))
    for part in package.related(sheet, "vmlDrawing"):
        yield from _old_controls(package, part, seen)


def _read(element: Element) -> Iterator[Element]:
    """The texts and graphics, without what stands in for them in older programs."""
    for child in element:
        if local(child) in ("txBody", "graphicData"):
            yield child
        elif local(child) != "Fallback":
            yield from _read(child)


def _old_controls(package: Package, part: str, seen: set[str]) -> Iterator[str]:
    """Controls as Excel has stored them since 2000; newer files have most of them as drawings, too."""
    try:
        root = package.tree(part)
    except Unreadable:
        # Old versions of Excel wrote HTML into it.
        log.info("a drawing of %s can't be read", package.name)
        return
    for shape in root.iter("{*}shape"):
        data = shape.find("{*}ClientData")
        mark = _mark(attribute(data, "ObjectType"), data is not None and data.findtext("{*}Checked") == "1")
        name = _OLD_NAME.fullmatch(attribute(shape, "id") or "")
        box = shape.find("{*}textbox")
        if mark and not (name and name[1] in seen):
            yield _labelled(mark, as_markdown.paragraph("".join(map(str, box.itertext())) if box is not None else ""))


def _mark(kind: str | None, is_on: bool) -> str:
    return _MARKS.get((kind or "").lower(), ("", ""))[is_on]


def _labelled(mark: str, text: str) -> str:
    return f"{mark} {text}".strip()
