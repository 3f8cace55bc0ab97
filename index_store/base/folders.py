"""Private folders for people's data."""

from pathlib import Path

from filelock import FileLock


def make_private(folder: Path) -> None:
    """For its account alone where it is made here; one that is there keeps its rights. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def changes_of(folder: Path) -> FileLock:
    """Held by whoever changes catalogue, vectors or originals of a data folder, and by another process for as long as
    they must stand still. The system lets go of it for a process that dies.
    """
    return FileLock(folder / "changes.lock", thread_local=False)


def backup_of(folder: Path) -> FileLock:
    """Held by whoever makes a backup of a data folder."""
    return FileLock(folder / "backup.lock", thread_local=False)
