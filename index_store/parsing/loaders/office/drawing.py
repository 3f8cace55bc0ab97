"""Drawings in an Office file that contain words: charts and diagrams (SmartArt)."""

import re
from collections.abc import Iterator

from index_store.parsing.loaders.markdown import as_markdown, tables
from index_store.parsing.loaders.office import formula
from index_store.parsing.loaders.office.excel.number_format import shown_text
from index_store.parsing.loaders.office.package import Element, Package, attribute, is_on, local, number
from index_store.parsing.loaders.office.symbol_fonts import CHARACTERS

POINTS = 2000
"""of a series that are read; a longer series is a measurement that nobody looks up"""

_SYMBOLS = re.compile(r"[\uf000-\uf0ff]|(?<!\w)[\x80-\xff](?!\w)")
"""characters that a font for symbols alone is for: an arrow is written as the à of another font"""


def texts(package: Package, part: str, graphic: Element, with_charts: bool = True) -> Iterator[str]:
    """The texts of the `graphicData` of a drawing in `part`, block by block; nothing for pictures."""
    for child in graphic:
        match local(child):
            case "chart" if with_charts:
                target = package.target(part, attribute(child, "id"))
                if target:
                    yield from _chart(package.tree(target))
            case "relIds":
                target = package.target(part, attribute(child, "dm"))
                if target:
                    yield from _diagram(package.tree(target))


def _chart(root: Element) -> Iterator[str]:
    """Its title, those of its axes, which have the unit, and its values as tables."""
    for place in ("{*}title", "{*}plotArea/*/{*}title"):
        yield from filter(None, (as_markdown.paragraph(words(title)) for title in root.iterfind(f"{{*}}chart/{place}")))
    is_1904 = is_on(root.find("{*}date1904"))
    together: dict[tuple[str, ...], list[Element]] = {}
    for series in root.iterfind(".//{*}ser"):
        # Categories are those of all series; points stand where their own series says.
        together.setdefault(tuple(_points(series.find("{*}xVal"), is_1904).values()), []).append(series)
    for all_series in together.values():
        text = _values(all_series, is_1904)
        if text:
            yield text


def _values(all_series: list[Element], is_1904: bool) -> str:
    """One row per category or place, one column per series."""
    rows: dict[int, str] = {}
    columns: list[tuple[str, dict[int, str]]] = []
    for series in all_series:
        rows |= _points(_first(series, "cat", "xVal"), is_1904)
        name = series.findtext("{*}tx/{*}v") or " ".join(_points(series.find("{*}tx"), is_1904).values())
        columns.append((name, _points(_first(series, "val", "yVal"), is_1904)))
    places = sorted(rows.keys() | {at for _, values in columns for at in values})
    grid = [["", *(name for name, _ in columns)]]
    grid += [[rows.get(at, str(at + 1)), *(values.get(at, "") for _, values in columns)] for at in places]
    return tables.table(grid) if places else ""


def _first(element: Element, *names: str) -> Element | None:
    return next((found for name in names if (found := element.find(f"{{*}}{name}")) is not None), None)


def _points(data: Element | None, is_1904: bool) -> dict[int, str]:
    """Place -> value, from the copy of its sheet's values that the chart holds."""
    found: dict[int, str] = {}
    if data is None:
        return found
    format_of_all = data.findtext(".//{*}formatCode")
    for point in data.iterfind(".//{*}pt"):
        at = number(point, "idx", 0)
        value, code = point.findtext("{*}v") or "", attribute(point, "formatCode") or format_of_all
        value = shown_text(value, code, is_1904) if code else value
        # Categories of several levels: the innermost comes first.
        found[at] = " ".join(filter(None, [value, found.get(at, "")]))
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
    return as_markdown.with_raised(as_markdown.with_struck(_text(paragraph))).replace("\v", "\n")


def _text(element: Element) -> str:
    parts: list[str] = []
    for child in element:
        match local(child):
            case "t":
                properties = element.find("{*}rPr")
                text = _in_font(properties, child.text or "")
                text = as_markdown.raised(text) if number(properties, "baseline", 0) > 0 else text
                is_struck = attribute(properties, "strike") in ("sngStrike", "dblStrike")
                parts.append(as_markdown.struck(text) if is_struck else text)
            case "br":
                parts.append("\n")
            case _ if formula.is_part(child):
                parts.append(formula.written(child, _text, parts[-1] if parts else ""))
            case _:
                parts.append(_text(child))
    return "".join(parts)


def _in_font(properties: Element | None, text: str) -> str:
    """The text as the fonts of its run show it."""
    if properties is None:
        return text
    of_letters = CHARACTERS.get(attribute(properties.find("{*}latin"), "typeface") or "")
    if of_letters:
        return text.translate(of_letters)
    of_symbols = CHARACTERS.get(attribute(properties.find("{*}sym"), "typeface") or "")
    return _SYMBOLS.sub(lambda found: found[0].translate(of_symbols), text) if of_symbols else text
