"""Fixtures for backups: an open store, as in a running app, and the commands `backup` and `restore`."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from index_store.base.settings.settings import Settings
from index_store.commands import main
from index_store.ingestion.sources import FileSource
from index_store.store.index_store import IndexStore
from index_store.transfer.backup.backup import back_up
from tests.index_store.embedding_service import EmbeddingService

Write = Callable[..., Path]
Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def app(serviced: Settings, write: Write) -> Iterator[IndexStore]:
    with IndexStore(serviced) as store:
        store.ingest("a", [FileSource(write(f"{name}.md", sections=3)) for name in ("apples", "bananas")]).wait()
        yield store


def started(folder: Path, *arguments: str | Path, **options: object) -> subprocess.Popen[str]:
    """Starts the command in its own process."""
    command = [sys.executable, "-m", "index_store", *map(str, arguments)]
    environment = {**os.environ, "DATA_DIR": str(folder), "LC_ALL": "C.UTF-8"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, encoding="utf-8", **pipes, **options)


@pytest.fixture
def process(serviced: Settings) -> Command:
    """`process("backup", file)`: runs the command in its own process, on the data folder of the app or on `folder`."""

    def run(
        *arguments: str | Path, folder: Path = serviced.data_dir, **options: object
    ) -> subprocess.CompletedProcess[str]:
        with started(folder, *arguments, **options) as process:
            out, err = process.communicate(timeout=120)
        assert "Traceback" not in err
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    return run


@pytest.fixture
def command(serviced: Settings, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The same in this process, which is much faster."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")

    def run(*arguments: str | Path, folder: Path = serviced.data_dir) -> subprocess.CompletedProcess[str]:
        monkeypatch.setenv("DATA_DIR", str(folder))
        with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
            status = main([str(each) for each in arguments])
        return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())

    return run


@pytest.fixture(scope="package")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A backup of two documents, made while their app runs."""
    folder = tmp_path_factory.mktemp("saved")
    for name in ("apples", "bananas"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nThis is what the file of {name} says.")
    with EmbeddingService() as service:
        settings = Settings(
            data_dir=folder / "data", openai_base_url=service.base_url, embedding_model="model-a", model_retries=0
        )
        with IndexStore(settings) as store:
            store.ingest("a", [FileSource(file) for file in folder.glob("*.md")]).wait()
            back_up(settings.data_dir, folder / "saved.zip")
    return (folder / "saved.zip").read_bytes()


@pytest.fixture
def archive(saved: bytes, tmp_path: Path) -> Path:
    file = tmp_path / "saved.zip"
    file.write_bytes(saved)
    return file
