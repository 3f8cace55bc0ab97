"""What a parser's process and its owner say to each other, as JSON: the owner trusts none of what it is answered."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel

from index_store.base import errors
from index_store.parsing.loaders.loaded import CleanText


@dataclass(frozen=True)
class Request:
    path: str
    name: str
    kind: str | None
    """the loader's module; None: an archive, to be unpacked into `folder`"""
    result: str
    """the file to write the sections, or what came of an archive, to"""
    seconds: float
    memory: int
    """bytes above what libraries take"""
    file_size: int
    """bytes that each file written may have"""
    chunk_size: int
    chunk_overlap: int
    charset: str | None = None
    folder: str | None = None

    def line(self) -> bytes:
        # As ASCII: a path may hold bytes that are no text.
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def of_line(cls, line: str) -> Self:
        return cls(**json.loads(line))


class Refusal(BaseModel, frozen=True):
    """A DocumentError on its way."""

    code: str
    """its class"""
    details: dict[str, CleanText]

    @classmethod
    def of(cls, error: errors.DocumentError) -> "Refusal":
        return cls(code=type(error).__name__, details={name: str(detail) for name, detail in error.details.items()})

    def error(self, name: str) -> errors.DocumentError:
        """ParserFailed for the file of this name, where it is no error that a loader raises."""
        kind: Any = getattr(errors, self.code, None)
        if not (isinstance(kind, type) and issubclass(kind, errors.DocumentError)):
            return errors.ParserFailed(name=name)
        try:
            return kind(**self.details)
        except KeyError:
            return errors.ParserFailed(name=name)


class Answer(BaseModel, frozen=True):
    title: CleanText = ""
    sections: int = 0
    chunks: int = 0
    refusal: Refusal | None = None
    is_worn: bool = False
    """whether the process is to be replaced"""


class Listing(BaseModel, frozen=True):
    """What came of an archive."""

    members: list[tuple[CleanText, Path]]
    refused: list[tuple[CleanText, Refusal]]
