"""The kinds of sources: files, uploads, archives, sites, and documents with a stored original."""

# ruff: noqa: PTH100 - a source is the path as given: Path.resolve() would follow links

import os
import shutil
import time
import unicodedata
import uuid
from collections.abc import Iterable, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import BinaryIO

from index_store.base.errors import StoreFailed
from index_store.catalogue.records import DocumentRecord
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
class StoredSource:
    """A document of the index, read again from its stored original."""

    document_id: str
    source: str


Source = FileSource | SiteSource | StoredSource


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


# Uploads: files that came through a browser, on disk until they are added


def upload_folder(data_dir: Path) -> Path:
    return data_dir / "uploads"


def keep_upload(data_dir: Path, name: str, content: BinaryIO) -> FileSource:
    """The name is the browser's word and may hold anything, so the file gets one of ours. Raises StoreFailed."""
    path = upload_folder(data_dir) / f"{uuid.uuid4().hex}{PurePath(name).suffix[:16]}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            shutil.copyfileobj(content, file)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise StoreFailed(name=name) from error
    return FileSource(path, PurePath(name.replace("\\", "/")).name, is_upload=True)


def keep_uploads(data_dir: Path, files: Iterable[tuple[str, BinaryIO]]) -> list[FileSource]:
    """Those that were dropped together: all of them or none. `files`: name and content of each. Raises StoreFailed."""
    kept: list[FileSource] = []
    try:
        for name, content in files:
            kept.append(keep_upload(data_dir, name, content))
    except StoreFailed:
        discard_uploads(kept)
        raise
    return kept


def discard_uploads(sources: Iterable[Source]) -> None:
    """Those that are uploads: nobody else has them."""
    for source in sources:
        if isinstance(source, FileSource) and source.is_upload:
            source.path.unlink(missing_ok=True)


def discard_all_uploads(data_dir: Path, *, older: float = 0) -> None:
    """What a process that died left behind. `older`: than so many seconds, where other processes may have some."""
    if not older:
        shutil.rmtree(upload_folder(data_dir), ignore_errors=True)
        return
    for left in upload_folder(data_dir).glob("*"):
        with suppress(FileNotFoundError):  # another has just taken it in
            if time.time() - left.stat().st_mtime > older:
                left.unlink()


# Re-ingesting: where the content of a document that was added once is to be had


def without_members(documents: Iterable[DocumentRecord]) -> list[DocumentRecord]:
    """Without members of an archive that is itself among them: it brings them once more."""
    each = list(documents)
    sources = {document.source for document in each}
    return [document for document in each if document.parent not in sources]


def source_of(document: DocumentRecord, kept: Set[tuple[str, int]]) -> Source:
    """Its original; where that is gone, what it came from. `kept`: document and revision of all that are there."""
    revision = document.incoming or document.revision
    if revision and (document.id, revision) in kept:
        return StoredSource(document.id, document.source)
    return _first_source_of(document)


def source_to_retry(document: DocumentRecord, kept: Set[tuple[str, int]]) -> Source:
    """The same for the version that failed: of one that never came (a page, say), what is kept is an older one."""
    never_came = document.error and not document.incoming
    return _first_source_of(document) if never_came else source_of(document, kept)


def _first_source_of(document: DocumentRecord) -> Source:
    if document.parent and is_address(document.source):
        return SiteSource(CrawlOptions(url=document.source, depth=0, limit=1), document.parent)
    if not document.parent and (path := Path(document.source)).is_absolute():
        return FileSource(path)
    return StoredSource(document.id, document.source)
