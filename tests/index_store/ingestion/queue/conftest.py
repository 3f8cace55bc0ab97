import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from index_store.base.settings.settings import Settings
from index_store.ingestion.queue import delivery
from tests.index_store.embedding_service import EmbeddingService
from tests.servers.chroma import ChromaServer
from tests.servers.postgres import PostgresServer


@pytest.fixture
def database_url(postgres: PostgresServer) -> Iterator[SecretStr]:
    url = postgres.new_database()
    yield SecretStr(url)
    postgres.drop(url)


@pytest.fixture
def queued(
    tmp_path: Path,
    database_url: SecretStr,
    chroma: ChromaServer,
    service: EmbeddingService,
    monkeypatch: pytest.MonkeyPatch,
) -> Settings:
    """Settings of an app that leaves all work to workers, and of these. A dead worker is noticed soon."""
    monkeypatch.setattr(delivery, "BEAT", 0.5)
    monkeypatch.setattr(delivery, "DEAD", 3.0)
    monkeypatch.setattr(delivery, "SWEEP", 0.5)
    return Settings(
        data_dir=tmp_path / "data",
        database_url=database_url,
        chroma_url=SecretStr(chroma.url),
        workers="elsewhere",
        openai_base_url=service.base_url,
        embedding_model="model-a",
        model_retries=0,
    )


def environment(settings: Settings) -> dict[str, str]:
    """The environment of a process with these settings."""
    assert settings.database_url
    assert settings.chroma_url
    return {
        **os.environ,
        "DATA_DIR": str(settings.data_dir),
        "DATABASE_URL": settings.database_url.get_secret_value(),
        "CHROMA_URL": settings.chroma_url.get_secret_value(),
        "OPENAI_BASE_URL": str(settings.openai_base_url),
        "EMBEDDING_MODEL": settings.embedding_model,
        "MODEL_RETRIES": "0",
    }


class WorkerProcess:
    """`python -m index_store worker`. When the object exists, the worker is at work."""

    def __init__(self, settings: Settings) -> None:
        command = [sys.executable, "-m", "index_store", "worker"]
        self._popen = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(settings))
        assert self._popen.stdout
        assert self._popen.stdout.readline() == b"working\n"

    def end(self, by: int = signal.SIGTERM) -> int:
        """Sends the signal and returns the exit status."""
        self._popen.send_signal(by)
        if self._popen.stdout:
            self._popen.stdout.close()
        return self._popen.wait(60)


@pytest.fixture
def worker_process(queued: Settings) -> Iterator[Callable[[], WorkerProcess]]:
    made: list[WorkerProcess] = []

    def make() -> WorkerProcess:
        made.append(WorkerProcess(queued))
        return made[-1]

    yield make
    for each in made:
        each.end(signal.SIGKILL)
