"""The manifest of an archive: its version, and the size and hash of each file."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from index_store.access.audit.audit import FOLDER as AUDIT
from index_store.library.library import CATALOGUE, CHROMA
from index_store.library.originals.registry import FOLDER as ORIGINALS

NAME = "manifest.json"

LAYOUT = 1
"""the version of the archive's layout: the newest that this app reads"""

BLOCK = 1024 * 1024
"""bytes in memory at a time"""

DATABASE = re.compile(r"[a-z_]+\.sqlite3")
"""Databases of this package and of those that use it. Copies from before an upgrade and damaged files that were set
aside do not match: they have something between the name and its end.
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
    """of the databases, by name; None: from before there were versions, or without one"""
    files: dict[str, tuple[int, str]]
    """by name, with `/` on every system: bytes, and SHA-256 in hex"""

    @property
    def size(self) -> int:
        """bytes, unpacked"""
        return sum(size for size, _ in self.files.values())


def is_of_a_backup(name: str) -> bool:
    """Whether a restore may write a file of this name: not outside the data folder, and no locks or settings."""
    return _FILE.fullmatch(name) is not None


def databases(folder: Path) -> Iterator[Path]:
    """The catalogue first: it records a removal before the others do it, and forgets it after."""
    if (folder / CATALOGUE).exists():
        yield folder / CATALOGUE
    for file in sorted(folder.glob("*.sqlite3")):
        if file.name != CATALOGUE and DATABASE.fullmatch(file.name):
            yield file
