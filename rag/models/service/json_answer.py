"""Takes the answer out of a reply that is wholly {"answer": "…"} or {"answer": "…", "sources": […]}, also in a fence:
gateways and models send it so.
"""

import json
import re

from rag.text.reply.surrogates import whole_characters

_NAME = "answer"
_OPENINGS = tuple(f'{fence}{{"{_NAME}":"' for fence in ("", "```", "```json"))
"""without blanks"""
_LONGEST_OPENING = 60
"""characters with blanks; a longer beginning is text"""
_SOURCES = ("sources", "citations", "references")
"""what may stand beside the answer"""
_SOURCE = re.compile(r"(?:(?:source|passage|資料)\s?)?\[?([1-9]\d?)\]?")
"""as it is listed: 1, "1", "[1]" or "資料1"; others are names"""
_BRACKET = re.compile(r"[\[【［]")
"""of a marker in any of its forms"""
_FENCE = re.compile(r"\A\s*+```(?:json)?|```\s*\Z")


class JsonAnswerFilter:
    """Takes an answer in pieces, and returns it without the object around it. Other replies stay, also other JSON."""

    def __init__(self) -> None:
        self._held: list[str] = []
        """what may be the object, or its beginning: it can be read only as a whole"""
        self._is_object: bool | None = None
        """None while the answer has not begun"""

    def feed(self, piece: str) -> str:
        if self._is_object is False:
            return piece
        self._held.append(piece)
        if self._is_object is None:
            self._is_object = _is_object("".join(self._held))
        return self._take_held() if self._is_object is False else ""

    def end(self) -> str:
        text = self._take_held()
        return _answer_in(text) if self._is_object else text

    def _take_held(self) -> str:
        held, self._held = "".join(self._held), []
        return held


def _is_object(begun: str) -> bool | None:
    """Whether it begins with the object; None if more of it is needed to know."""
    bare = "".join(begun.split())
    if any(map(bare.startswith, _OPENINGS)):
        return True
    may_be = len(begun) < _LONGEST_OPENING and any(each.startswith(bare) for each in _OPENINGS)
    return None if may_be else False


def _answer_in(text: str) -> str:
    """`text` itself if it is not the object alone, such as one with more names, or one that was cut off."""
    try:
        value = json.loads(_FENCE.sub("", text), strict=False)
    except (ValueError, RecursionError):
        return text
    if not value.keys() <= {_NAME, *_SOURCES}:
        return text
    answer = whole_characters(value[_NAME])
    return answer if _BRACKET.search(answer) else answer + _markers(value)


def _markers(value: dict[str, object]) -> str:
    """The markers of the sources that are listed by their numbers, for an answer that has none."""
    listed = [each for name in _SOURCES for each in _as_list(value.get(name))]
    numbers = [found[1] for each in listed if (found := _SOURCE.fullmatch(str(each)))]
    return "".join(f"[{number}]" for number in dict.fromkeys(numbers))


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
