"""Splits a text into spans of limited length at natural places: headings, paragraphs, sentences, words.

Tables and code fences are kept whole, or else split at their lines, so that each part can be opened again.

Lengths are measured in wide characters: one of Japanese, Chinese or Korean counts 1, a narrow one 1/3. That is close to
how multilingual tokenizers count (about 0.7 tokens a kanji or kana, 0.25 an English letter), so one size serves both
languages.
"""

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from itertools import accumulate

from index_store.base.text.shortened import shortened
from index_store.parsing.loaders.document import fence_mark


class Boundary(IntEnum):
    """How good a split is before a character."""

    NONE = 0
    CHARACTER = 1
    WORD = 2
    SENTENCE = 3
    LINE = 4
    PARAGRAPH = 5
    HEADING = 6


def split_text(text: str, size: int, overlap: int = 0, marks: Sequence[int] = ()) -> list[tuple[int, int]]:
    """Spans of `text`, none longer than `size`, that together hold all of it but white space at their ends.

    `marks` are offsets at which sub-headings start. A span overlaps the one before by at most `overlap`, except where a
    sub-heading or a row of a table starts.
    """
    return _TextSplitter(text, size, overlap, marks).spans()


def text_width(text: str) -> float:
    """Length in wide characters."""
    return sum(map(_width, text)) / _UNITS


_UNITS = 3
"""the width of a wide character; with 3, a narrow one is a whole number, too"""


@lru_cache(maxsize=65536)
def _width(character: str) -> int:
    return _UNITS if unicodedata.east_asian_width(character) in "WF" else 1


