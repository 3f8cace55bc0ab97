"""A document in sections, on disk, as the parser's process hands it to its owner: a large one costs it no memory."""

import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from index_store.base.errors import ParserFailed
from index_store.parsing.chunking.splitter import Section

LINE = 16 * 1024 * 1024
"""bytes of a section at most; one of the largest CHUNK_SIZE takes 0.3 MB, unless a table's header is huge"""

_SECTION = TypeAdapter(Section)


def write(path: Path, sections: Iterable[Section]) -> None:
    with path.open("wb") as file:
        for section in sections:
            file.write(_SECTION.dump_json(section) + b"\n")


class Split:
    """A document's sections in reading order, one after another from the disk; iterating again starts anew.

    Its file goes when the object does, or with `close()`. Iterating raises ParserFailed where the file is not what a
    parser writes.
    """

    def __init__(self, title: str, name: str, sections: int, chunks: int, path: Path) -> None:
        self.title = title
        self.section_count = sections
        self.chunk_count = chunks
        self._name = name
        self._path = path
        self.close = weakref.finalize(self, path.unlink, missing_ok=True)

    def __iter__(self) -> Iterator[Section]:
        with self._path.open("rb") as file:
            while line := file.readline(LINE):
                # It was written by a process that read a file of anyone's.
                try:
                    yield _SECTION.validate_json(line)
                except ValidationError as error:
                    raise ParserFailed(name=self._name) from error
