"""The kinds of sources: files, uploads, archives, sites, and documents with a stored original."""

# ruff: noqa: PTH100 - a source is the path as given: Path.resolve() would follow links

import filecmp
import logging
import os
import shutil
import time
import unicodedata
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import BinaryIO

from index_store.base.database.database import storable
from index_store.base.errors import StoreFailed
from index_store.crawl import CrawlOptions
from index_store.parsing.loaders.formats import is_left_out

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FileSource:
    """A document, or an archive of documents."""

    path: Path
    name: str | None = None
    """its name in the index, if that is not its path"""
    is_upload: bool = False
    """whether the store takes the file over and deletes it"""

    @property
    def source(self) -> str:
        return stored_source(self.name or os.path.abspath(self.path))


@dataclass(frozen=True)
class SiteSource:
    """A site to crawl."""

    options: CrawlOptions
    parent: str | None = None
    """the site that a single page belongs to; None: the source is a site itself"""

    @property
    def source(self) -> str:
        return self.options.url


@dataclass(frozen=True)
class StoredSource:
    """A document of the index that is read again from its stored original."""

    document_id: str
    source: str


Source = FileSource | SiteSource | StoredSource


def last_of_each(sources: Iterable[Source]) -> list[Source]:
    """Of several with the same name, only the last. Otherwise a job could add one version after the other, and would
    tell of the document twice if the first was ready in time. A site and its first page are not the same.
    """
    return list({(type(each), stored_source(each.source)): each for each in sources}.values())


def with_the_name_of_another(sources: Iterable[Source]) -> list[FileSource]:
    """The files that `last_of_each` leaves out although their content is another than that of the last."""
    files = [each for each in sources if isinstance(each, FileSource)]
    last = {each.source: each for each in files}
    return [each for each in files if not _is_same(each, last[each.source])]


def _is_same(file: FileSource, other: FileSource) -> bool:
    try:
        return file.path == other.path or filecmp.cmp(file.path, other.path, shallow=False)
    except (OSError, ValueError):  # one of them can't be read, or its name has a NUL
        return False


def is_address(source: str) -> bool:
    """Whether the source is an address and not a path. The crawler checks whether it can be crawled."""
    return "://" in source


def stored_source(source: str) -> str:
    """The name in a form that SQLite stores: a file's name may hold bytes that are not text, and é in two forms."""
    return unicodedata.normalize("NFC", storable(source.replace("\0", "")))


def expand(paths: Iterable[Path], on_error: Callable[[OSError], object] | None = None) -> list[Path]:
    """Replaces folders by their files, at any depth and in order. Hidden files, and those that systems keep for
    themselves, are left out.

    `on_error`: called for each folder that can't be read, which is left out too.
    """
    files: list[Path] = []
    for path in paths:
        if not os.path.isdir(path):  # noqa: PTH112 - Path.is_dir() raises for a path that may not be looked at
            files.append(path)
            continue
        below = []
        # Links to folders are not followed: they may form a circle.
        for folder, folders, names in os.walk(path, onerror=on_error):
            folders[:] = [name for name in folders if not is_left_out(name)]
            below += [Path(folder, name) for name in names if not is_left_out(name)]
        files += sorted(below)
    return files


def file_name(source: str) -> str:
    return PurePath(source).name or source


# Uploads: files that came through a browser, on disk until they are added


def upload_folder(data_dir: Path) -> Path:
    return data_dir / "uploads"


def keep_upload(data_dir: Path, name: str, content: BinaryIO) -> FileSource:
    """Writes the file under a name of ours: the browser's name may hold anything. Raises StoreFailed."""
    path = upload_folder(data_dir) / f"{uuid.uuid4().hex}{PurePath(name).suffix[:16]}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            shutil.copyfileobj(content, file)
    except OSError as error:
        _discard(path)
        raise StoreFailed(name=name) from error
    return FileSource(path, PurePath(name.replace("\\", "/")).name, is_upload=True)


def keep_uploads(data_dir: Path, files: Iterable[tuple[str, BinaryIO]]) -> list[FileSource]:
    """Keeps all of these files, or none. `files`: name and content of each. Raises StoreFailed."""
    kept: list[FileSource] = []
    try:
        for name, content in files:
            kept.append(keep_upload(data_dir, name, content))
    except StoreFailed:
        discard_uploads(kept)
        raise
    return kept


def discard_uploads(sources: Iterable[Source]) -> None:
    """Deletes the uploads among these sources: they exist nowhere else."""
    for source in sources:
        if isinstance(source, FileSource) and source.is_upload:
            _discard(source.path)


def _discard(upload: Path) -> None:
    """Raises nothing: in a folder that became read-only, a job must still come to its end."""
    try:
        upload.unlink(missing_ok=True)
    except OSError as error:
        log.warning("An upload can't be deleted before the next start: %s", error)


def discard_all_uploads(data_dir: Path, *, older: float = 0) -> None:
    """Deletes the uploads of a process that died. `older`: only files older than this, in seconds, because other
    processes may still use newer ones.
    """
    if not older:
        shutil.rmtree(upload_folder(data_dir), ignore_errors=True)
        return
    for left in upload_folder(data_dir).glob("*"):
        with suppress(FileNotFoundError):  # another process has just taken it
            if time.time() - left.stat().st_mtime > older:
                left.unlink()
