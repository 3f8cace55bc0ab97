"""Chroma makes its tables in each new folder by migrations. Here, a new folder begins with a copy of them."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from index_store.vectors.local.folder import ChromaFolder


@contextmanager
def copied(new_folder: Callable[[], Path]) -> Iterator[None]:
    usual = ChromaFolder.__init__

    @cache
    def tables() -> Path:
        folder = new_folder()
        made = ChromaFolder.__new__(ChromaFolder)
        usual(made, folder)
        made.close()
        return folder / "chroma.sqlite3"

    def opened(self: ChromaFolder, folder: Path) -> None:
        file = folder / tables().name
        if not file.exists():
            folder.mkdir(parents=True, exist_ok=True)
            try:
                shutil.copy(tables(), file)
            except OSError:  # as on a full disk: what Chroma then says is what the test is about
                file.unlink(missing_ok=True)
        usual(self, folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ChromaFolder, "__init__", opened)
        yield
