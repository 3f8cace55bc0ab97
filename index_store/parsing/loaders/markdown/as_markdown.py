"""Writes texts as Markdown, escaped so that nothing in them is read as other Markdown."""

import re

_BLOCK_MARK = re.compile(r"^(?=[ \t]*(?:#{1,6}\s|\||```|~~~))", re.M)
_BACKTICKS = re.compile("`+")
_SPACES = re.compile(r"[^\S\n\u3000]+")

RAISED, RAISED_END = "\x0e", "\x0f"
"""control characters that mark raised text, until `with_raised`"""
STRUCK, STRUCK_END = "\x10", "\x11"
"""the same of text that is struck through, until `with_struck`"""
_RAISED_FIGURE = re.compile(rf"(?<=[\d)\]}}）］｝]){RAISED_END}?{RAISED}(?=[\d+\-−–±])")


def paragraph(text: str) -> str:
    """Keeps line breaks; escapes lines that would start a heading, a table or a fence."""
    return _BLOCK_MARK.sub(r"\\", "\n".join(squeezed(line) for line in text.split("\n")).strip())


def heading(level: int, text: str) -> str:
    """On one line, as Markdown needs it. `level` from 1; Markdown has 6."""
    return "#" * min(level, 6) + " " + squeezed(text.replace("\n", " "))


def code_block(code: str, language: str = "") -> str:
    """Empty if there is no code."""
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(code)), default=0))
    return f"{fence}{language}\n{code}\n{fence}" if code.strip() else ""


def squeezed(text: str) -> str:
    """Replaces white space by single spaces, with none at the ends."""
    return _SPACES.sub(" ", text).strip(" ")


def raised(text: str) -> str:
    """Marks raised text for `with_raised`."""
    return f"{RAISED}{text}{RAISED_END}"


def with_raised(text: str, *, is_divided: bool = True) -> str:
    """Writes ^ where raised text would read as more digits of the number before it: 10^6, but m2 and 1st.

    `is_divided`: neighbours may be parts of one exponent, as Office programs often divide it. Otherwise each is a mark
    of its own.
    """
    if RAISED not in text:
        return text
    text = _RAISED_FIGURE.sub("^", text.replace(RAISED_END + RAISED, "") if is_divided else text)
    return text.replace(RAISED, "").replace(RAISED_END, "")


def struck(text: str) -> str:
    """Marks text that is struck through, for `with_struck`."""
    return f"{STRUCK}{text}{STRUCK_END}" if text.strip() else text


def with_struck(text: str) -> str:
    """Writes ~~ around struck text; neighbours become one. Before `with_raised`, which looks at what is beside it."""
    return text.replace(STRUCK_END + STRUCK, "").replace(STRUCK, "~~").replace(STRUCK_END, "~~")
