"""Restores an archive into an empty data folder, only if every file is unchanged since the backup."""

# ruff: noqa: PTH100 - a folder is shown as it was given: Path.resolve() would follow links

import hashlib
import os
import shutil
import stat
import struct
import time
import zipfile
import zlib
from contextlib import ExitStack
from pathlib import Path

from pydantic import ValidationError

from index_store.access.audit.audit import FOLDER as AUDIT
from index_store.base.folders import write_all_to_disk
from index_store.catalogue.schema import SCHEMA
from index_store.library.data_folder import RESTORING, lock_folder
from index_store.library.library import CATALOGUE, CHROMA
from index_store.library.originals.registry import FOLDER as ORIGINALS
from index_store.transfer.backup import errors
from index_store.transfer.backup.manifest import BLOCK, LAYOUT, NAME, Manifest, databases, is_of_a_backup
from index_store.transfer.backup.snapshot import VECTORS
from index_store.vectors.local.folder import OPEN

LONGEST_MANIFEST = 256 * 1024 * 1024
"""bytes: a million files"""

STAYS = frozenset(
    {"models", "logs", "lost+found", "index_store.lock", "index_store.pid", "changes.lock", "backup.lock"}
)
"""what an empty folder may hold: nothing that a backup contains, or that is someone's data"""

PACKED_BY = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

_UNREADABLE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, ValueError
)  # fmt: skip
"""the errors of zipfile for a damaged or hostile archive"""


def restore(file: Path, folder: Path) -> Manifest:
    """Restores everything or nothing. If it is killed, no app opens the folder, but it can be restored to again.

    Raises BackupUnreadable, NotABackup, BackupDamaged, BackupNewer, FolderNotEmpty, RestoreFailed, StoreInUse,
    DataFolderUnusable.
    """
    with ExitStack() as opened:
        try:
            source = opened.enter_context(file.open("rb"))
        except OSError as error:
            raise errors.BackupUnreadable(file=file, reason=error.strerror or error) from error
        try:
            packed = opened.enter_context(zipfile.ZipFile(source))
            manifest = _manifest(packed, file)
        except (OSError, *_UNREADABLE) as error:
            raise errors.NotABackup(file=file) from error
        opened.callback(lock_folder(folder).release)
        _refuse_what_is_there(folder)
        try:
            _restore(packed, manifest, file, folder)
        except OSError as error:
            megabytes = manifest.size // 1_000_000 + 1
            reason = error.strerror or error
            raise errors.RestoreFailed(folder=os.path.abspath(folder), reason=reason, megabytes=megabytes) from error
        return manifest


def _manifest(packed: zipfile.ZipFile, file: Path) -> Manifest:
    """The manifest of an archive with exactly its files. Raises BackupDamaged, BackupNewer, and zipfile's errors."""
    info = packed.NameToInfo.get(NAME)
    if info is None or info.file_size > LONGEST_MANIFEST:
        raise errors.NotABackup(file=file)
    try:
        manifest = Manifest.model_validate_json(packed.read(info))
    except ValidationError as error:
        raise errors.NotABackup(file=file) from error
    if manifest.layout > LAYOUT:
        raise errors.BackupNewer(file=file, name=NAME, found=manifest.layout, known=LAYOUT)
    found = manifest.versions.get(CATALOGUE)
    if found is not None and found not in SCHEMA.versions:
        raise errors.BackupNewer(file=file, name=CATALOGUE, found=found, known=SCHEMA.versions[-1])
    if not {CATALOGUE, f"{CHROMA}/{VECTORS}"} <= manifest.files.keys():
        raise errors.NotABackup(file=file)
    names = [each.filename for each in packed.infolist() if each.filename != NAME]
    differ = set(names) ^ manifest.files.keys()
    twice = len(names) != len(set(names))
    strange = [each.filename for each in packed.infolist() if not _is_plain(each)]
    if differ or twice or strange:
        raise errors.BackupDamaged(file=file, name=min([*differ, *strange], default=NAME))
    return manifest


def _is_plain(info: zipfile.ZipInfo) -> bool:
    """Whether it is a file, not a link or folder, in a place where a backup has one."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    is_read = info.compress_type in PACKED_BY and kind in (0, stat.S_IFREG)
    return is_read and (info.filename == NAME or is_of_a_backup(info.filename))


def _refuse_what_is_there(folder: Path) -> None:
    """Raises FolderNotEmpty. Deletes what an interrupted restore has left."""
    if (folder / RESTORING).exists():
        for each in (*databases(folder), *folder.glob("*.sqlite3-*")):
            each.unlink()
        for name in (CHROMA, ORIGINALS, AUDIT):
            shutil.rmtree(folder / name, ignore_errors=True)
        shutil.rmtree(folder / RESTORING)
    found = sorted(each.name for each in folder.iterdir() if each.name not in STAYS)
    if found:
        some = ", ".join(found[:3]) + (" …" if len(found) > 3 else "")
        raise errors.FolderNotEmpty(folder=os.path.abspath(folder), found=some)


def _restore(packed: zipfile.ZipFile, manifest: Manifest, file: Path, folder: Path) -> None:
    unpacked = folder / RESTORING
    unpacked.mkdir(mode=0o700)
    try:
        now = time.time_ns()
        for number, (name, (size, digest)) in enumerate(manifest.files.items()):
            place = unpacked / name
            _unpack(packed, name, place, size, digest, file)
            # Keeps the order in which they were saved: vectors/local/probe.py compares these times.
            os.utime(place, ns=(now + number, now + number))
        # As after a kill: the first process that opens it checks whether the vectors can be read.
        (unpacked / CHROMA / OPEN).touch()
        write_all_to_disk()  # so that a power cut leaves a complete folder, or one marked as incomplete
    except BaseException:
        shutil.rmtree(unpacked, ignore_errors=True)
        raise
    for each in unpacked.iterdir():
        each.rename(folder / each.name)
    write_all_to_disk()
    unpacked.rmdir()


def _unpack(packed: zipfile.ZipFile, name: str, place: Path, size: int, digest: str, file: Path) -> None:
    """Raises BackupDamaged; OSError if it can't write."""
    place.parent.mkdir(parents=True, exist_ok=True)
    hashed, left = hashlib.sha256(), size
    with place.open("xb") as target, ExitStack() as opened:
        try:
            source = opened.enter_context(packed.open(name))
        except (OSError, *_UNREADABLE) as error:
            raise errors.BackupDamaged(file=file, name=name) from error
        while True:
            try:
                block = source.read(min(BLOCK, left + 1))
            except (OSError, *_UNREADABLE) as error:
                raise errors.BackupDamaged(file=file, name=name) from error
            if not block:
                break
            left -= len(block)
            if left < 0:
                break
            hashed.update(block)
            target.write(block)
    if left or hashed.hexdigest() != digest:
        raise errors.BackupDamaged(file=file, name=name)
