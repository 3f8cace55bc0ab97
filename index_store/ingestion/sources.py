"""What can be added: files, archives of them, sites, and documents whose original is kept already."""

# ruff: noqa: PTH100 - a source is the path as given: Path.resolve() would follow links

import os
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath

from index_store.crawl import CrawlOptions


@dataclass(frozen=True)
class FileSource:
    """A document, or an archive of documents."""

    path: Path
    name: str | None = None
    """what it is known by, where that is not its path"""
    is_upload: bool = False
    """whether the file is moved into the store's keeping"""

    @property
    def source(self) -> str:
        return storable(self.name or os.path.abspath(self.path))


@dataclass(frozen=True)
class SiteSource:
    """A site to crawl."""

    options: CrawlOptions
    parent: str | None = None
    """the site that a single page belongs to; by default the site is its own"""

    @property
    def source(self) -> str:
        return self.options.url


@dataclass(frozen=True)
class KeptSource:
    """A document of the index, from its original."""

    document_id: str
    source: str


Source = FileSource | SiteSource | KeptSource


def is_address(source: str) -> bool:
    """Rather than a path; whether it can be crawled is for the crawler to say."""
    return "://" in source


def storable(source: str) -> str:
    """A file's name may hold bytes that are no text, which SQLite refuses; and é may be one character or two."""
    return unicodedata.normalize("NFC", source.replace("\0", "").encode("utf-8", "replace").decode())


def expand(paths: Iterable[Path]) -> list[Path]:
    """Folders replaced by their files, at any depth and in order; hidden files and folders are left out."""
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        below = []
        # Links to folders are not followed: they may lead round in a circle.
        for folder, folders, names in os.walk(path):
            folders[:] = [name for name in folders if not name.startswith(".")]
            below += [Path(folder, name) for name in names if not name.startswith(".")]
        files += sorted(below)
    return files


def file_name(source: str) -> str:
    return PurePath(source).name or source
