"""Files that came through a browser, kept on disk until they are added."""

import shutil
import uuid
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import BinaryIO

from index_store.ingestion.sources import FileSource


def folder(data_dir: Path) -> Path:
    return data_dir / "uploads"


def keep(data_dir: Path, name: str, content: BinaryIO) -> FileSource:
    """The name is the browser's word and may hold anything, so the file gets one of ours."""
    path = folder(data_dir) / f"{uuid.uuid4().hex}{PurePath(name).suffix[:16]}"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        shutil.copyfileobj(content, file)
    return FileSource(path, PurePath(name.replace("\\", "/")).name, is_upload=True)


def discard(sources: Iterable[FileSource]) -> None:
    for source in sources:
        source.path.unlink(missing_ok=True)


def discard_all(data_dir: Path) -> None:
    """What a process that died left behind."""
    shutil.rmtree(folder(data_dir), ignore_errors=True)
