"""Folders that hold what people have entrusted to the app."""

from pathlib import Path


def make_private(folder: Path) -> None:
    """For its account alone where it is made here; one that is there keeps its rights. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
