"""Private folders for people's data."""

from pathlib import Path

from filelock import FileLock


def make_private(folder: Path) -> None:
    """Creates the folder for its account only. An existing folder keeps its rights. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def changes_of(folder: Path) -> FileLock:
    """The lock for changes of catalogue, vectors or originals of a data folder. A backup holds it while they must not
    change. The system releases it when a process dies.
    """
    return FileLock(folder / "changes.lock", thread_local=False)


def backup_of(folder: Path) -> FileLock:
    """The lock for making a backup of a data folder."""
    return FileLock(folder / "backup.lock", thread_local=False)
