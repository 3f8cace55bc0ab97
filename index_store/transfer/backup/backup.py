"""Writes a data folder to one archive: a zip with its table of contents last, and a manifest of hashes."""

# ruff: noqa: PTH100 - a folder is shown as it was given: Path.resolve() would follow links

import hashlib
import os
import shutil
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import Timeout

from index_store.base.errors import DataFolderUnusable
from index_store.base.folders import backup_of, refuse_root
from index_store.library.data_folder import IDENTITY, LINKS, NAMESPACE, ORIGINALS_NOTED
from index_store.library.library import CATALOGUE, CHROMA
from index_store.library.originals.registry import FOLDER as ORIGINALS
from index_store.transfer.backup import errors
from index_store.transfer.backup.manifest import BLOCK, NAME, Manifest, is_of_a_backup
from index_store.transfer.backup.snapshot import take_snapshot
from index_store.vectors.local.probe import LAST

FAST = 1
"""zlib's compression level"""

OUTPUT = Path("-")
"""how many programs name standard output"""


def back_up(folder: Path, file: Path) -> Manifest:
    """The app may run, in another process. The file appears when it is complete, readable for its account only.

    Raises NotAsRoot, NothingToBackUp, CatalogueNotInFolder, VectorsNotInFolder, OriginalsNotInFolder, BackupToOutput,
    BackupIsFolder, BackupExists, BackupUnderWay, BackupFailed, DataFolderUnusable, DataFolderDamaged.
    """
    try:
        _refuse(folder)
    except OSError as error:  # its files are not for this account
        raise DataFolderUnusable(folder=os.path.abspath(folder), reason=error.strerror or error) from error
    try:
        example = f"{datetime.now(UTC):%Y-%m-%d}.zip"
        if file == OUTPUT:
            raise errors.BackupToOutput(example=example)
        if file.is_dir():
            raise errors.BackupIsFolder(file=file, example=file / example)
        if file.exists():
            raise errors.BackupExists(file=file)
        with backup_of(folder).acquire(timeout=0):
            return _back_up(folder, file)
    except Timeout as error:
        raise errors.BackupUnderWay(folder=os.path.abspath(folder)) from error
    except OSError as error:
        raise errors.BackupFailed(file=file, reason=error.strerror or error) from error
    except sqlite3.Error as error:
        raise errors.BackupFailed(file=file, reason=error) from error


def _refuse(folder: Path) -> None:
    refuse_root(folder)
    if (folder / IDENTITY).exists():
        raise errors.CatalogueNotInFolder(folder=os.path.abspath(folder))
    if (folder / NAMESPACE).exists():
        raise errors.VectorsNotInFolder(folder=os.path.abspath(folder))
    if (folder / ORIGINALS_NOTED).exists():
        raise errors.OriginalsNotInFolder(folder=os.path.abspath(folder))
    if not (folder / CATALOGUE).exists() or not (folder / CHROMA).exists():
        raise errors.NothingToBackUp(folder=os.path.abspath(folder))


def _back_up(folder: Path, file: Path) -> Manifest:
    # Next to the file, not in the data folder: a backup that fills a disk must not stop the app.
    with _anew(file.with_name(f"{file.name}.part")) as work, _anew(folder / LINKS) as links:
        copies = work / "copies"
        copies.mkdir()
        versions = take_snapshot(folder, copies, links)
        whole = work / "archive"
        manifest = _pack(whole, versions, copies, links)
        whole.rename(file)
        _keep_through_power_cuts(file.parent)
    return manifest


@contextmanager
def _anew(folder: Path) -> Iterator[Path]:
    """A new private folder. An existing one was left by a backup that was killed, and is deleted."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _pack(archive: Path, versions: dict[str, str | None], copies: Path, links: Path) -> Manifest:
    made_at = datetime.now(UTC)
    files: dict[str, tuple[int, str]] = {}
    descriptor = os.open(archive, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        with zipfile.ZipFile(stream, "w", compresslevel=FAST) as packed:
            for name, file in _files(copies, links):
                # Text compresses well; originals and vectors hardly do.
                is_text = name.endswith((".sqlite3", ".jsonl"))
                packed.compression = zipfile.ZIP_DEFLATED if is_text else zipfile.ZIP_STORED
                files[name] = _put(packed, name, file)
            manifest = Manifest(made_at=made_at, versions=versions, files=files)
            packed.compression = zipfile.ZIP_DEFLATED
            packed.writestr(NAME, manifest.model_dump_json())
        stream.flush()
        os.fsync(stream.fileno())
    return manifest


def _files(copies: Path, links: Path) -> Iterator[tuple[str, Path]]:
    """In the order in which they were written."""
    for prefix, folder in (("", copies), (f"{ORIGINALS}/", links)):
        for file in sorted(folder.rglob("*"), key=_written_at):
            name = prefix + file.relative_to(folder).as_posix()
            if file.is_file() and is_of_a_backup(name):
                yield name, file


def _written_at(file: Path) -> tuple[int, bool]:
    """Among files with the same time, the one that ends a graph comes last."""
    return file.stat().st_mtime_ns, file.name == LAST


def _put(packed: zipfile.ZipFile, name: str, file: Path) -> tuple[int, str]:
    hashed, size = hashlib.sha256(), 0
    with file.open("rb") as source, packed.open(name, "w", force_zip64=True) as target:
        while block := source.read(BLOCK):
            hashed.update(block)
            size += len(block)
            target.write(block)
    return size, hashed.hexdigest()


def _keep_through_power_cuts(folder: Path) -> None:
    """Writes the file's new name to disk. On Windows a folder can't be opened."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
