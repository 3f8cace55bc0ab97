"""The layout of a pipeline's graph: nodes and edges in layers, from top to bottom.

Nodes are in the order in which the pipeline names them, each below all nodes that lead to it. An edge to the next layer
goes there directly. An edge that skips layers goes down in a lane on the right; an edge back goes up in a lane on the
left. Edges to the same node share a lane. So no line crosses a box: lanes are beside all boxes, and a horizontal line
is between two layers, at its own height.

The width of a drawing is WIDTH; it is stretched to the available width. Vertical lengths are pixels.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from rag.trace.derived.path import END, START, Edge, PipelineGraph

WIDTH = 400
BOX_WIDTH, BOX_HEIGHT = 220.0, 32.0
"""largest size; two lines of text"""
ENDS = (76.0, 22.0)
"""width and height of start and end"""
BETWEEN = 10.0
"""horizontal distance of two boxes"""
LANE = 8.0
"""distance of two lanes, and of two horizontal lines"""
LABEL = 15.0
"""height of a reason, and so the distance of two lines that may have one"""
STUB = 5.0
"""from a box to the first horizontal line"""
HEAD = 10.0
"""from the last horizontal line to a box: space for the head of an arrow"""
RADIUS = 6.0
"""radius of the corners of lines"""


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height


Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Layout:
    height: float
    boxes: dict[str, Box]
    """by node"""
    lines: dict[Edge, Points]
    """from corner to corner, alternately vertical and horizontal"""
    labels: dict[Edge, Box]
    """the space for the reason of an edge, if it can have one"""


@cache
def layout_of(flow: PipelineGraph) -> Layout:
    return _Drawing(flow).layout()


class _Drawing:
    def __init__(self, flow: PipelineGraph) -> None:
        self.flow = flow
        self.order = {node: place for place, node in enumerate(flow.nodes)}
        self.layer_of = self._layers()
        self.layers = [
            [node for node in flow.nodes if self.layer_of[node] == layer]
            for layer in range(max(self.layer_of.values()) + 1)
        ]
        self.left = self._lanes([edge for edge in flow.edges if self._goes_back(edge)])
        self.right = self._lanes([edge for edge in flow.edges if self._skips(edge)])

    def layout(self) -> Layout:
        boxes: dict[str, Box] = {}
        across: dict[Edge, float] = {}
        entries: dict[tuple[str, bool], float] = {}
        y = 0.0
        for layer, nodes in enumerate(self.layers):
            y = self._enter(nodes, entries, y)
            boxes |= self._row(nodes, y)
            y = self._leave(layer, across, max(boxes[node].bottom for node in nodes))
        lines = {edge: self._line(edge, boxes, across, entries) for edge in self.flow.edges}
        labels = {edge: self._label(edge, boxes, across) for edge in self.flow.edges if edge in self.flow.decided}
        return Layout(max(box.bottom for box in boxes.values()), boxes, lines, labels)

    def _goes_back(self, edge: Edge) -> bool:
        return self.order[edge.to] <= self.order[edge.source]

    def _skips(self, edge: Edge) -> bool:
        return self.layer_of[edge.to] > self.layer_of[edge.source] + 1

    def _layers(self) -> dict[str, int]:
        """The layer of each node: one below the lowest node that leads to it."""
        layer_of = dict.fromkeys(self.flow.nodes, 0)
        for node in self.flow.nodes:  # all nodes that lead to it come before it
            above = [layer_of[edge.source] for edge in self.flow.edges if edge.to == node and not self._goes_back(edge)]
            layer_of[node] = max(above, default=-1) + 1
        return layer_of

    def _lanes(self, edges: Sequence[Edge]) -> dict[str, int]:
        """The lane of each node to which these edges lead, from the boxes outwards; shorter edges are nearer."""
        spans: dict[str, tuple[int, int]] = {}
        for edge in edges:
            gaps = (self.layer_of[edge.source], self.layer_of[edge.to] - 1)
            spans[edge.to] = (
                min(*gaps, *spans.get(edge.to, gaps)),
                max(*gaps, *spans.get(edge.to, gaps)),
            )
        taken: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        lanes: dict[str, int] = {}
        for to, (first, last) in sorted(spans.items(), key=lambda each: each[1][1] - each[1][0]):
            lane = 0
            while any(first <= end and start <= last for start, end in taken[lane]):
                lane += 1
            taken[lane].append((first, last))
            lanes[to] = lane
        return lanes

    @property
    def _inside(self) -> tuple[float, float]:
        """Left and right limit of the space between the lanes."""
        left, right = (max(lanes.values(), default=-1) + 1 for lanes in (self.left, self.right))
        return left * LANE + 2, WIDTH - right * LANE - 2

    def _enter(self, nodes: Sequence[str], entries: dict[tuple[str, bool], float], y: float) -> float:
        """Adds the lines below `y` from the lanes to these nodes, in `entries`; returns where the nodes begin."""
        for node in nodes:
            for goes_back, lanes in ((True, self.left), (False, self.right)):
                if node in lanes:
                    entries[node, goes_back] = y
                    y += LANE
        return y + HEAD if nodes != [START] else y

    def _row(self, nodes: Sequence[str], y: float) -> dict[str, Box]:
        start, stop = self._inside
        column = (stop - start) / len(nodes)
        boxes = {}
        for place, node in enumerate(nodes):
            width, height = ENDS if node in (START, END) else (BOX_WIDTH, BOX_HEIGHT)
            width = min(width, column - BETWEEN)
            boxes[node] = Box(start + (place + 0.5) * column - width / 2, y, width, height)
        return boxes

    def _leave(self, layer: int, across: dict[Edge, float], bottom: float) -> float:
        """Sets where each edge turns below `bottom`. Edges with a reason are apart from each other, so that there is
        space for it.
        """
        y = bottom + STUB
        straight = [
            edge
            for edge in self._leaving(layer)
            if not (self._goes_back(edge) or self._skips(edge) or edge in self.flow.decided)
        ]
        for edge in self._leaving(layer):
            if edge in self.flow.decided:
                across[edge] = y + LABEL / 2
                y += LABEL
            elif edge not in straight:
                across[edge] = y
                y += LANE
        if straight:
            across |= dict.fromkeys(straight, y)
            y += LANE
        return y

    def _leaving(self, layer: int) -> list[Edge]:
        """Edges to the lanes first, the longest first."""
        edges = [edge for edge in self.flow.edges if self.layer_of[edge.source] == layer]
        return sorted(
            edges,
            key=lambda edge: (
                self.order[edge.source],
                not self._goes_back(edge),
                -self.layer_of[edge.to],
                self.order[edge.to],
            ),
        )

    def _line(
        self, edge: Edge, boxes: dict[str, Box], across: dict[Edge, float], entries: dict[tuple[str, bool], float]
    ) -> Points:
        source, target, y = boxes[edge.source], boxes[edge.to], across[edge]
        begin, end = (source.middle, source.bottom), (target.middle, target.y)
        goes_back = self._goes_back(edge)
        if not goes_back and not self._skips(edge):
            return begin, (source.middle, y), (target.middle, y), end
        start, stop = self._inside
        lane = start - self.left[edge.to] * LANE - 2 if goes_back else stop + self.right[edge.to] * LANE + 2
        entry = entries[edge.to, goes_back]
        return begin, (source.middle, y), (lane, y), (lane, entry), (target.middle, entry), end

    def _label(self, edge: Edge, boxes: dict[str, Box], across: dict[Edge, float]) -> Box:
        """Below its source; as wide as the drawing if no other node of the layer has a reason."""
        layer = self.layers[self.layer_of[edge.source]]
        start, stop = 0.0, float(WIDTH)
        if len({decided.source for decided in self.flow.decided}.intersection(layer)) > 1:
            left, right = self._inside
            half = (right - left) / len(layer) / 2
            start, stop = boxes[edge.source].middle - half, boxes[edge.source].middle + half
        return Box(start, across[edge] - LABEL / 2, stop - start, LABEL)


def path_data(points: Points) -> str:
    """The `d` of an SVG path, with round corners."""
    corners = [point for before, point in pairwise(points) if point != before]
    told = [f"M{_at(points[0])}"]
    before = points[0]
    for point, after in pairwise(corners):
        room = min(_length(before, point), _length(point, after)) / 2
        told.append(f"L{_at(_towards(point, before, room))}Q{_at(point)} {_at(_towards(point, after, room))}")
        before = point
    return "".join((*told, f"L{_at(corners[-1])}"))


def _length(one: tuple[float, float], other: tuple[float, float]) -> float:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])  # they are above or beside each other


def _towards(point: tuple[float, float], other: tuple[float, float], most: float) -> tuple[float, float]:
    """The point at a corner's radius from `point`, but at most `most` away."""
    share = min(RADIUS, most) / (_length(point, other) or 1)
    return point[0] + (other[0] - point[0]) * share, point[1] + (other[1] - point[1]) * share


def _at(point: tuple[float, float]) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"
