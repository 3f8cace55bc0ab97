"""Splits a text into spans of limited length at natural places: headings, paragraphs, sentences, words.

Tables and code fences are kept whole, or else split at their lines, so that each part can be opened again. Lengths are
in wide characters (`width.py`).
"""

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from enum import IntEnum
from itertools import accumulate

from index_store.parsing.chunking.blocks import Block, blocks_of
from index_store.parsing.chunking.width import UNITS, width_of


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


class _TextSplitter:
    def __init__(self, text: str, size: int, overlap: int, marks: Sequence[int]) -> None:
        self.text = text
        self.size = size * UNITS
        self.overlap = overlap * UNITS
        self.widths = array("Q", accumulate(map(width_of, text), initial=0))
        self.rows: list[tuple[int, int]] = []
        """tables and code fences too long to stay whole: they are split at their lines and do not overlap"""
        self.boundaries = bytearray(len(text) + 1)
        """for each offset the kind of boundary before it"""
        self._add_natural_places()
        self._keep_blocks()
        self._keep_captions()
        self._keep_sub_headings(marks)
        self.boundaries[len(text)] = Boundary.PARAGRAPH

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

    def _raise_to(self, at: int, boundary: Boundary) -> None:
        self.boundaries[at] = max(self.boundaries[at], boundary)

    def _keep(self, start: int, end: int) -> None:
        """No split is good between these offsets, nor at the second."""
        self.boundaries[start + 1 : end + 1] = bytes(end - start)

    def _add_natural_places(self) -> None:
        for at in range(1, len(self.text)):
            if _between_wide(self.text, at):
                self.boundaries[at] = Boundary.CHARACTER
        for pattern, boundary in _PATTERNS:
            for found in pattern.finditer(self.text):
                if not _joined(self.text, found.end()):
                    self._raise_to(found.end(), boundary)

    def _keep_blocks(self) -> None:
        """Tables and code fences that fit stay whole. The name or the unit of a table stays with the table."""
        before = 0
        for block in blocks_of(self.text):
            self._raise_to(block.start, Boundary.PARAGRAPH)
            self._raise_to(block.end, Boundary.PARAGRAPH)
            is_whole = self._between(block.start, block.end) <= self.size
            name = self._name_above(block.start, before) if block.is_table else block.start
            if not is_whole or self._between(name, block.end) <= self.size:
                self._keep(name, block.start)
            before = block.end
            if is_whole:
                self._keep(block.start, block.end - 1)
            else:
                self.rows.append((block.start, block.end))
                self._keep_lines(block)

    def _keep_lines(self, block: Block) -> None:
        """The lines of a long block that fit stay whole."""
        at = block.start
        for line in self.text[block.start : block.end].splitlines(keepends=True):
            if self._between(at, at + len(line)) <= self.size:
                self._keep(at, at + len(line) - 1)
            at += len(line)

    def _keep_captions(self) -> None:
        """The caption of an article stays with the article."""
        for caption in _CAPTION.finditer(self.text):
            if self._between(caption.start(1), caption.end()) <= self.size // 2:
                self._keep(caption.start(1), caption.end())

    def _keep_sub_headings(self, marks: Sequence[int]) -> None:
        """A sub-heading stays with the text below it."""
        for mark in marks:
            line_end = self.text.find("\n", mark)
            below = _end_of_spaces(self.text, line_end) if line_end >= 0 else len(self.text)
            if self._between(mark, below) <= self.size // 2:
                self._keep(mark, below)
        for mark in marks:
            self.boundaries[mark] = Boundary.HEADING

    def _name_above(self, table: int, low: int) -> int:
        """Where the paragraph above a table begins, if it is short and not before `low`; else where the table does."""
        low = max(low, bisect_left(self.widths, self.widths[table] - self.size // 4))
        at = self.boundaries.rfind(Boundary.PARAGRAPH, low, table)
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
    if width_of(before) == 1 and width_of(after) == 1:
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
