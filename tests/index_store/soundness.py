"""Checks that every store must pass when no job is running, and helpers to read originals."""

from pathlib import Path

from index_store.catalogue.records import DocumentStatus
from index_store.library.originals.originals import Original
from index_store.store.index_store import IndexStore


def faults_of(store: IndexStore, data_dir: Path) -> list[str]:
    """Where its parts do not agree, what is pending, and temporary files that are left."""
    pending = [each.source for each in store.documents() if each.status is DocumentStatus.PENDING]
    folders = ("originals/staging", "parsing", "uploads")
    left = [str(file) for folder in folders for file in (data_dir / folder).glob("*")]
    return [*(each.what.en for each in store.check()), *pending, *left]


def assert_sound(store: IndexStore, data_dir: Path) -> None:
    assert faults_of(store, data_dir) == []


def originals(data_dir: Path) -> list[Path]:
    return list((data_dir / "originals").glob("??/*"))


def content(original: Original) -> bytes:
    with original.open() as file:
        return file.read()
