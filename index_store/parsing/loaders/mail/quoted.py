"""Headings of a mail's text, and of the mails that are quoted below it. What a line such as "On … wrote:" introduces
stands under this line, not under the last heading of the text above.
"""

import re
from collections.abc import Iterator, Sequence

from index_store.parsing.loaders.document import HEADING_LENGTH, Heading, Page
from index_store.parsing.loaders.markdown.plain_headings import with_plain_headings

HEADERS = 6
"""lines of a quoted mail's headers at most, from that of its sender to its subject"""
LONGEST = 300
"""characters of a line that introduces a mail"""

_INTRODUCED = re.compile(
    r"-{2,}\s?(?:original message|forwarded message|(?:元の|転送(?:された)?|オリジナル)メッセージ)\s?-{2,}"
    r"|begin forwarded message:|on .{5,250} wrote:|le .{5,250} a écrit\s?:|am .{5,250} schrieb .{1,200}:"
    # 2026年11月20日(金) 10:03 山田太郎 <…>: or 2026/11/20 10:03、山田 <…>のメール:
    r"|\d{4}[年/.-]\s?\d{1,2}[月/.-]\s?\d{1,2}(?!\d).{0,40}\d{1,2}[:：時].{1,200}(?:@|<|wrote|書きました|のメール).{0,99}[:：]",
    re.I,
)
_GOES_ON = re.compile(r"on\s.{0,200}\d.{0,200}", re.I)
"""the first of two lines that introduce a mail"""
_SENDER = re.compile(r"(?:from|差出人|送信者)\s?[:：]", re.I)
_SUBJECT = re.compile(r"(?:subject|件名|題名)\s?[:：]", re.I)
_STRESS = "*_ \t\u3000"


def headed(page: Page) -> list[Page]:
    """The text as a part for each mail in it, with headings; the page as it is if no part has any."""
    lines = page.markdown.split("\n")
    starts = [0, *(at for at in _starts(lines) if at)]
    parts = [
        with_plain_headings([page.model_copy(update={"markdown": "\n".join(lines[start:end])})])[0]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)
    ]
    if not any(level for part in parts for _, level, _ in part.lines()):
        return [page]
    return [parts[0], *map(_introduced, parts[1:])]


def _introduced(part: Page) -> Page:
    """The part below its first line, as the heading of all of it."""
    first = part.markdown.split("\n", 1)[0]
    below = [
        Heading(line=line, level=min(level + 1, 6), text=text)
        for line, (_, level, text) in enumerate(part.lines())
        if line and level
    ]
    title = Heading(line=0, level=1, text=_plain(first)[:HEADING_LENGTH])
    return part.model_copy(update={"headings": (title, *below)})


def _starts(lines: Sequence[str]) -> Iterator[int]:
    """The lines that introduce a mail, and the first of those that end the text and begin with >."""
    marked = len(lines)
    while marked and (not lines[marked - 1].strip() or lines[marked - 1].lstrip().startswith(">")):
        marked -= 1
    marked = next((at for at in range(marked, len(lines)) if lines[at].strip()), len(lines))
    end = 0
    """of the lines that introduced the last one"""
    for at in range(len(lines)):
        if at >= end and (at == marked or _begins(lines, at)):
            yield at
            end = at + 1 + HEADERS  # a line may stand above the headers


def _begins(lines: Sequence[str], at: int) -> bool:
    text = _plain(lines[at])
    if not text or len(text) > LONGEST or lines[at].lstrip().startswith(">"):
        return False
    if _INTRODUCED.fullmatch(text):
        return True
    if _GOES_ON.fullmatch(text):
        return at + 1 < len(lines) and _plain(lines[at + 1]).endswith("wrote:")
    below = map(_plain, lines[at + 1 : at + 1 + HEADERS])
    return bool(_SENDER.match(text)) and any(map(_SUBJECT.match, below))


def _plain(line: str) -> str:
    return line.lstrip(_STRESS + ">").rstrip(_STRESS)
