"""Chroma in this process, over a folder that only this process uses."""

import logging
import math
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from index_store.base import errors
from index_store.base.process.child_process import environment
from index_store.vectors.backend import SPACE
from index_store.vectors.local.probe import broken_collections

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

log = logging.getLogger(__name__)

OPEN = "open"
"""name of a file that exists while a process has the folder open; it stays if the process is killed"""

BATCH = 5000
"""records per call; Chroma 1.5 refuses more than 5461"""


NOT_DAMAGED = frozenset(
    (sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN)
)
"""errors of SQLite for a disk or for rights: a file that can't be used now"""


class ChromaFolder:
    """See ChromaBackend. Raises DataFolderDamaged, DataFolderUnusable."""

    batch = BATCH
    cache_seconds = math.inf
    orphan_search_limit = sys.maxsize
    trouble = None

    def __init__(self, folder: Path) -> None:
        # Imported here: it takes half a second, which `--help` and the parser's process save.
        import chromadb
        from chromadb.api.shared_system_client import SharedSystemClient
        from chromadb.config import Settings
        from chromadb.errors import ChromaError

        self._folder = folder
        self._open = folder / OPEN
        self.broken = broken_collections(folder) if self._open.exists() else set()
        """collections that can't be read since the last process was killed"""
        self._gate = threading.Condition()
        self._searches = 0
        try:
            self._client = chromadb.PersistentClient(path=folder, settings=Settings(anonymized_telemetry=False))
        except ChromaError as error:
            # Otherwise Chroma 1.5 keeps what it could not start for the next who opens this folder in this process.
            SharedSystemClient._identifier_to_system.pop(str(folder), None)  # noqa: SLF001
            raise _as_plain(error, folder) from error
        self._open.touch()

    def close(self) -> None:
        self._client.close()  # type: ignore[attr-defined]  # the client has it, Chroma's protocol of clients does not
        self._open.unlink(missing_ok=True)

    def watch(self, on_return: Callable[[], object]) -> None:
        """Does nothing: a folder can always be reached."""

    def stop_watching(self) -> None:
        """Does nothing."""

    def get(self, name: str) -> "Collection":
        # embedding_function=None: otherwise Chroma would download its default one.
        return self._client.get_collection(name, embedding_function=None)

    def get_or_create(self, name: str) -> "Collection":
        return self._client.get_or_create_collection(name, embedding_function=None, configuration=SPACE)

    def names(self) -> set[str]:
        return {collection.name for collection in self._client.list_collections()}

    def drop(self, name: str) -> None:
        try:
            self._client.delete_collection(name)
        finally:
            with self._gate:
                self._gate.wait_for(lambda: not self._searches)
                self._give_space_back()

    def _give_space_back(self) -> None:
        """Frees space that Chroma 1.5 keeps: the folders of deleted collections, and the pages of their rows."""
        program, database = Path(__file__).with_name("compact.py"), self._folder / "chroma.sqlite3"
        compact = [sys.executable, "-I", str(program), str(database)]
        done = subprocess.run(  # noqa: S603 - our own
            compact, capture_output=True, encoding="utf-8", env=environment(), check=False
        )
        if done.returncode:
            log.warning("Chroma's database could not be compacted: %s", done.stderr)
            return
        used = set(done.stdout.split())
        for folder in self._folder.iterdir():
            if folder.is_dir() and folder.name not in used:
                shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Compacting and searches wait for each other: Chroma fails if its database is locked for seconds."""
        with self._gate:
            self._searches += 1
        try:
            yield
        finally:
            with self._gate:
                self._searches -= 1
                self._gate.notify_all()


def _as_plain(error: Exception, folder: Path) -> errors.IndexStoreError:
    """Chroma's errors have one type; only their text has the code of SQLite, with details above its lowest 8 bits."""
    found = re.search(r"\(code: (\d+)\) (.+)", str(error))
    if found and int(found[1]) & 0xFF in NOT_DAMAGED:
        return errors.DataFolderUnusable(folder=folder.parent.absolute(), reason=found[2])
    return errors.DataFolderDamaged(file=folder.name, folder=folder.parent.absolute())
