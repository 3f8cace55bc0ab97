"""A loaded document to sections, which the model reads, and sections to chunks, which are searched.

A chunk is always exactly `section.text[start:end]`, so that a citation can highlight it.
"""

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil

from index_store.parsing.chunking.blocks import blocks_of
from index_store.parsing.chunking.text_splitter import cut, measure, trimmed
from index_store.parsing.loaders.headings import heading_lines
from index_store.parsing.loaders.loaded import Loaded, Page

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
    for stretch in _stretches(loaded):
        for piece in _pieces(stretch, size):
            sections.append(
                Section(piece.headings, piece.page_at(0), piece.text, _chunks(piece, loaded, size, overlap))
            )
    return sections


def _pieces(stretch: "_Stretch", size: int) -> "Iterator[_Stretch]":
    """Sections of at most SECTION_CHUNKS * size. One that begins within a table or a code fence opens it again."""
    limit = size * SECTION_CHUNKS
    if measure(stretch.text) <= limit:
        yield stretch
        return
    blocks = [block for block in blocks_of(stretch.text) if measure(block.opening + block.closing) <= size // 2]
    long = (block for block in blocks if measure(stretch.text[block.start : block.end]) > limit // 2)
    room = max((ceil(measure(block.opening + block.closing)) for block in long), default=0)
    for start, end in cut(stretch.text, limit - room, marks=[offset for offset, _ in stretch.inner]):
        opening = next((block.opening for block in blocks if block.start < start < block.end), "")
        closing = next((block.closing for block in blocks if block.start < end < block.end - 1), "")
        yield stretch.slice(start, end).between(opening, closing)


def _chunks(stretch: "_Stretch", loaded: Loaded, size: int, overlap: int) -> list[Chunk]:
    tables = [block for block in blocks_of(stretch.text) if block.is_table and measure(block.opening) <= size // 2]
    chunks = []
    for start, end in cut(stretch.text, size, overlap, marks=[offset for offset, _ in stretch.inner]):
        headings = stretch.headings_at(start)
        where = " > ".join([loaded.title, *headings])[-EMBEDDED_HEADING:]
        header = next((table.opening for table in tables if table.start < start < table.end), "")
        embedded = unicodedata.normalize("NFKC", f"{where}\n{header}{stretch.text[start:end]}")
        chunks.append(Chunk(start, end, stretch.page_at(start), headings, embedded))
    return chunks


# A document to the stretches between its headings


@dataclass
class _Stretch:
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

    def slice(self, start: int, end: int) -> "_Stretch":
        def within(marks: list, low: int) -> list:
            first, last = (bisect_left(marks, offset, key=lambda mark: mark[0]) for offset in (low, end))
            return [(at - start, what) for at, what in marks[first:last]]

        pages = [(0, self.page_at(start)), *within(self.pages, start + 1)]
        return _Stretch(self.headings_at(start), self.text[start:end], pages, within(self.inner, start))

    def between(self, opening: str, closing: str) -> "_Stretch":
        """With lines put before and after its text."""
        by = len(opening)
        pages = [(at + by if at else 0, page) for at, page in self.pages]
        inner = [(at + by, path) for at, path in self.inner]
        text = f"{opening}{self.text}\n{closing}" if closing else opening + self.text
        return _Stretch(self.headings, text, pages, inner)


def _stretches(loaded: Loaded) -> Iterator[_Stretch]:
    lines = [(page, *line) for page in loaded.pages for line in heading_lines(page)]
    levels = [level for _, _, level, text in lines if level and not (level == 1 and text == loaded.title)]
    # A page of a manual may have h3 alone: then these are its sections.
    top = max(2, min(levels, default=2))
    page_by_page = not levels and any(page.number is not None for page in loaded.pages)

    path: list[tuple[int, str]] = []
    stretch = _Stretch(())
    # Its text until it is finished: a string that grows is copied with each line.
    written: list[str] = []
    length = 0
    is_blank = True

    def finished() -> Iterator[_Stretch]:
        stretch.text = "".join(written)
        start, end = trimmed(stretch.text, 0, len(stretch.text))
        if start < end:
            yield stretch.slice(start, end)

    def begin(headings: tuple[str, ...] = ()) -> None:
        nonlocal stretch, length, is_blank
        stretch = _Stretch(headings)
        written.clear()
        length, is_blank = 0, True

    current: Page | None = None
    for page, line, level, text in lines:
        if page is not current:
            if page_by_page:
                yield from finished()
                begin()
            stretch.pages.append((length, page.number))
            current = page
        if level:
            path = [(above, heading) for above, heading in path if above < level]
            bare = is_blank and bool(stretch.headings)
            deeper = tuple(heading for _, heading in path)[: len(stretch.headings)] == stretch.headings
            if level <= top and bare and not deeper:
                # A heading with nothing under it would be lost: it is its own text.
                written[:] = [stretch.headings[-1]]
            if not (level == 1 and text == loaded.title):
                path.append((level, text))
        headings = tuple(heading for _, heading in path)
        if level and level <= top:
            yield from finished()
            begin(headings)
            stretch.pages.append((0, page.number))
            continue
        if level:
            stretch.inner.append((length, headings))
        written += line, "\n"
        length += len(line) + 1
        is_blank = is_blank and not line.strip()
    if is_blank and stretch.headings:
        written[:] = [stretch.headings[-1]]
    yield from finished()
