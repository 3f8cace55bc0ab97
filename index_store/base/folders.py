"""Private folders for people's data, and the locks in a data folder for changes and backups."""

# ruff: noqa: PTH100 - a folder is shown as it was given: Path.resolve() would follow links

import os
import uuid
from pathlib import Path

from filelock import FileLock

from index_store.base.errors import NotAsRoot


def make_private(folder: Path) -> None:
    """Creates the folder for its account only. An existing folder keeps its rights. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def refuse_root(folder: Path) -> None:
    """Refuses root in a data folder of another account, which can't use files that root makes there. Raises NotAsRoot,
    OSError.
    """
    if os.name == "posix" and os.geteuid() == 0 and folder.exists() and (account := folder.stat().st_uid) != 0:
        raise NotAsRoot(folder=os.path.abspath(folder), account=account)


def write_note(file: Path, text: str) -> None:
    """Writes the file whole or not at all: an empty note, as a full disk leaves it, would name nothing of ours, also
    when there is room again. Raises OSError.
    """
    part = file.with_name(f"{file.name}.{uuid.uuid4().hex}")  # other processes may write it at the same moment
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def write_all_to_disk() -> None:
    """After it, a power cut keeps what was written before. Windows has no such call."""
    if hasattr(os, "sync"):
        os.sync()


def changes_of(folder: Path) -> FileLock:
    """The lock for changes of catalogue, vectors or originals of a data folder. A backup holds it while they must not
    change. The system releases it when a process dies.
    """
    return FileLock(folder / "changes.lock", thread_local=False)


def backup_of(folder: Path) -> FileLock:
    """The lock for making a backup of a data folder."""
    return FileLock(folder / "backup.lock", thread_local=False)
