"""Splits a loaded document into sections, which the model reads, and sections into chunks, which are searched.

A chunk is always exactly `section.text[start:end]`, so that a citation can highlight it.
"""

import hashlib
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from math import ceil
from typing import TypeVar

from index_store.parsing.chunking.blocks import LONGEST_HEADER, blocks_of, header_at
from index_store.parsing.chunking.text_splitter import split_text, trimmed
from index_store.parsing.chunking.width import text_width
from index_store.parsing.loaders.document import LoadedDocument, Page

VERSION = 10
"""increase it when the same document would be split differently, so that documents are loaded again"""

What = TypeVar("What")

SECTION_CHUNKS = 5
"""a section holds at most this many chunks: what a model reads as one passage"""

EMBEDDED_HEADING = 120
"""characters of title and headings that are embedded with a chunk: more would outweigh its text"""


@dataclass(frozen=True)
class ParsedChunk:
    """`start` and `end` are offsets in characters into the section's text."""

    start: int
    end: int
    page: int | None
    headings: tuple[str, ...]
    embedded: str
    """what the model embeds: the folder in an archive, title, headings, the header of a table that was split, and the
    chunk's text; NFKC"""

    @property
    def digest(self) -> bytes:
        """Of the embedded text, in 16 bytes."""
        return hashlib.blake2b(self.embedded.encode(), digest_size=16).digest()


@dataclass(frozen=True)
class ParsedSection:
    headings: tuple[str, ...]
    page: int | None
    text: str
    chunks: list[ParsedChunk]


def chunk_document(document: LoadedDocument, size: int, overlap: int, archive_folder: str = "") -> list[ParsedSection]:
    """Sections in reading order, each with its chunks. `size` and `overlap` are in wide characters. `archive_folder`:
    is embedded with the document's title.
    """
    title = f"{archive_folder} > {document.title}" if archive_folder else document.title
    sections = []
    for headed in _headed_texts(document):
        for piece in _of_section_size(headed, size):
            sections.append(
                ParsedSection(piece.name, piece.page_at(0), piece.text, _chunks(piece, title, size, overlap))
            )
    return sections


