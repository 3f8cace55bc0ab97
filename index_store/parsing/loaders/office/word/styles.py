"""The meaning of the paragraph styles in a Word document: which are headings, whatever their names in its language."""

import re
from dataclasses import dataclass, replace

from index_store.parsing.loaders.office.package import Element, Package, attribute, is_on, number

HEADING = re.compile(r"(?:heading|見出し|标题|標題|제목|überschrift|titre|título|titolo) ?([1-9])", re.I)
"""Word writes the English name in every language; other programs write their own"""
_CONTENTS = re.compile(r"(toc|目次|table of figures|図表目次|index) ?\d*$", re.I)

BODY_LEVEL = 9
"""the outline level that means body text (ISO 29500-1, 17.3.1.20)"""
BASES = 20
"""styles in a chain, each based on the next; this limit ends a circle"""


@dataclass(frozen=True)
class Style:
    level: int = 0
    """of a heading, from 1; 0 for text"""
    is_title: bool = False
    is_contents: bool = False
    """a line of a table of contents, which repeats the headings"""
    is_hidden: bool = False
    is_raised: bool = False
    numbering: str | None = None
    """the list that numbers its paragraphs, and the level in it"""
    numbering_level: int | None = None


class Styles:
    def __init__(self, package: Package, document: str) -> None:
        self._elements: dict[str, Element] = {}
        self._styles: dict[str | None, Style] = {}
        self._default = None
        for part in package.related(document, "styles"):
            for element in package.tree(part).iterfind("{*}style"):
                if attribute(element, "type") in ("paragraph", "character"):
                    self._elements[attribute(element, "styleId") or ""] = element
                if attribute(element, "type") == "paragraph" and is_on_attribute(element, "default"):
                    self._default = attribute(element, "styleId")

    def __getitem__(self, style_id: str | None) -> Style:
        style_id = style_id or self._default
        if style_id not in self._styles:
            self._styles[style_id] = self._read(style_id, BASES)
        return self._styles[style_id]

    def _read(self, style_id: str | None, bases: int) -> Style:
        element = self._elements.get(style_id or "")
        if element is None:
            found = HEADING.fullmatch(style_id or "")  # for a document without its styles
            return Style(level=int(found[1])) if found else Style()
        based_on = attribute(element.find("{*}basedOn"), "val")
        style = self._read(based_on, bases - 1) if based_on and bases else Style()
        name = attribute(element.find("{*}name"), "val") or ""
        found = HEADING.fullmatch(name)
        if found:
            style = replace(style, level=int(found[1]), is_title=False)
        elif name.lower() in ("title", "表題", "タイトル"):
            style = replace(style, is_title=True, level=1)
        elif name.lower() in ("subtitle", "副題", "サブタイトル"):
            style = replace(style, is_title=False, level=0)
        elif _CONTENTS.match(name):
            style = replace(style, is_contents=True, level=0)
        outline = element.find("{*}pPr/{*}outlineLvl")
        if outline is not None and not found and not style.is_title:
            level = number(outline, "val", BODY_LEVEL)
            style = replace(style, level=level + 1 if level < BODY_LEVEL else 0)
        if is_on(element.find("{*}rPr/{*}vanish")):
            style = replace(style, is_hidden=True)
        position = attribute(element.find("{*}rPr/{*}vertAlign"), "val")
        if position:
            style = replace(style, is_raised=position == "superscript")
        numbering = element.find("{*}pPr/{*}numPr")
        if numbering is not None:
            list_id = attribute(numbering.find("{*}numId"), "val")
            style = replace(
                style,
                numbering=list_id if list_id is not None else style.numbering,
                numbering_level=number(numbering.find("{*}ilvl"), "val", style.numbering_level or 0),
            )
        return style


def is_on_attribute(element: Element, name: str) -> bool:
    return attribute(element, name) in ("1", "true", "on")
