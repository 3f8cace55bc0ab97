"""Checks that every store must pass when no job is running, and helpers to wait and to read originals."""

import time
from collections.abc import Callable
from pathlib import Path

from index_store.catalogue.records import DocumentStatus
from index_store.library.originals.originals import Original
from index_store.store.index_store import IndexStore


def is_sound(store: IndexStore, data_dir: Path) -> bool:
    """Whether its parts agree, nothing is pending, and no temporary file is left."""
    assert [each.what.en for each in store.check()] == []
    assert [each.source for each in store.documents() if each.status is DocumentStatus.PENDING] == []
    for folder in ("originals/staging", "parsing", "uploads"):
        assert list((data_dir / folder).glob("*")) == []
    return True


def originals(data_dir: Path) -> list[Path]:
    return list((data_dir / "originals").glob("??/*"))


def content(original: Original) -> bytes:
    with original.open() as file:
        return file.read()


def eventually(is_so: Callable[[], object], seconds: float = 60) -> bool:
    until = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
