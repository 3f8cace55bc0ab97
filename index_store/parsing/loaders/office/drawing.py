"""Drawings in an Office file that contain words: charts and diagrams (SmartArt)."""

from collections.abc import Iterator

from index_store.parsing.loaders import as_markdown
from index_store.parsing.loaders.office import formula
from index_store.parsing.loaders.office.package import Element, Package, attribute, local, number

POINTS = 2000
"""of a series that are read; a longer series is a measurement that nobody looks up"""


def texts(package: Package, part: str, graphic: Element) -> Iterator[str]:
    """The texts of the `graphicData` of a drawing in `part`, block by block; nothing for pictures."""
    for child in graphic:
        match local(child):
            case "chart":
                target = package.target(part, attribute(child, "id"))
                if target:
                    yield from _chart(package.tree(target))
            case "relIds":
                target = package.target(part, attribute(child, "dm"))
                if target:
                    yield from _diagram(package.tree(target))


def _chart(root: Element) -> Iterator[str]:
    """Its title, and a table of its values: one row per category, one column per series."""
    title = root.find("{*}chart/{*}title")
    if title is not None:
        yield as_markdown.paragraph(words(title))
    series = list(root.iterfind(".//{*}ser"))
    rows: dict[int, str] = {}
    columns: list[tuple[str, dict[int, str]]] = []
    for one in series:
        rows |= _points(one.find("{*}cat") if one.find("{*}cat") is not None else one.find("{*}xVal"))
        values = one.find("{*}val") if one.find("{*}val") is not None else one.find("{*}yVal")
        columns.append((" ".join(_points(one.find("{*}tx")).values()), _points(values)))
    places = sorted(rows.keys() | {at for _, values in columns for at in values})
    grid = [["", *(name for name, _ in columns)]]
    grid += [[rows.get(at, str(at + 1)), *(values.get(at, "") for _, values in columns)] for at in places]
    text = as_markdown.table(grid) if places else ""
    if text:
        yield text


def _points(data: Element | None) -> dict[int, str]:
    """Place -> value, from the copy of its sheet's values that the chart holds."""
    found: dict[int, str] = {}
    if data is None:
        return found
    for point in data.iterfind(".//{*}pt"):
        at = number(point, "idx", 0)
        # Categories of several levels: the innermost comes first.
        found[at] = " ".join(filter(None, [point.findtext("{*}v") or "", found.get(at, "")]))
        if len(found) >= POINTS:
            break
    return found


def _diagram(root: Element) -> Iterator[str]:
    points = (words(point) for point in root.iterfind("{*}ptLst/{*}pt") if attribute(point, "type") != "pres")
    items = [f"- {text}" for text in points if text]
    if items:
        yield "\n".join(items)


def words(element: Element) -> str:
    """All text below an element of a drawing, with a space between paragraphs."""
    return as_markdown.squeezed(" ".join(line(paragraph) for paragraph in element.iter("{*}p")))


def line(paragraph: Element) -> str:
    """The text of a paragraph of a drawing, with its line breaks."""
    return as_markdown.with_raised(_text(paragraph)).replace("\v", "\n")


def _text(element: Element) -> str:
    parts: list[str] = []
    for child in element:
        match local(child):
            case "t":
                is_raised = number(element.find("{*}rPr"), "baseline", 0) > 0
                parts.append(as_markdown.raised(child.text or "") if is_raised else child.text or "")
            case "br":
                parts.append("\n")
            case _ if formula.is_part(child):
                parts.append(formula.written(child, _text, parts[-1] if parts else ""))
            case _:
                parts.append(_text(child))
    return "".join(parts)
