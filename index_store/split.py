"""A loaded document to sections, which the model reads, and sections to chunks, which are searched.

Lengths are measured in wide characters: one of Japanese, Chinese or Korean counts 1, a narrow one 1/3. That is close to
how multilingual tokenizers count (about 0.7 tokens a kanji or kana, 0.25 an English letter), so one size serves both
languages. A chunk is always exactly `section.text[start:end]`, so that a citation can highlight it.
"""

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from itertools import accumulate
from math import ceil

from index_store.loaders.headings import FENCE, heading_lines
from index_store.loaders.loaded import Loaded, Page

VERSION = 3
"""raised when the same document would be split otherwise, so that it is loaded anew"""

SECTION_CHUNKS = 5
"""a section holds at most this many chunks: what a model reads as one passage"""

EMBEDDED_HEADING = 120
"""characters of title and headings that are embedded with a chunk: more would drown its text"""


@dataclass(frozen=True)
class Chunk:
    """`start` and `end` are offsets in characters into the section's text."""

    start: int
    end: int
    page: int | None
    headings: tuple[str, ...]
    embedded: str
    """what the model embeds: title, headings and the header of a table that was cut, then the chunk's own text; NFKC"""


@dataclass(frozen=True)
class Section:
    headings: tuple[str, ...]
    page: int | None
    text: str
    chunks: list[Chunk]


def split(loaded: Loaded, size: int, overlap: int) -> list[Section]:
    """Sections in reading order, each with its chunks. `size` and `overlap` are in wide characters."""
    sections = []
    for draft in _drafts(loaded):
        for piece in _pieces(draft, size):
            sections.append(
                Section(piece.headings, piece.page_at(0), piece.text, _chunks(piece, loaded, size, overlap))
            )
    return sections