class _TextSplitter:
    def __init__(self, text: str, size: int, overlap: int, marks: Sequence[int]) -> None:
        self.text = text
        self.size = size * _UNITS
        self.overlap = overlap * _UNITS
        self.widths = array("Q", accumulate(map(_width, text), initial=0))
        self.rows: list[tuple[int, int]] = []
        """tables and code fences too long to stay whole: they are split at their lines and do not overlap"""
        self.boundaries = self._boundaries(marks)

    def spans(self) -> list[tuple[int, int]]:
        spans = []
        start = end = 0
        while end < len(self.text):
            if self._between(start, len(self.text)) <= self.size:
                following = len(self.text)
            else:
                found = self._boundary_after(start, end)
                if found is None and start < end:
                    start = end  # without the overlap it may fit
                    continue
                following = found or self._anywhere(start)
            spans.append(trimmed(self.text, start, following))
            start, end = self._overlapping(start, following), following
        return [(start, end) for start, end in spans if start < end]

    def _between(self, start: int, end: int) -> int:
        return self.widths[end] - self.widths[start]

    def _reach(self, start: int, width: int) -> int:
        """The last offset that is at most `width` from `start`."""
        return bisect_right(self.widths, self.widths[start] + width) - 1

    def _boundary_after(self, start: int, floor: int) -> int | None:
        """The best split that `start` reaches, above `floor`: the last of the best kind, in the second half if
        possible.
        """
        last = self._reach(start, self.size)
        quarter, half = self._reach(start, self.size // 4), self._reach(start, self.size // 2)
        for low, least in ((quarter, Boundary.HEADING), (half, Boundary.CHARACTER), (start, Boundary.CHARACTER)):
            low = max(low, floor, start)
            window = self.boundaries[low + 1 : last + 1]
            best = max(window, default=0)
            if best >= least:
                return low + 1 + window.rindex(best)
        return None

    def _anywhere(self, start: int) -> int:
        """Where no split is good, as in a line of base64: at the limit, but never inside a grapheme."""
        end = max(self._reach(start, self.size), start + 1)
        at = end
        while at > start + 1 and _joined(self.text, at):
            at -= 1
        return at if at > start + 1 or not _joined(self.text, at) else end

    def _overlapping(self, start: int, end: int) -> int:
        in_rows = any(low < end < high for low, high in self.rows)
        if not self.overlap or end >= len(self.text) or self.boundaries[end] == Boundary.HEADING or in_rows:
            return end
        low = max(bisect_left(self.widths, self.widths[end] - self.overlap), start + 1)
        window = self.boundaries[low:end]
        for least in (Boundary.SENTENCE, Boundary.WORD, Boundary.CHARACTER):
            for at, boundary in enumerate(window, low):
                if boundary >= least and not any(row < at < high for row, high in self.rows):
                    return at
        return end

    def _boundaries(self, marks: Sequence[int]) -> bytearray:
        """For each offset the kind of boundary before it."""
        text = self.text
        boundaries = bytearray(len(text) + 1)

        def raise_to(at: int, boundary: Boundary) -> None:
            boundaries[at] = max(boundaries[at], boundary)

        for at in range(1, len(text)):
            if _between_wide(text, at):
                boundaries[at] = Boundary.CHARACTER
        for pattern, boundary in _PATTERNS:
            for found in pattern.finditer(text):
                if not _joined(text, found.end()):
                    raise_to(found.end(), boundary)
        before = 0
        for block in blocks_of(text):
            raise_to(block.start, Boundary.PARAGRAPH)
            raise_to(block.end, Boundary.PARAGRAPH)
            is_whole = self._between(block.start, block.end) <= self.size
            # The name or the unit of a table stays with the table.
            name = self._name_above(boundaries, block.start, before) if block.is_table else block.start
            if not is_whole or self._between(name, block.end) <= self.size:
                boundaries[name + 1 : block.start + 1] = bytes(block.start - name)
            before = block.end
            if is_whole:
                boundaries[block.start + 1 : block.end] = bytes(block.end - block.start - 1)
                continue
            self.rows.append((block.start, block.end))
            at = block.start
            for line in text[block.start : block.end].splitlines(keepends=True):
                # A line that fits stays whole.
                if self._between(at, at + len(line)) <= self.size:
                    boundaries[at + 1 : at + len(line)] = bytes(len(line) - 1)
                at += len(line)
        for caption in _CAPTION.finditer(text):
            # The caption of an article stays with the article.
            if self._between(caption.start(1), caption.end()) <= self.size // 2:
                boundaries[caption.start(1) + 1 : caption.end() + 1] = bytes(caption.end() - caption.start(1))
        for mark in marks:
            # A sub-heading stays with the text below it.
            line_end = text.find("\n", mark)
            below = _end_of_spaces(text, line_end) if line_end >= 0 else len(text)
            if self._between(mark, below) <= self.size // 2:
                boundaries[mark + 1 : below + 1] = bytes(below - mark)
        for mark in marks:
            boundaries[mark] = Boundary.HEADING
        boundaries[len(text)] = Boundary.PARAGRAPH
        return boundaries

    def _name_above(self, boundaries: bytearray, table: int, low: int) -> int:
        """Where the paragraph above a table begins, if it is short and not before `low`; else where the table does."""
        low = max(low, bisect_left(self.widths, self.widths[table] - self.size // 4))
        at = boundaries.rfind(Boundary.PARAGRAPH, low, table)
        return at if at >= 0 else table if low else 0


_CLOSING = "」』）)】〉》〕］］”’\"'"
_PATTERNS = (
    (re.compile(r"\n[^\S\n]*\n\s*"), Boundary.PARAGRAPH),
    (re.compile(r"\n"), Boundary.LINE),
    (re.compile(rf"[。！？．]+[{re.escape(_CLOSING)}]*"), Boundary.SENTENCE),
    # Only from the first of several points on: otherwise each point in a line of dots would be tried to its end.
    (re.compile(rf"(?<![.!?])[.!?]++[{re.escape(_CLOSING)}]*+[^\S\n]++"), Boundary.SENTENCE),
    (re.compile(r"[、，；：]+"), Boundary.WORD),
    (re.compile(r"[^\S\n]+"), Boundary.WORD),
)

_NUMERAL = r"[\d〇一二三四五六七八九十百千]{1,9}"
_DIVISIONS = "章節款条"
"""of Japanese laws and rules, from the largest to the smallest"""
_CAPTION = re.compile(
    rf"^[ \t\u3000]*([（(][^（）()\n]{{1,60}}[）)][ \t\u3000]*\n\s*(?=第{_NUMERAL}条)"
    # A line that names a division, above its text or a smaller one; else it is in a table of contents.
    + "".join(
        rf"|第{_NUMERAL}{division}[^。\n]{{0,60}}\n\s*(?=\S)(?!第{_NUMERAL}[{_DIVISIONS[: at + 1]}])"
        for at, division in enumerate(_DIVISIONS)
    )
    + ")",
    re.M,
)
"""what stands on lines of its own above an article: （年次有給休暇）, 第14条（懲戒）"""

_NOT_FIRST = set("、。，．・：；？！ー」』）】〉》〕］ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ々ゝゞヽヾ〜…‥％")
_NOT_LAST = set("「『（【〈《〔［")
_KATAKANA = re.compile(r"[ァ-ヺー]{2}")
_JOINERS = re.compile("[\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")


def _joined(text: str, at: int) -> bool:
    """Whether the characters on both sides of `at` are one for the reader: an accent, an emoji of several parts."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    flag = "\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff"
    return bool(
        before == "\u200d" or _JOINERS.match(after) or unicodedata.category(after) in ("Mn", "Mc", "Me") or flag
    )


def _between_wide(text: str, at: int) -> bool:
    """Whether Japanese may be split before `at`: not before closing marks, after opening ones, or within katakana."""
    before, after = text[at - 1], text[at]
    if _width(before) == 1 and _width(after) == 1:
        return False
    if after in _NOT_FIRST or before in _NOT_LAST or _KATAKANA.match(before + after):
        return False
    return not _joined(text, at)


_BLANK_LINES = re.compile(r"(?:[^\S\n]*\n)*")
_SPACES = re.compile(r"\s*")


def _end_of_spaces(text: str, start: int) -> int:
    return _SPACES.match(text, start).end()  # type: ignore[union-attr]  # it matches any text


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without blank lines before it and white space after it; its first line keeps its indentation."""
    start = min(_BLANK_LINES.match(text, start, end).end(), end)  # type: ignore[union-attr]  # it matches any text
    end = start + len(text[start:end].rstrip())
    return start, end


# Tables and code fences


@dataclass(frozen=True)
class Block:
    """A table or a code fence, with the newline at its end."""

    start: int
    end: int
    opening: str
    """a table's header row and rule, or the line that opens a fence: each part of a split begins with it"""
    closing: str = ""
    """the line that closes a fence"""
    unit: str = ""
    """the line above a table that says what its figures are in, and an empty one: without it, each part but the first
    would be misread"""

    @property
    def is_table(self) -> bool:
        return bool(self.opening) and not self.closing


LONGEST_HEADER = 400
"""wide characters of a table's header that is repeated: a longer one takes more space than its rows are worth"""
CELL = 50
"""characters of each cell that is repeated before the rest of its row"""

_UNIT = re.compile(
    # （単位：千円）, （単位　人）, (百万円), Amounts in EUR, in thousands of dollars, (£000)
    r"単位\s?[：:]|[（(]単位|[（(][千万億百十]{0,2}円[）)]|\bin (?:thousands|millions|billions)\b"
    r"|\b(?:amounts|figures|prices|values) (?:are )?in\b|\bunits?:|[(](?:in )?[$€£¥]\s?['’,]?(?:000s?|k|m|bn)?[)]",
    re.I,
)
_UNIT_LENGTH = 60
"""characters of such a line at most"""
_RULE = re.compile(r"[ \t:-]*\|[ \t:|-]+$")
_BAR = re.compile(r"(?<!\\)\|")
_TABLE = re.compile(
    r"(?:^[ \t]*\|.*(?:\n|\Z))+"
    # without bars at its sides; what follows its first row shows that it is a table
    rf"|^[^|\n]+\|.*\n(?=[ \t]*:?-){_RULE.pattern}(?:\n.*\|.*)*(?:\n|\Z)",
    re.M,
)


def blocks_of(text: str) -> list[Block]:
    blocks: list[Block] = []
    at = 0
    fence, opened, opening = "", 0, ""
    plain_from = 0

    def tables(low: int, high: int) -> None:
        for found in _TABLE.finditer(text, low, high):
            if not found[0]:
                continue
            rows = found[0].split("\n")
            header = "\n".join(rows[:2]) + "\n" if len(rows) > 2 and _RULE.match(rows[1]) else ""
            unit = _unit_above(text, found.start()) if header else ""
            blocks.append(Block(found.start(), found.end(), header, unit=unit))

    for line in text.splitlines(keepends=True) if "```" in text or "~~~" in text else ():
        mark = fence_mark(line, fence)
        if mark and not fence:
            tables(plain_from, at)
            fence, opened, opening = mark, at, line
        elif mark:
            blocks.append(Block(opened, at + len(line), opening, fence))
            fence, plain_from = "", at + len(line)
        at += len(line)
    tables(opened if fence else plain_from, len(text))
    return blocks


def _unit_above(text: str, table: int) -> str:
    """The line above a table if it names a unit, with an empty line; else empty."""
    above = text[max(0, table - _UNIT_LENGTH - 3) : table].removesuffix("\n").removesuffix("\n")
    line = above[above.rfind("\n") + 1 :]
    is_whole = len(line) <= _UNIT_LENGTH and not line.endswith("。")
    return f"{line}\n\n" if is_whole and _UNIT.search(line) else ""


def header_at(text: str, start: int, longest: float = LONGEST_HEADER) -> str:
    """The header of the table whose rows `start` is among, at most `longest` wide characters; else empty.

    It stands below the unit of the table. Within a row, the cells before `start` follow it: they say what the rest of
    a long cell is about. Both are left out if they do not fit.
    """
    if "|" not in text:
        return ""
    tables = (block for block in blocks_of(text) if block.is_table)
    table = next((each for each in tables if each.start <= start < each.end), None)
    if table is None:
        return ""
    if start < table.start + len(table.opening):
        return table.unit if start == table.start else ""
    header = table.unit + table.opening
    forms = header + _cells_before(text, start), header, table.opening
    return next((form for form in forms if text_width(form) <= longest), "")


def _cells_before(text: str, start: int) -> str:
    """The cells of a row that end before `start`."""
    *cells, _ = _BAR.split(text[text.rfind("\n", 0, start) + 1 : start])
    if not any(map(str.strip, cells)):
        return ""
    return "".join(f"{shortened(cell.strip(), CELL)} | " for cell in cells).lstrip()


def text_at(text: str, start: int, end: int) -> str:
    """A chunk as it is searched by keyword: below the header of its table."""
    return header_at(text, start) + text[start:end]
