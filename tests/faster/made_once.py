"""What each test would make anew, although it is always the same: empty tables, and what is known of each setting."""

import asyncio
import shutil
import sys
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
    """In a new folder, catalogue, history and checkpoints begin with a copy of their empty tables.

    Only where the tests have imported them by now: they take two seconds, and many tests do not need them.
    """

    @cache
    def empty(name: str, schema: Schema) -> Path:
        file = new_folder() / name
        open_database(SqliteFile(file), schema).dispose()
        return file

    def opened(place: DatabaseLocation, schema: Schema) -> Engine:
        if isinstance(place, SqliteFile):
            _copy(lambda: empty(place.name, schema), place.file)
        return open_database(place, schema)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("index_store.catalogue.catalogue", "rag.runs.history.schema"):
            if module := sys.modules.get(name):
                patch.setattr(module, "open_database", opened)
        if checkpoints := sys.modules.get("rag.runs.fork.sqlite_checkpoints"):
            patch.setattr(checkpoints.SqliteCheckpoints, "open", _opened_checkpoints(checkpoints, new_folder))
        yield


def _opened_checkpoints(module: Any, new_folder: Callable[[], Path]) -> Callable[[Path], Any]:
    usual = module.SqliteCheckpoints.open

    @cache
    def empty() -> Path:
        async def made(folder: Path) -> None:
            checkpoints = await usual(folder)
            await checkpoints.close()

        folder = new_folder()
        asyncio.run(made(folder))
        return folder / module.FILE

    async def opened(data_dir: Path) -> Any:
        if not (data_dir / module.FILE).exists():
            await asyncio.to_thread(empty)  # it needs an event loop of its own
            _copy(empty, data_dir / module.FILE)
        return await usual(data_dir)

    return opened


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