def _pieces(draft: "_Draft", size: int) -> "Iterator[_Draft]":
    """Sections of at most SECTION_CHUNKS * size. One that begins within a table or a code fence opens it again."""
    limit = size * SECTION_CHUNKS
    if measure(draft.text) <= limit:
        yield draft
        return
    blocks = [block for block in _blocks(draft.text) if measure(block.opening + block.closing) <= size // 2]
    long = (block for block in blocks if measure(draft.text[block.start : block.end]) > limit // 2)
    room = max((ceil(measure(block.opening + block.closing)) for block in long), default=0)
    for start, end in cut(draft.text, limit - room, marks=[offset for offset, _ in draft.inner]):
        opening = next((block.opening for block in blocks if block.start < start < block.end), "")
        closing = next((block.closing for block in blocks if block.start < end < block.end - 1), "")
        yield draft.slice(start, end).between(opening, closing)


def table_header(text: str, offset: int) -> str:
    """Header row and rule of the table in whose midst `offset` stands, to show a piece of it by itself; else empty."""
    tables = (block for block in _blocks(text) if block.is_table)
    return next((table.opening for table in tables if table.start < offset < table.end), "")


def _chunks(draft: "_Draft", loaded: Loaded, size: int, overlap: int) -> list[Chunk]:
    tables = [block for block in _blocks(draft.text) if block.is_table and measure(block.opening) <= size // 2]
    chunks = []
    for start, end in cut(draft.text, size, overlap, marks=[offset for offset, _ in draft.inner]):
        headings = draft.headings_at(start)
        where = " > ".join([loaded.title, *headings])[-EMBEDDED_HEADING:]
        header = next((table.opening for table in tables if table.start < start < table.end), "")
        embedded = unicodedata.normalize("NFKC", f"{where}\n{header}{draft.text[start:end]}")
        chunks.append(Chunk(start, end, draft.page_at(start), headings, embedded))
    return chunks


# A document to drafts of sections


@dataclass
class _Draft:
    headings: tuple[str, ...]
    text: str = ""
    pages: list[tuple[int, int | None]] = field(default_factory=list)
    """from which offset on which page"""
    inner: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    """from which offset on which headings, for sub-headings"""

    def page_at(self, offset: int) -> int | None:
        at = bisect_right(self.pages, offset, key=lambda mark: mark[0])
        return self.pages[at - 1][1] if at else None

    def headings_at(self, offset: int) -> tuple[str, ...]:
        at = bisect_right(self.inner, offset, key=lambda mark: mark[0])
        return self.inner[at - 1][1] if at else self.headings

    def slice(self, start: int, end: int) -> "_Draft":
        def within(marks: list, low: int) -> list:
            first, last = (bisect_left(marks, offset, key=lambda mark: mark[0]) for offset in (low, end))
            return [(at - start, what) for at, what in marks[first:last]]

        pages = [(0, self.page_at(start)), *within(self.pages, start + 1)]
        return _Draft(self.headings_at(start), self.text[start:end], pages, within(self.inner, start))

    def between(self, opening: str, closing: str) -> "_Draft":
        """With lines put before and after its text."""
        by = len(opening)
        pages = [(at + by if at else 0, page) for at, page in self.pages]
        inner = [(at + by, path) for at, path in self.inner]
        text = f"{opening}{self.text}\n{closing}" if closing else opening + self.text
        return _Draft(self.headings, text, pages, inner)


def _drafts(loaded: Loaded) -> Iterator[_Draft]:
    lines = [(page, *line) for page in loaded.pages for line in heading_lines(page)]
    levels = [level for _, _, level, text in lines if level and not (level == 1 and text == loaded.title)]
    # A page of a manual may have h3 alone: then these are its sections.
    top = max(2, min(levels, default=2))
    page_by_page = not levels and any(page.number is not None for page in loaded.pages)

    path: list[tuple[int, str]] = []
    draft = _Draft(())
    # Its text until it is finished: a string that grows is copied with each line.
    written: list[str] = []
    length = 0
    is_blank = True

    def finished() -> Iterator[_Draft]:
        draft.text = "".join(written)
        start, end = _trimmed(draft.text, 0, len(draft.text))
        if start < end:
            yield draft.slice(start, end)

    def begin(headings: tuple[str, ...] = ()) -> None:
        nonlocal draft, length, is_blank
        draft = _Draft(headings)
        written.clear()
        length, is_blank = 0, True

    current: Page | None = None
    for page, line, level, text in lines:
        if page is not current:
            if page_by_page:
                yield from finished()
                begin()
            draft.pages.append((length, page.number))
            current = page
        if level:
            path = [(above, heading) for above, heading in path if above < level]
            bare = is_blank and bool(draft.headings)
            deeper = tuple(heading for _, heading in path)[: len(draft.headings)] == draft.headings
            if level <= top and bare and not deeper:
                # A heading with nothing under it would be lost: it is its own text.
                written[:] = [draft.headings[-1]]
            if not (level == 1 and text == loaded.title):
                path.append((level, text))
        headings = tuple(heading for _, heading in path)
        if level and level <= top:
            yield from finished()
            begin(headings)
            draft.pages.append((0, page.number))
            continue
        if level:
            draft.inner.append((length, headings))
        written += line, "\n"
        length += len(line) + 1
        is_blank = is_blank and not line.strip()
    if is_blank and draft.headings:
        written[:] = [draft.headings[-1]]
    yield from finished()


# A text to spans


class Edge(IntEnum):
    """How good a place is to cut at, before a character."""

    NONE = 0
    CHARACTER = 1
    WORD = 2
    SENTENCE = 3
    LINE = 4
    PARAGRAPH = 5
    HEADING = 6


def cut(text: str, size: int, overlap: int = 0, marks: Sequence[int] = ()) -> list[tuple[int, int]]:
    """Spans of `text`, none longer than `size`, that together hold all of it but white space at their ends.

    `marks` are offsets at which sub-headings start. A span overlaps the one before by at most `overlap`, except where a
    sub-heading or a row of a table starts.
    """
    return _Cutter(text, size, overlap, marks).spans()


def measure(text: str) -> float:
    """Length in wide characters."""
    return sum(map(_width, text)) / _UNITS


_UNITS = 3
"""a wide character's width, so that a narrow one has a whole number too"""


@lru_cache(maxsize=65536)
def _width(character: str) -> int:
    return _UNITS if unicodedata.east_asian_width(character) in "WF" else 1


class _Cutter:
    def __init__(self, text: str, size: int, overlap: int, marks: Sequence[int]) -> None:
        self.text = text
        self.size = size * _UNITS
        self.overlap = overlap * _UNITS
        self.widths = array("Q", accumulate(map(_width, text), initial=0))
        self.rows: list[tuple[int, int]] = []
        """tables and code fences too long to be kept whole, which are cut at their lines and do not overlap"""
        self.edges = self._edges(marks)

    def spans(self) -> list[tuple[int, int]]:
        spans = []
        start = end = 0
        while end < len(self.text):
            if self._between(start, len(self.text)) <= self.size:
                following = len(self.text)
            else:
                found = self._edge_after(start, end)
                if found is None and start < end:
                    start = end  # without the overlap there may be room
                    continue
                following = found or self._anywhere(start)
            spans.append(_trimmed(self.text, start, following))
            start, end = self._overlapping(start, following), following
        return [(start, end) for start, end in spans if start < end]

    def _between(self, start: int, end: int) -> int:
        return self.widths[end] - self.widths[start]

    def _reach(self, start: int, width: int) -> int:
        """The last offset that is no more than `width` from `start`."""
        return bisect_right(self.widths, self.widths[start] + width) - 1

    def _edge_after(self, start: int, floor: int) -> int | None:
        """The best edge in reach of `start`, above `floor`: the last of the highest kind, rather in the latter half."""
        last = self._reach(start, self.size)
        quarter, half = self._reach(start, self.size // 4), self._reach(start, self.size // 2)
        for low, least in ((quarter, Edge.HEADING), (half, Edge.CHARACTER), (start, Edge.CHARACTER)):
            low = max(low, floor, start)
            window = self.edges[low + 1 : last + 1]
            best = max(window, default=0)
            if best >= least:
                return low + 1 + window.rindex(best)
        return None

    def _anywhere(self, start: int) -> int:
        """Where nothing can be cut well, as in a line of base64: at the limit, but never inside a grapheme."""
        end = max(self._reach(start, self.size), start + 1)
        at = end
        while at > start + 1 and _joined(self.text, at):
            at -= 1
        return at if at > start + 1 or not _joined(self.text, at) else end

    def _overlapping(self, start: int, end: int) -> int:
        in_rows = any(low < end < high for low, high in self.rows)
        if not self.overlap or end >= len(self.text) or self.edges[end] == Edge.HEADING or in_rows:
            return end
        low = max(bisect_left(self.widths, self.widths[end] - self.overlap), start + 1)
        window = self.edges[low:end]
        for least in (Edge.SENTENCE, Edge.WORD, Edge.CHARACTER):
            for at, edge in enumerate(window, low):
                if edge >= least and not any(row < at < high for row, high in self.rows):
                    return at
        return end

    def _edges(self, marks: Sequence[int]) -> bytearray:
        """For each offset the kind of edge there is before it."""
        text = self.text
        edges = bytearray(len(text) + 1)

        def raise_to(at: int, edge: Edge) -> None:
            edges[at] = max(edges[at], edge)

        for at in range(1, len(text)):
            if _between_wide(text, at):
                edges[at] = Edge.CHARACTER
        for pattern, edge in _PATTERNS:
            for found in pattern.finditer(text):
                if not _joined(text, found.end()):
                    raise_to(found.end(), edge)
        for block in _blocks(text):
            raise_to(block.start, Edge.PARAGRAPH)
            raise_to(block.end, Edge.PARAGRAPH)
            if self._between(block.start, block.end) <= self.size:
                edges[block.start + 1 : block.end] = bytes(block.end - block.start - 1)
                continue
            self.rows.append((block.start, block.end))
            at = block.start
            for line in text[block.start : block.end].splitlines(keepends=True):
                # A line that has room is kept whole.
                if self._between(at, at + len(line)) <= self.size:
                    edges[at + 1 : at + len(line)] = bytes(len(line) - 1)
                at += len(line)
        for mark in marks:
            # A sub-heading stays with what it is about.
            line_end = text.find("\n", mark)
            below = re.compile(r"\s*").match(text, line_end).end() if line_end >= 0 else len(text)  # type: ignore[union-attr]
            if self._between(mark, below) <= self.size // 2:
                edges[mark + 1 : below + 1] = bytes(below - mark)
        for mark in marks:
            edges[mark] = Edge.HEADING
        edges[len(text)] = Edge.PARAGRAPH
        return edges


_CLOSING = "」』）)】〉》〕］］”’\"'"
_PATTERNS = (
    (re.compile(r"\n[^\S\n]*\n\s*"), Edge.PARAGRAPH),
    (re.compile(r"\n"), Edge.LINE),
    (re.compile(rf"[。！？．]+[{re.escape(_CLOSING)}]*"), Edge.SENTENCE),
    (re.compile(rf"[.!?]+[{re.escape(_CLOSING)}]*[^\S\n]+"), Edge.SENTENCE),
    (re.compile(r"[、，；：]+"), Edge.WORD),
    (re.compile(r"[^\S\n]+"), Edge.WORD),
)

_NOT_FIRST = set("、。，．・：；？！ー」』）】〉》〕］ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ々ゝゞヽヾ〜…‥％")
_NOT_LAST = set("「『（【〈《〔［")
_KATAKANA = re.compile(r"[ァ-ヺー]{2}")
_JOINERS = re.compile("[\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")


def _joined(text: str, at: int) -> bool:
    """Whether the characters on both sides of `at` are one to the reader: an accent, an emoji of several parts."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    flag = "\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff"
    return bool(
        before == "\u200d" or _JOINERS.match(after) or unicodedata.category(after) in ("Mn", "Mc", "Me") or flag
    )


def _between_wide(text: str, at: int) -> bool:
    """Whether Japanese may be cut before `at`: not before closing marks, after opening ones, or within katakana."""
    before, after = text[at - 1], text[at]
    if _width(before) == 1 and _width(after) == 1:
        return False
    if after in _NOT_FIRST or before in _NOT_LAST or _KATAKANA.match(before + after):
        return False
    return not _joined(text, at)


@dataclass(frozen=True)
class _Block:
    """A table or a code fence, with the newline at its end."""

    start: int
    end: int
    opening: str
    """a table's header row and rule, or the line that opens a fence: what each part of it that is cut begins with"""
    closing: str = ""
    """the line that closes a fence"""

    @property
    def is_table(self) -> bool:
        return bool(self.opening) and not self.closing


_TABLE = re.compile(r"(?:^[ \t]*\|.*(?:\n|\Z))+", re.M)
_RULE = re.compile(r"[ \t]*\|[ \t:|-]+$")


def _blocks(text: str) -> list[_Block]:
    blocks = []
    at = 0
    fence, opened, opening = "", 0, ""
    plain_from = 0

    def tables(low: int, high: int) -> None:
        for found in _TABLE.finditer(text, low, high):
            if not found[0]:
                continue
            rows = found[0].split("\n")
            header = "\n".join(rows[:2]) + "\n" if len(rows) > 2 and _RULE.match(rows[1]) else ""
            blocks.append(_Block(found.start(), found.end(), header))

    for line in text.splitlines(keepends=True) if "```" in text or "~~~" in text else ():
        mark = FENCE.match(line)
        if mark and not fence:
            tables(plain_from, at)
            fence, opened, opening = mark[1], at, line
        elif mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence):
            blocks.append(_Block(opened, at + len(line), opening, fence))
            fence, plain_from = "", at + len(line)
        at += len(line)
    tables(opened if fence else plain_from, len(text))
    return blocks


_BLANK_LINES = re.compile(r"(?:[^\S\n]*\n)*")


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without blank lines before and white space after it; the indentation of its first line stays."""
    start = min(_BLANK_LINES.match(text, start, end).end(), end)  # type: ignore[union-attr]
    end = start + len(text[start:end].rstrip())
    return start, end
