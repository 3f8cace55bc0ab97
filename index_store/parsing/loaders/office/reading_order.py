"""The order in which what stands on a slide is read: bands from top to bottom, in them columns from left to right.

The recursive XY-cut (Nagy and Seth, 1984): boxes are parted wherever a straight gap runs through all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Box(Generic[Thing]):
    left: float
    top: float
    right: float
    bottom: float
    thing: Thing


OVERLAP = 0.1
"""of the smaller box's side, by which neighbours may overlap and still be parted: frames are larger than their text"""
CUTS = 100
"""one within another, at most; slides that people make have few"""


def reading_order(boxes: Sequence[Box[Thing]], cuts: int = CUTS) -> list[Box[Thing]]:
    """Boxes that overlap stay in the order that they are given in."""
    if len(boxes) < 2 or not cuts:
        return list(boxes)
    for low, high in (("top", "bottom"), ("left", "right")):
        groups = _parted(boxes, low, high)
        if len(groups) > 1:
            return [box for group in groups for box in reading_order(group, cuts - 1)]
    return list(boxes)


def _parted(boxes: Sequence[Box[Thing]], low: str, high: str) -> list[list[Box[Thing]]]:
    groups: list[list[Box[Thing]]] = []
    end = 0.0
    places = {id(box): place for place, box in enumerate(boxes)}
    for box in sorted(boxes, key=lambda box: getattr(box, low)):
        start, stop = getattr(box, low), getattr(box, high)
        if groups and start < end - OVERLAP * min(stop - start, end - start if end > start else 0):
            groups[-1].append(box)
            end = max(end, stop)
        else:
            groups.append([box])
            end = stop
    return [sorted(group, key=lambda box: places[id(box)]) for group in groups]
