"""What each test would make anew, although it is always the same: empty tables, and what is known of each setting."""

import asyncio
import shutil
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic.fields import FieldInfo
from pydantic_settings import EnvSettingsSource
from sqlalchemy import Engine

from index_store.base.database.backend import DatabaseLocation
from index_store.base.database.database import Schema, open_database
from index_store.base.database.sqlite import SqliteFile
from index_store.catalogue import catalogue
from rag.runs.fork.sqlite_checkpoints import FILE, SqliteCheckpoints
from rag.runs.history import schema as history


@contextmanager
def settings() -> Iterator[None]:
    """Whenever settings are read, pydantic-settings looks at the type of each of them several times, which takes as
    long as to open a database.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_extract_field_info", "_field_is_complex"):
            patch.setattr(EnvSettingsSource, name, _once_for_each_setting(getattr(EnvSettingsSource, name)))
        yield


def _once_for_each_setting(usual: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[Hashable, tuple[FieldInfo, Any]] = {}

    def found(source: EnvSettingsSource, field: FieldInfo, *rest: Any) -> Any:
        key = type(source), source.settings_cls, id(field)
        if key not in known:
            known[key] = field, usual(source, field, *rest)
        return known[key][1]

    return found


@contextmanager
def tables(new_folder: Callable[[], Path]) -> Iterator[None]:
    """In a new folder, catalogue, history and checkpoints begin with a copy of their empty tables."""
    usual_checkpoints = SqliteCheckpoints.open

    @cache
    def empty(name: str, schema: Schema) -> Path:
        file = new_folder() / name
        open_database(SqliteFile(file), schema).dispose()
        return file

    @cache
    def empty_checkpoints() -> Path:
        async def made(folder: Path) -> None:
            checkpoints = await usual_checkpoints(folder)
            assert checkpoints
            await checkpoints.close()

        folder = new_folder()
        asyncio.run(made(folder))
        return folder / FILE

    def opened(place: DatabaseLocation, schema: Schema) -> Engine:
        if isinstance(place, SqliteFile):
            _copy(lambda: empty(place.name, schema), place.file)
        return open_database(place, schema)

    async def opened_checkpoints(data_dir: Path) -> SqliteCheckpoints | None:
        if not (data_dir / FILE).exists():
            await asyncio.to_thread(empty_checkpoints)
            _copy(empty_checkpoints, data_dir / FILE)
        return await usual_checkpoints(data_dir)

    with pytest.MonkeyPatch.context() as patch:
        for module in (catalogue, history):
            patch.setattr(module, "open_database", opened)
        patch.setattr(SqliteCheckpoints, "open", opened_checkpoints)
        yield


def _copy(original: Callable[[], Path], file: Path) -> None:
    """Does nothing if there is a file. Without room or folder, there is none after it: what the app then says is what
    the test is about.
    """
    with suppress(OSError):
        if file.exists():
            return
        try:
            shutil.copyfile(original(), file)
        except OSError:
            file.unlink(missing_ok=True)
