"""Which of a document's properties is a title, and which was put there by a program."""

import re
from collections.abc import Sequence
from pathlib import PurePath

_NO_TITLE = re.compile(
    r"\W?(untitled|anonymous|無題)|microsoft (word|powerpoint|excel) - |.*\ufffd"
    r"|((powerpoint|word) ?)?(presentation|document|book|slide) ?\d*$"
    r"|(powerpoint ?)?(プレゼンテーション|スライド|文書|ブック) ?\d*$"
    r"|.*\.(do[ct][xm]?|txt|rtf|pp[st][xm]?|xl[st][xm]?|csv|indd|tex|dvi|qxd|ai|pdf)$",
    re.I | re.S,
)

LENGTH = 200
"""characters, above which it is a summary put in the wrong field"""


def title_of(name: str, *candidates: str | None) -> str:
    """The first candidate that was meant as one, else the file's name without its suffix."""
    for candidate in candidates:
        text = " ".join((candidate or "").split())
        if text and len(text) <= LENGTH and not _NO_TITLE.match(text):
            return text
    return PurePath(name).stem


def only_highest(headings: Sequence[tuple[int, str]]) -> str | None:
    """The first heading, where no other is as high: the first of several is that of a chapter."""
    if not headings or any(level <= headings[0][0] for level, _ in headings[1:]):
        return None
    return headings[0][1]
