"""Takes off the fence that some models write around a whole answer, as if it were a file: ```markdown … ```"""

import re

_OPENING = re.compile(r"\s{0,20}```(?:markdown|md)[ \t]*\n", re.IGNORECASE)
_OPENINGS = ("```markdown", "```md")
_LONGEST_OPENING = 40
"""characters with blanks; a longer beginning is text"""
_MAY_BE_CLOSING = re.compile(r"\n[ \t]{0,3}`{0,3}\s{0,20}\Z")
"""the end of a text, to which the answer's end may belong"""
_CLOSING = re.compile(r"\n[ \t]{0,3}```\s{0,20}\Z")


class WholeFenceFilter:
    """Takes an answer in pieces, and returns it without the fence. Other fences stay, also those inside."""

    def __init__(self) -> None:
        self._held = ""
        """what may be the fence, or a part of it"""
        self._is_open: bool | None = None
        """None while the answer has not begun"""

    def feed(self, piece: str) -> str:
        text, self._held = self._held + piece, ""
        if self._is_open is None:
            if _may_begin_with_opening(text):
                self._held = text
                return ""
            opening = _OPENING.match(text)
            self._is_open = opening is not None
            text = text[opening.end() :] if opening else text
        if self._is_open and (closing := _MAY_BE_CLOSING.search(text)):
            text, self._held = text[: closing.start()], closing[0]
        return text

    def end(self) -> str:
        held, self._held = self._held, ""
        return "" if self._is_open and _CLOSING.match(held) else held


def _may_begin_with_opening(text: str) -> bool:
    """Whether more of the text is needed to know."""
    line = text.lstrip()
    is_possible = len(text) < _LONGEST_OPENING and "\n" not in line
    return is_possible and any(each.startswith(line.rstrip().lower()) for each in _OPENINGS)
