"""The process is killed while it brings a data folder of an earlier version up to date: the next start does the rest,
and nothing is lost. Three moments in `make test`, twenty by chance in `make soak`.
"""

import os
import random
import resource
import signal
import sqlite3
import tarfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from sqlalchemy import Engine as Database
from sqlalchemy import event

from rag.runs.engine import Engine
from rag.settings import Settings
from tests.full_disk import linux
from tests.rag.scripted import ScriptedChat, ScriptedSource

OLD = Path(__file__).parent / "old_folders" / "before-0.1.0.tar.xz"
DATABASES = ("catalogue", "history")

processes = get_context("forkserver")
# Loaded once for all that are killed.
processes.set_forkserver_preload(["rag.runs.engine", "tests.rag.scripted", "alembic.command", "chromadb"])

Moment = int | str | None
"""the statement before which a process is killed, by its number or its beginning; or never"""


def start(folder: Path, moment: Moment, bytes_of_a_file: int | None, told: Connection) -> None:
    """The app's start. Tells how many statements there were where nothing kills it.

    `bytes_of_a_file`: it is killed in the midst of the write that makes any file longer.
    """
    count = 0

    def look(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        nonlocal count
        count += 1
        if count == moment or (isinstance(moment, str) and statement.lstrip().startswith(moment)):
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Database, "before_cursor_execute", look)
    if bytes_of_a_file:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python would make an error of it
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_of_a_file, resource.RLIM_INFINITY))
    Engine(Settings(data_dir=folder, web_search="off"), models=ScriptedSource(ScriptedChat()))
    told.send(count)
    os._exit(0)  # it is killed anyhow


def started(folder: Path, moment: Moment = None, *, bytes_of_a_file: int | None = None) -> int:
    """The statements of a start, or the signal that ended it, below zero."""
    told, tell = processes.Pipe(duplex=False)
    process = processes.Process(target=start, args=(folder, moment, bytes_of_a_file, tell))
    process.start()
    tell.close()
    process.join()
    with told:
        return told.recv() if process.exitcode == 0 else process.exitcode or 0


def unpacked(place: Path) -> Path:
    with tarfile.open(OLD) as packed:
        packed.extractall(place, filter="data")
    return place / "data"


def content(file: Path) -> Counter[str]:
    """All that is in it, a line each."""
    with closing(sqlite3.connect(file)) as connection:
        return Counter(connection.iterdump())


def contents(folder: Path) -> list[Counter[str]]:
    return [content(folder / f"{name}.sqlite3") for name in DATABASES]


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> list[Counter[str]]:
    return contents(unpacked(tmp_path_factory.mktemp("before")))


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[Counter[str]], int]]:
    """What it is to become, and how many statements that takes."""
    folder = unpacked(tmp_path_factory.mktemp("upgraded"))
    statements = started(folder)
    return contents(folder), statements


def is_whole(folder: Path, before: list[Counter[str]], after: list[Counter[str]]) -> bool:
    """After the next start: it is as if nothing had happened, with a copy of what was before it."""
    assert started(folder) > 0
    assert contents(folder) == after
    assert contents_of_copies(folder) == before
    assert list(folder.glob("*.part*")) == []
    return True


def contents_of_copies(folder: Path) -> list[Counter[str]]:
    return [content(folder / f"{name}.version-0000.sqlite3") for name in DATABASES]


@linux
def test_a_folder_whose_upgrade_was_killed_is_brought_up_to_date_by_the_next_start_with_nothing_lost(
    upgraded, before, tmp_path
):
    after, _ = upgraded
    folder = unpacked(tmp_path)
    size = (folder / "history.sqlite3").stat().st_size
    assert started(folder, "ALTER TABLE _alembic_tmp_indexes") == -signal.SIGKILL
    assert contents(folder) == before
    assert started(folder, bytes_of_a_file=size // 2) == -signal.SIGXFSZ
    assert started(folder, "UPDATE runs SET follows") == -signal.SIGKILL
    assert contents(folder) == [after[0], before[1]]
    assert is_whole(folder, before, after)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@linux
def test_whenever_an_upgrade_is_killed_the_next_start_does_the_rest(upgraded, before, tmp_path):
    after, statements = upgraded
    chance = random.Random(int(os.environ.get("CRASH_SEED", "1")))
    for number, moment in enumerate(sorted(chance.sample(range(1, statements + 1), 20))):
        folder = unpacked(tmp_path / str(number))
        assert started(folder, moment) == -signal.SIGKILL, moment
        assert is_whole(folder, before, after), moment
