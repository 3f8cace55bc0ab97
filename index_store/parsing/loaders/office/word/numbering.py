"""The numbers that Word shows before paragraphs and does not store: 1.2, (a), 第3条.

People ask for a rule by its number, so the number must be part of the text.
"""

import re
from dataclasses import dataclass, replace

from index_store.parsing.loaders.markdown.list_number import list_number
from index_store.parsing.loaders.office.package import Element, Package, attribute, number

BULLET = "-"

LEVELS = 9
"""of a list (ISO 29500-1, 17.9.6)"""


@dataclass(frozen=True)
class _Level:
    format: str = "decimal"
    text: str = ""
    start: int = 1
    is_legal: bool = False
    """all numbers in digits, whatever their own levels say"""
    restarts_after: int = LEVELS
    """how many of the outer levels make it start again; 0: it runs on through the whole document"""


@dataclass
class _Counter:
    last: int | None = None
    """None before the first paragraph"""


@dataclass(frozen=True)
class _List:
    levels: dict[int, _Level]
    counters: list[_Counter]
    """by level; lists of one pattern share those of the levels that they don't start themselves"""


class Numbering:
    """Counts as it is called: call `label` for each numbered paragraph, in order."""

    def __init__(self, package: Package, document: str) -> None:
        self._lists: dict[str, _List] = {}
        for part in package.related(document, "numbering"):
            root = package.tree(part)
            patterns = _patterns(root)
            for element in root.iterfind("{*}num"):
                pattern = patterns.get(attribute(element.find("{*}abstractNumId"), "val"))
                if pattern:
                    self._lists[attribute(element, "numId") or ""] = _changed(pattern, element)

    def label(self, list_id: str, level: int) -> str | None:
        """The mark before the paragraph: BULLET, its number, or "" for nothing; None if there is no such list."""
        found = self._lists.get(list_id)
        if found is None or level not in found.levels:
            return None
        kind = found.levels[level]
        counter = found.counters[level]
        counter.last = kind.start if counter.last is None else counter.last + 1
        for at in range(level + 1, LEVELS):
            if level < found.levels.get(at, _Level()).restarts_after:
                found.counters[at].last = None
        if kind.format == "bullet":
            return BULLET
        if kind.format == "none":
            return re.sub(r"%\d", "", kind.text).strip()

        def counted(place: re.Match[str]) -> str:
            at = int(place[1]) - 1
            of = found.levels.get(at, kind)
            last = found.counters[at].last
            return list_number(of.start if last is None else last, "decimal" if kind.is_legal else of.format)

        return re.sub(r"%([1-9])", counted, kind.text).strip()


def _patterns(root: Element) -> dict[str | None, _List]:
    """Id -> the pattern of lists; one that only names a list style is that of the style."""
    patterns: dict[str | None, _List] = {}
    of_style: dict[str | None, _List] = {}
    for element in root.iterfind("{*}abstractNum"):
        levels = dict(map(_level, element.iterfind("{*}lvl")))
        pattern = _List(levels, [_Counter() for _ in range(LEVELS)])
        patterns[attribute(element, "abstractNumId")] = pattern
        style = element.find("{*}styleLink")
        if style is not None:
            of_style[attribute(style, "val")] = pattern
    for element in root.iterfind("{*}abstractNum"):
        link = element.find("{*}numStyleLink")
        if link is not None and (linked := of_style.get(attribute(link, "val"))):
            patterns[attribute(element, "abstractNumId")] = linked
    return patterns


def _changed(pattern: _List, element: Element) -> _List:
    """The list of this `num`: its pattern, with the levels that it replaces and the numbers with which it starts."""
    levels, counters = dict(pattern.levels), list(pattern.counters)
    for change in element.iterfind("{*}lvlOverride"):
        levels |= map(_level, change.iterfind("{*}lvl"))
        at = number(change, "ilvl", 0)
        start = change.find("{*}startOverride")
        if start is not None and at in levels:
            levels[at] = replace(levels[at], start=number(start, "val", levels[at].start))
            counters[at] = _Counter()
    return _List(levels, counters)


def _level(element: Element) -> tuple[int, _Level]:
    level = _Level(
        attribute(element.find("{*}numFmt"), "val") or "decimal",
        attribute(element.find("{*}lvlText"), "val") or "",
        number(element.find("{*}start"), "val", 0),
        element.find("{*}isLgl") is not None,
        number(element.find("{*}lvlRestart"), "val", LEVELS),
    )
    return min(max(number(element, "ilvl", 0), 0), LEVELS - 1), level
