"""The process is killed while it migrates a data folder of an earlier version: the next start completes it.

Nothing is lost. `make test` tries three moments, `make soak` twenty random ones.
"""

import os
import random
import resource
import signal
import sqlite3
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
from tests.helpers.full_disk import linux
from tests.old_folders import unpack
from tests.rag.scripted import ScriptedChat, ScriptedSource

OLD = Path(__file__).parent / "old_folders" / "before-0.1.0.tar.xz"
DATABASES = ("catalogue", "history")

processes = get_context("forkserver")
# These modules are loaded once, for all processes that are killed.
processes.set_forkserver_preload(["rag.runs.engine", "tests.rag.scripted", "alembic.command", "chromadb"])

Moment = int | str | None
"""the SQL statement before which a process is killed: its number, or how it begins; None for never"""


def start(folder: Path, moment: Moment, bytes_of_a_file: int | None, told: Connection) -> None:
    """Starts the app. If nothing kills it, sends the number of its SQL statements.

    `bytes_of_a_file`: it is killed in the middle of the write that makes any file longer than this.
    """
    count = 0

    def look(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        nonlocal count
        count += 1
        if count == moment or (isinstance(moment, str) and statement.lstrip().startswith(moment)):
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Database, "before_cursor_execute", look)
    if bytes_of_a_file:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # otherwise Python turns the signal into an error
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_of_a_file, resource.RLIM_INFINITY))
    Engine(Settings(data_dir=folder, web_search="off"), source=ScriptedSource(ScriptedChat()))
    told.send(count)
    os._exit(0)  # without cleaning up, like the processes that are killed


def started(folder: Path, moment: Moment = None, *, bytes_of_a_file: int | None = None) -> int:
    """The number of SQL statements of a start, or the signal that ended it, as a negative number."""
    told, tell = processes.Pipe(duplex=False)
    process = processes.Process(target=start, args=(folder, moment, bytes_of_a_file, tell))
    process.start()
    tell.close()
    process.join()
    with told:
        return told.recv() if process.exitcode == 0 else process.exitcode or 0


def unpacked(place: Path) -> Path:
    unpack(OLD, place)
    return place / "data"


def content(file: Path) -> Counter[str]:
    """The whole content of a database, as SQL statements."""
    with closing(sqlite3.connect(file)) as connection:
        return Counter(connection.iterdump())


def contents(folder: Path) -> list[Counter[str]]:
    return [content(folder / f"{name}.sqlite3") for name in DATABASES]


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> list[Counter[str]]:
    return contents(unpacked(tmp_path_factory.mktemp("before")))


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[Counter[str]], int]]:
    """The content after an upgrade that nothing kills, and its number of SQL statements."""
    folder = unpacked(tmp_path_factory.mktemp("upgraded"))
    statements = started(folder)
    return contents(folder), statements


def is_whole(folder: Path, before: list[Counter[str]], after: list[Counter[str]]) -> bool:
    """Starts the app again. The folder is then as if nothing had been killed, with a copy of the old databases."""
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
