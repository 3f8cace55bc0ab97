"""The protocol between a parser's process and its owner: requests, answers, and sections on disk.

All of it is JSON. The owner trusts no answer: the process that wrote it had read a file from outside.
"""

import json
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, TypeAdapter, ValidationError

from index_store.base import errors
from index_store.parsing.chunking.chunker import ParsedSection
from index_store.parsing.loaders.document import CleanText


@dataclass(frozen=True)
class ParserRequest:
    path: str
    name: str
    kind: str
    """of a format; "zip" for an archive"""
    result: str
    """the file for the result: the sections, or the members of an archive"""
    seconds: float
    memory: int
    """bytes above the need of the libraries"""
    file_size: int
    """bytes that each written file may have"""
    chunk_size: int
    chunk_overlap: int
    charset: str | None = None
    archive_folder: str = ""
    """of a document"""
    folder: str | None = None
    """the folder to unpack an archive into; None: load a document"""

    def line(self) -> bytes:
        # In ASCII: a path may hold bytes that are not text.
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def of_line(cls, line: str) -> Self:
        return cls(**json.loads(line))


class Refusal(BaseModel, frozen=True):
    """A DocumentError as data."""

    code: str
    """the name of its class"""
    details: dict[str, CleanText]

    @classmethod
    def of(cls, error: errors.DocumentError) -> "Refusal":
        return cls(code=type(error).__name__, details={name: str(detail) for name, detail in error.details.items()})

    def error(self, name: str) -> errors.DocumentError:
        """The error, for the file of this name; ParserFailed if no loader raises an error of this class."""
        kind: Any = getattr(errors, self.code, None)
        if not (isinstance(kind, type) and issubclass(kind, errors.DocumentError)):
            return errors.ParserFailed(name=name)
        try:
            return kind(**self.details)
        except KeyError:
            return errors.ParserFailed(name=name)


class ParserResponse(BaseModel, frozen=True):
    title: CleanText = ""
    pages_without_text: CleanText = ""
    sections: int = 0
    chunks: int = 0
    refusal: Refusal | None = None
    is_worn: bool = False
    """whether the process must be replaced"""


class Listing(BaseModel, frozen=True):
    """The contents of an archive."""

    members: list[tuple[CleanText, Path]]
    refused: list[tuple[CleanText, Refusal]]


SECTION_LINE = 16 * 1024 * 1024
"""bytes of a section at most; one of the largest CHUNK_SIZE takes 0.3 MB, unless a table's header is huge"""

_SECTION = TypeAdapter(ParsedSection)


def write_sections(path: Path, sections: Iterable[ParsedSection]) -> None:
    with path.open("wb") as file:
        for section in sections:
            file.write(_SECTION.dump_json(section) + b"\n")


class ParsedDocument:
    """A document's sections in reading order, read from the disk one by one, so that a large document takes no memory.
    Each iteration starts at the beginning.

    Its file is deleted with the object, or by `close()`. Iterating raises ParserFailed if no parser writes such a file.
    """

    def __init__(
        self, title: str, name: str, sections: int, chunks: int, path: Path, *, pages_without_text: str = ""
    ) -> None:
        self.title = title
        self.pages_without_text = pages_without_text
        self.section_count = sections
        self.chunk_count = chunks
        self._name = name
        self._path = path
        self.close = weakref.finalize(self, path.unlink, missing_ok=True)

    def __iter__(self) -> Iterator[ParsedSection]:
        with self._path.open("rb") as file:
            while line := file.readline(SECTION_LINE):
                # The process that wrote it had read a file from outside.
                try:
                    yield _SECTION.validate_json(line)
                except ValidationError as error:
                    raise errors.ParserFailed(name=self._name) from error
