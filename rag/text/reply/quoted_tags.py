"""Gives tags in a reply their first character back, such as <user>: prompts have another one in quoted material, and a
model that copies a command copies that one.
"""

import re

from rag.text.quoting import HARMLESS, TAGS

LONGEST = 40
"""characters behind the sign that tell whether it stands for the start of a tag"""

_OF_TAG = re.compile(
    rf"{HARMLESS}(?=\s?/?\s?(?:{'|'.join(TAGS)}|s(?=>))(?!\w)(?![^<>\n]{{0,{LONGEST}}}»))", re.IGNORECASE
)
"""a pair of French quotation marks is none"""


class QuotedTagFilter:
    """Takes a reply in pieces, and returns it with < where a prompt made it «."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        text = self._held + piece
        last = text.rfind(HARMLESS, max(0, len(text) - LONGEST))
        self._held = text[last:] if last >= 0 else ""
        return _OF_TAG.sub("<", text.removesuffix(self._held))

    def end(self) -> str:
        rest, self._held = self._held, ""
        return _OF_TAG.sub("<", rest)
