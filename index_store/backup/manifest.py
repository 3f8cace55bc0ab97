"""The manifest of an archive: its version, and the size and hash of each file."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from index_store.audit.audit import FOLDER as AUDIT
from index_store.library.library import CATALOGUE, CHROMA
from index_store.library.originals.registry import FOLDER as ORIGINALS

NAME = "manifest.json"

LAYOUT = 1
"""of archives: the newest that this version reads"""

BLOCK = 1024 * 1024
"""bytes that are in memory at a time"""

DATABASE = re.compile(r"[a-z_]+\.sqlite3")
"""Of this package and of those that use it. Copies of before an upgrade, and damaged files that were set aside, have
something between the name and its end.
"""

_FILE = re.compile(
    rf"{DATABASE.pattern}"
    rf"|{CHROMA}/(?:[0-9a-f-]{{36}}/)?[A-Za-z0-9_][A-Za-z0-9_.-]*"
    rf"|{ORIGINALS}/[0-9a-f]{{2}}/[0-9a-f]{{32}}-[0-9]+"
    rf"|{AUDIT}/[0-9-]{{10}}\.jsonl"
)


class Manifest(BaseModel, frozen=True):
    kind: Literal["glassbox-rag backup"] = "glassbox-rag backup"
    layout: int = LAYOUT
    made_at: datetime
    versions: dict[str, str | None]
    """of the databases, by name; None: of before there were versions, or without any"""
    files: dict[str, tuple[int, str]]
    """by name, with `/` on every system: bytes, and SHA-256 in hex"""

    @property
    def size(self) -> int:
        """bytes, unpacked"""
        return sum(size for size, _ in self.files.values())


def is_of_a_backup(name: str) -> bool:
    """Whether a data folder may get a file of this name: none outside of it, and none of its locks or settings."""
    return _FILE.fullmatch(name) is not None


def databases(folder: Path) -> Iterator[Path]:
    """The catalogue first: what is removed is noted in it before it leaves the others, and forgotten after."""
    if (folder / CATALOGUE).exists():
        yield folder / CATALOGUE
    for file in sorted(folder.glob("*.sqlite3")):
        if file.name != CATALOGUE and DATABASE.fullmatch(file.name):
            yield file