def _of_section_size(headed: "_HeadedText", size: int) -> "Iterator[_HeadedText]":
    """Sections of at most SECTION_CHUNKS * size. One that begins inside a table or a code fence opens it again, and one
    that begins inside a row repeats the cells before.
    """
    limit = size * SECTION_CHUNKS
    if text_width(headed.text) <= limit:
        yield headed
        return
    longest = min(LONGEST_HEADER, limit // 3)
    every = blocks_of(headed.text)
    blocks = [block for block in every if text_width(block.opening + block.closing) <= longest]
    long = (block for block in blocks if text_width(headed.text[block.start : block.end]) > limit // 2)
    reopening = max((ceil(text_width(block.unit + block.opening + block.closing)) for block in long), default=0)
    if reopening and any(text_width(line) > limit for line in headed.text.splitlines()):
        reopening = max(reopening, size // 2)  # with the cells before the rest of a row
    for start, end in split_text(headed.text, limit - reopening, marks=[offset for offset, _ in headed.inner]):
        opening = next((block.opening for block in blocks if block.start < start < block.end), "")
        opening = header_at(headed.text, start, reopening, every) or opening
        closing = next((block.closing for block in blocks if block.start < end < block.end - 1), "")
        yield headed.slice(start, end).between(opening, closing)


def _chunks(headed: "_HeadedText", title: str, size: int, overlap: int) -> list[ParsedChunk]:
    chunks = []
    for start, end in split_text(headed.text, size, overlap, marks=[offset for offset, _ in headed.inner]):
        if end <= headed.repeated:
            continue  # a search would find the same wide header once for each section
        headings = headed.headings_at(start)
        where = " > ".join([title, *headings])[-EMBEDDED_HEADING:]
        header = header_at(headed.text, start, size // 2)
        embedded = unicodedata.normalize("NFKC", f"{where}\n{header}{headed.text[start:end]}")
        chunks.append(ParsedChunk(start, end, headed.page_at(start), headings, embedded))
    return chunks


# From a document to the texts between its headings


@dataclass
class _HeadedText:
    headings: tuple[str, ...]
    text: str = ""
    pages: list[tuple[int, int | None]] = field(default_factory=list)
    """offset from which a page begins, and the page"""
    inner: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    """offset from which headings are in force, and the headings; for sub-headings"""
    repeated: int = 0
    """characters at its beginning that are repeated from the section before"""

    @property
    def name(self) -> tuple[str, ...]:
        """Its headings. If it begins with one of several sub-headings, none of these names all of it."""
        if not self.inner or self.inner[0][0]:
            return self.headings
        levels = zip(*(path for _, path in self.inner), strict=False)
        return tuple(level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels))

    def page_at(self, offset: int) -> int | None:
        at = bisect_right(self.pages, offset, key=lambda mark: mark[0])
        return self.pages[at - 1][1] if at else None

    def headings_at(self, offset: int) -> tuple[str, ...]:
        at = bisect_right(self.inner, offset, key=lambda mark: mark[0])
        return self.inner[at - 1][1] if at else self.headings

    def slice(self, start: int, end: int) -> "_HeadedText":
        def within(marks: list[tuple[int, What]], low: int) -> list[tuple[int, What]]:
            first, last = (bisect_left(marks, offset, key=lambda mark: mark[0]) for offset in (low, end))
            return [(at - start, what) for at, what in marks[first:last]]

        pages = [(0, self.page_at(start)), *within(self.pages, start + 1)]
        return _HeadedText(self.headings_at(start), self.text[start:end], pages, within(self.inner, start))

    def between(self, opening: str, closing: str) -> "_HeadedText":
        """The same with lines added before and after its text."""
        by = len(opening)
        pages = [(at + by if at else 0, page) for at, page in self.pages]
        inner = [(at + by, path) for at, path in self.inner]
        text = f"{opening}{self.text}\n{closing}" if closing else opening + self.text
        return _HeadedText(self.headings, text, pages, inner, by)


class _Writer:
    """Writes headed texts line by line, one after the other."""

    def __init__(self) -> None:
        self.begin(())

    def begin(self, headings: tuple[str, ...]) -> None:
        self._headed = _HeadedText(headings)
        self._written: list[str] = []
        """the lines, until the text is finished: a growing string would be copied with each line"""
        self._length = 0
        self._is_blank = True

    @property
    def is_bare(self) -> bool:
        """Whether there is nothing but the heading so far."""
        return self._is_blank and bool(self._headed.headings)

    def is_above(self, headings: tuple[str, ...]) -> bool:
        """Whether these are its own headings, or those of a part of it."""
        return headings[: len(self._headed.headings)] == self._headed.headings

    def note_page(self, number: int | None) -> None:
        self._headed.pages.append((self._length, number))

    def note_inner(self, headings: tuple[str, ...]) -> None:
        self._headed.inner.append((self._length, headings))

    def write(self, line: str) -> None:
        self._written += line, "\n"
        self._length += len(line) + 1
        self._is_blank = self._is_blank and not line.strip()

    def write_heading(self) -> None:
        """A heading without text would be lost, so it is its own text."""
        self._written = [self._headed.headings[-1]]

    def finished(self) -> Iterator[_HeadedText]:
        """The text; nothing if it is blank."""
        self._headed.text = "".join(self._written)
        start, end = trimmed(self._headed.text, 0, len(self._headed.text))
        if start < end:
            yield self._headed.slice(start, end)


def _headed_texts(document: LoadedDocument) -> Iterator[_HeadedText]:
    lines = [(page, *line) for page in document.pages for line in page.lines()]
    title = _words(document.title)
    if all(not line.strip() or (level == 1 and _words(text) == title) for _, line, level, text in lines):
        title = []  # it is all that there is
    levels = [level for _, _, level, text in lines if level and not (level == 1 and _words(text) == title)]
    # A page of a manual may have only h3: then these begin its sections.
    top = max(2, min(levels, default=2))
    page_by_page = not levels and any(page.number is not None for page in document.pages)

    path: list[tuple[int, str]] = []
    writer = _Writer()
    current: Page | None = None
    for page, line, level, text in lines:
        if page is not current:
            if page_by_page:
                yield from writer.finished()
                writer.begin(())
            writer.note_page(page.number)
            current = page
        if level:
            path = [(above, heading) for above, heading in path if above < level]
            deeper = writer.is_above(tuple(heading for _, heading in path))
            if level <= top and writer.is_bare and not deeper:
                writer.write_heading()
            if not (level == 1 and _words(text) == title):
                path.append((level, text))
        headings = tuple(heading for _, heading in path)
        if level and level <= top:
            yield from writer.finished()
            writer.begin(headings)
            writer.note_page(page.number)
            if not _goes_on(line.strip(), text):
                continue
        elif level:
            writer.note_inner(headings)
        writer.write(line)
    if writer.is_bare:
        writer.write_heading()
    yield from writer.finished()


def _goes_on(line: str, heading: str) -> bool:
    """Whether text stands behind the heading in its line."""
    return line != heading and line.startswith(heading)


def _words(text: str) -> list[str]:
    """The same for a heading and for the title that was taken from it."""
    return unicodedata.normalize("NFKC", text).split()
