"""The cells between the lines that are drawn on a PDF's page."""

import ctypes
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise, product

import pypdfium2.raw as pdfium
from pypdfium2 import PdfObject, PdfPage

from index_store.parsing.loaders.pdf.upright import Box, turned_back
from index_store.parsing.loaders.sheet import Span

NEAR = 4
"""points; rules that are closer are one, such as double ones, and those that end closer to another meet it"""
SHORTEST = 5
"""points of a rule"""
EDGES = 50_000
"""of the paths of a page that are read; drawings have more"""
PAIRS = 500_000
"""of rules that may meet; with more, there is no table"""
CELLS = 10_000
"""of a table at most"""
TABLES = 50
"""of a page at most; with more, it is a drawing"""


@dataclass(frozen=True)
class Rule:
    """A straight line from `begin` to `end`; `place` is across it."""

    place: float
    begin: float
    end: float


@dataclass(frozen=True)
class Grid:
    """Rules that meet: heights from the top, places from the left, and the cells between them."""

    heights: Sequence[float]
    places: Sequence[float]
    spans: Sequence[Sequence[Span | None]]
    """for each row and column the cell; None outside the rules"""

    def cell_at(self, box: Box) -> Span | None:
        """The cell with the middle of the box."""
        column = bisect_right(self.places, (box[0] + box[1]) / 2) - 1
        row = bisect_right(self.heights, -(box[2] + box[3]) / 2) - 1
        if not (0 <= row < len(self.spans) and 0 <= column < len(self.spans[0])):
            return None
        return self.spans[row][column]

    def sides(self, cell: Span) -> tuple[float, float]:
        return self.places[cell.left], self.places[cell.right + 1]


def grids(page: PdfPage, turn: int) -> list[Grid]:
    """Those of two rows and two columns at least, on the page after `turn` quarter turns to the left."""
    horizontal: list[Rule] = []
    vertical: list[Rule] = []
    paths = page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_PATH], max_depth=1)
    for edge in islice(chain.from_iterable(map(_edges, paths)), EDGES):
        left, right, bottom, top = turned_back(edge, turn)
        if top - bottom < NEAR < SHORTEST < right - left:
            horizontal.append(Rule(-(top + bottom) / 2, left, right))
        elif right - left < NEAR < SHORTEST < top - bottom:
            vertical.append(Rule((left + right) / 2, -top, -bottom))
    found = [grid for group in _groups(_joined(horizontal), _joined(vertical)) if (grid := _grid(*group))]
    return found if len(found) <= TABLES else []


def _edges(path: PdfObject) -> Iterator[Box]:
    """The straight edges of a path that is drawn."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, ctypes.byref(fill), ctypes.byref(stroke))
    count = pdfium.FPDFPath_CountSegments(path)
    if not (fill.value or stroke.value):
        return
    matrix = path.get_matrix()
    first = last = (0.0, 0.0)
    for at in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(path, at)
        x, y = ctypes.c_float(), ctypes.c_float()
        pdfium.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
        point = matrix.on_point(x.value, y.value)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            first = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield _between(last, point)
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield _between(point, first)
        last = point


def _between(one: tuple[float, float], other: tuple[float, float]) -> Box:
    return min(one[0], other[0]), max(one[0], other[0]), min(one[1], other[1]), max(one[1], other[1])


def _joined(rules: list[Rule]) -> list[Rule]:
    """Those in one line that meet become one: programs draw each side of each cell."""
    at_place: defaultdict[float, list[Rule]] = defaultdict(list)
    places = _apart(rule.place for rule in rules)
    for rule in rules:
        at_place[places[max(bisect_right(places, rule.place) - 1, 0)]].append(rule)
    joined = []
    for place, found in at_place.items():
        found.sort(key=lambda rule: rule.begin)
        begin, end = found[0].begin, found[0].end
        for rule in found[1:]:
            if rule.begin > end + NEAR:
                joined.append(Rule(place, begin, end))
                begin, end = rule.begin, rule.end
            end = max(end, rule.end)
        joined.append(Rule(place, begin, end))
    return joined


def _apart(places: Iterable[float]) -> list[float]:
    """In order; of those that are close to each other, the first."""
    apart: list[float] = []
    for place in sorted(places):
        if not apart or place > apart[-1] + NEAR:
            apart.append(place)
    return apart


def _groups(horizontal: list[Rule], vertical: list[Rule]) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Those that meet each other, directly or by others."""
    if len(horizontal) * len(vertical) > PAIRS:
        return
    left, right = set(horizontal), set(vertical)
    while left:
        group: tuple[list[Rule], list[Rule]] = ([], [])
        waiting = [(left.pop(), 0)]
        while waiting:
            rule, side = waiting.pop()
            group[side].append(rule)
            others = (right, left)[side]
            met = {other for other in others if _meet(rule, other)}
            others -= met
            waiting += [(other, 1 - side) for other in met]
        yield group


def _meet(rule: Rule, other: Rule) -> bool:
    return other.begin - NEAR <= rule.place <= other.end + NEAR and rule.begin - NEAR <= other.place <= rule.end + NEAR


def _grid(horizontal: list[Rule], vertical: list[Rule]) -> Grid | None:
    # The outer rules of a table may be missing.
    heights = _apart([place for rule in vertical for place in (rule.begin, rule.end)] + [r.place for r in horizontal])
    places = _apart([place for rule in horizontal for place in (rule.begin, rule.end)] + [r.place for r in vertical])
    rows, columns = len(heights) - 1, len(places) - 1
    if rows < 2 or columns < 2 or rows * columns > CELLS:
        return None
    across, down = _walls(horizontal, heights, places), _walls(vertical, places, heights)
    spans: list[list[Span | None]] = [[None] * columns for _ in range(rows)]
    seen: set[tuple[int, int]] = set()
    for start in product(range(rows), range(columns)):
        if start in seen:
            continue
        cell = {start}
        waiting = [start]
        while waiting:
            row, column = waiting.pop()
            for step, wall in (
                ((row, column + 1), (column + 1, row) in down),
                ((row, column - 1), (column, row) in down),
                ((row + 1, column), (row + 1, column) in across),
                ((row - 1, column), (row, column) in across),
            ):
                if not wall and step not in cell and 0 <= step[0] < rows and 0 <= step[1] < columns:
                    cell.add(step)
                    waiting.append(step)
        seen |= cell
        tops, lefts = [row for row, _ in cell], [column for _, column in cell]
        span = Span(min(tops), min(lefts), max(tops), max(lefts))
        # Another shape is what is around a drawing.
        if len(cell) == (span.bottom - span.top + 1) * (span.right - span.left + 1):
            for row, column in cell:
                spans[row][column] = span
    return Grid(heights, places, spans)


def _walls(rules: list[Rule], places: Sequence[float], along: Sequence[float]) -> set[tuple[int, int]]:
    """Which of `places`, and which part of it between two of `along`, has a rule."""
    walls = set()
    for rule in rules:
        at = max(bisect_right(places, rule.place) - 1, 0)
        walls |= {
            (at, part)
            for part, (begin, end) in enumerate(pairwise(along))
            if rule.begin - NEAR <= (begin + end) / 2 <= rule.end + NEAR
        }
    return walls
