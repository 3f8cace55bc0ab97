"""How much faster two workers add documents than one, if the embedding service takes the same time for each call.

    python -m benchmarks.workers [--documents 240] [--sections 8] [--delay 1] [--workers 1 2]

All parts are real: Debian's Postgres, a Chroma server, the app, workers in their own processes. The service always has
a free core, so the result shows how well the work is spread, and what storing costs in addition.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from pydantic import SecretStr

from benchmarks.parts.child import serving
from benchmarks.parts.machine import Machine
from index_store.base.settings.settings import Settings
from index_store.ingestion.results import IngestStatus
from index_store.ingestion.sources import FileSource
from index_store.store.index_store import IndexStore
from tests.servers.chroma import ChromaServer
from tests.servers.openai_server import OpenAIServer
from tests.servers.postgres import PostgresServer

LEAST = 1.8
"""times as fast with two as with one: the project's target"""


def serve(parent: Connection, delay: float) -> None:
    """Runs until the parent closes its end or dies."""
    with OpenAIServer(delay=delay) as server:
        parent.send(server.base_url)
        parent.poll(None)


@contextmanager
def worker(settings: Settings) -> Iterator[None]:
    """A worker process, ready when the context begins. Raises ValueError without both servers."""
    if settings.database_url is None or settings.chroma_url is None:
        raise ValueError("no queue")
    variables = {
        **os.environ,
        "DATA_DIR": str(settings.data_dir),
        "DATABASE_URL": settings.database_url.get_secret_value(),
        "CHROMA_URL": settings.chroma_url.get_secret_value(),
        "OPENAI_BASE_URL": str(settings.openai_base_url),
        "EMBEDDING_MODEL": settings.embedding_model,
    }
    command = [sys.executable, "-m", "index_store", "worker"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=variables) as process:
        if process.stdout:
            process.stdout.readline()
        try:
            yield
        finally:
            process.terminate()


def document(number: int, sections: int) -> str:
    parts = [f"## Part {part}\n\nThis is what document {number} says in part {part}." for part in range(sections)]
    return "\n\n".join([f"# Document {number}", *parts])


def seconds(settings: Settings, files: Sequence[Path], workers: int) -> float:
    """From the first waiting document until the last one can be found. Raises RuntimeError if some can't."""
    with IndexStore(settings) as app, ExitStack() as running:
        for _ in range(workers):
            running.enter_context(worker(settings))
        begun = time.perf_counter()
        job = app.ingest("a", [FileSource(file) for file in files])
        ready = sum(result.status is IngestStatus.READY for result in job.as_completed())
        took = time.perf_counter() - begun
        if ready != len(files) or app.check():
            raise RuntimeError(f"{ready} of {len(files)} documents are ready")
    return took


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Times adding documents with one worker, and with more.")
    parser.add_argument("--documents", type=int, default=240)
    parser.add_argument("--sections", type=int, default=8, help="of each document")
    parser.add_argument("--delay", type=float, default=1, help="seconds a call of the embedding service, of 64 texts")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args(arguments)
    machine = Machine()
    print("| workers | seconds | documents/s | times one | at least, with two |\n|--:|--:|--:|--:|--:|")
    with (
        tempfile.TemporaryDirectory() as folder,
        PostgresServer() as postgres,
        ChromaServer() as chroma,
        serving(serve, given.delay) as url,
    ):
        files = [Path(folder, f"{number}.md") for number in range(given.documents)]
        for number, file in enumerate(files):
            file.write_text(document(number, given.sections), encoding="utf-8")
        first = 0.0
        for workers in given.workers:
            settings = Settings(
                _env_file=None, data_dir=Path(folder, f"data-{workers}"),
                database_url=SecretStr(postgres.new_database()), chroma_url=SecretStr(chroma.url),
                workers="elsewhere", openai_base_url=url, embedding_model="test-embedding",
            )  # fmt: skip
            took = seconds(settings, files, workers)
            first = first or took
            rate = given.documents / took
            print(f"| {workers} | {took:.1f} | {rate:.1f} | {first / took:.2f} | {LEAST:g} |", flush=True)
    chunks = given.documents * given.sections
    print(f"\n{given.documents} documents, {chunks} chunks, {given.delay:g} s a call of the service. {machine}")


if __name__ == "__main__":
    main()
