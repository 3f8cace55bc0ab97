"""How long a search takes as an index grows, compared with a bare Chroma query over the same vectors; disk and memory.

    python -m benchmarks.search_speed [--data DIR] [--sizes 1000 10000 100000] [--questions 200]

DIR is that of search_quality.py: each passage is made of random sentences of JSQuAD, so that words are as frequent as
in real text, and its questions are asked. Without DIR, both come from the sample handbook. Documents are added in the
normal way. Their vectors are from a substitute (see Clustered), because embedding 100,000 passages takes hours. A
question is really embedded, and the time of a search includes this. The bare query does not; embedding is also measured
alone.

Store and bare Chroma run in one process each, opened again at each size, so that memory is that of searching. They take
turns, so that other work on the machine affects all alike.
"""

import argparse
import itertools
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.ingest import Row, add, resident, written
from benchmarks.parts.child import running
from benchmarks.parts.clustered import Clustered
from benchmarks.parts.machine import Machine
from benchmarks.parts.recombined import Texts, documents, made_up, real
from index_store.base.settings.settings import MEGABYTE, Settings
from index_store.ingestion.results import IngestStatus
from index_store.library.library import CATALOGUE
from index_store.store.index_store import IndexStore
from index_store.vectors.embedded.model import EmbeddedEmbeddings
from index_store.vectors.local.folder import BATCH

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

MOST_TO_CHROMA = 4.0
"""most time beyond the embedding, in multiples of the bare query's p95: the project's target, like the next"""
MOST_GROWTH = 4.0
"""in multiples of the p95 at a tenth of the chunks"""

K = 10
"""hits per search"""

WARM = 20
"""questions asked of each before timing; they open files and load the vectors' graph"""

INDEX = "speed"
BARE = "bare Chroma"
EMBEDDING = "embedding the question"
SEARCHES = {
    "vector": ("vector", "chunk"),
    "keyword": ("keyword", "chunk"),
    "hybrid": ("hybrid", "chunk"),
    "hybrid, sections": ("hybrid", "section"),
}
"""(mode, unit)"""
ASKED = (BARE, EMBEDDING, *SEARCHES)


# The processes: each receives what to search and sends back how many seconds that took


class Asked(NamedTuple):
    search: str
    question: str


MEMORY = Asked("memory", "")
"""asks how many bytes the process has grown since its modules were loaded"""


def ask_store(pipe: Connection, folder: Path) -> None:
    import chromadb  # noqa: F401 - the store loads it, so it must not count as growth

    model, empty = Clustered(reader=EmbeddedEmbeddings()), resident()
    with IndexStore(settings(folder), model) as store:

        def search(asked: Asked) -> None:
            if asked.search == EMBEDDING:
                model.read(asked.question)
                return
            mode, unit = SEARCHES[asked.search]
            store.search(INDEX, asked.question, mode=mode, unit=unit, k=K)

        answer(pipe, model, search, empty)


def ask_bare(pipe: Connection, folder: Path) -> None:
    import chromadb  # noqa: F401

    model, empty = Clustered(), resident()
    with bare_collection(folder) as collection:

        def search(asked: Asked) -> None:
            collection.query(query_embeddings=[model.query(asked.question)], n_results=K, include=["distances"])

        answer(pipe, model, search, empty)


def answer(pipe: Connection, model: Clustered, search: Callable[[Asked], None], empty: int) -> None:
    """Runs until the other end is closed."""
    while True:
        try:
            asked = pipe.recv()
        except EOFError:
            return
        if asked == MEMORY:
            pipe.send(resident() - empty)
            continue
        model.prepare(asked.question)
        begun = time.perf_counter()
        search(asked)
        pipe.send(time.perf_counter() - begun)


def settings(folder: Path) -> Settings:
    return Settings(_env_file=None, data_dir=folder)


@contextmanager
def bare_collection(folder: Path) -> "Iterator[Collection]":
    """Made as in index_store/vectors/local/folder.py."""
    import chromadb
    from chromadb.config import Settings as ChromaSettings

    client = chromadb.PersistentClient(path=folder, settings=ChromaSettings(anonymized_telemetry=False))
    try:
        yield client.get_or_create_collection(
            INDEX, embedding_function=None, configuration={"hnsw": {"space": "cosine", "ef_search": 200}}
        )
    finally:
        client.close()


# Measuring


@dataclass(frozen=True)
class Size:
    """Results at one size. Times in milliseconds."""

    chunks: int
    times: dict[str, list[float]]
    memory: dict[str, float]
    """MB of both processes"""
    disk: dict[str, float]
    """MB"""
    adding: float
    """seconds of adding since the size before"""

    def p(self, search: str, percent: int) -> float:
        return float(np.percentile(self.times[search], percent))


def grown(texts: Texts, sizes: Sequence[int], folder: Path) -> Iterator[Size]:
    """One index that grows from size to size."""
    generator = random.Random(0)
    ours, bare, vectors = folder / "ours", folder / "bare", folder / "vectors.f32"
    chunks = 0
    for size in sorted(sizes):
        files = written(folder / str(size), list(documents(texts, size - chunks, generator)))
        with IndexStore(settings(ours), Clustered(vectors)) as store:
            adding = add(store, INDEX, files, IngestStatus.READY)
            chunks = next(index.chunks for index in store.indexes())
        put_bare(bare, vectors)
        times, memory = asked_by_turns(texts.questions, ours, bare)
        yield Size(chunks, times, memory, disk(ours, bare), adding)


def put_bare(folder: Path, vectors: Path) -> None:
    """Adds those that are missing."""
    every = np.memmap(vectors, np.float32, "r").reshape(-1, Clustered.dimension)
    with bare_collection(folder) as collection:
        for first in range(collection.count(), len(every), BATCH):
            some = np.array(every[first : first + BATCH])
            collection.upsert(ids=[f"{first + number:08}" for number in range(len(some))], embeddings=some)


def asked_by_turns(questions: Sequence[str], ours: Path, bare: Path) -> tuple[dict[str, list[float]], dict[str, float]]:
    times: dict[str, list[float]] = {name: [] for name in ASKED}
    with running(ask_store, ours) as store, running(ask_bare, bare) as chroma:
        pipes = dict.fromkeys(ASKED, store) | {BARE: chroma}

        def seconds(search: str, question: str) -> float:
            pipes[search].send(Asked(search, question))
            return pipes[search].recv()

        for question in questions[:WARM]:
            for search in times:
                seconds(search, question)
        for number in range(len(questions)):
            # Each search gets another question, so that none finds its data in the cache of the previous one.
            for place, search in enumerate(times):
                question = questions[(number + place * len(questions) // len(times)) % len(questions)]
                times[search].append(1000 * seconds(search, question))
        memory = {}
        for name, pipe in (("ours", store), (BARE, chroma)):
            pipe.send(MEMORY)
            memory[name] = pipe.recv() / MEGABYTE
    return times, memory


def disk(ours: Path, bare: Path) -> dict[str, float]:
    """MB, while no process has them open. Full text is what a copy of the catalogue loses with its tables."""
    catalogue = ours / CATALOGUE
    with tempfile.TemporaryDirectory(dir=ours.parent) as folder:
        copy = Path(shutil.copy(catalogue, folder))
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            tables = connection.execute(
                "SELECT name FROM sqlite_master WHERE name GLOB 'keywords_*' AND type = 'table'"
            )
            for name in sorted((name for (name,) in tables), key=len):  # FTS5 drops its own tables with the main one
                connection.execute(f'DROP TABLE IF EXISTS "{name}"')
            connection.execute("VACUUM")
        rest = copy.stat().st_size
    return {
        "full text": (catalogue.stat().st_size - rest) / MEGABYTE,
        "catalogue": rest / MEGABYTE,
        "vectors": total(ours / "chroma") / MEGABYTE,
        "originals": total(ours / "originals") / MEGABYTE,
        BARE: total(bare) / MEGABYTE,
    }


def total(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def targets(measured: Sequence[Size]) -> Iterator[Row]:
    last = measured[-1]
    hybrid, embedding, bare = (last.p(search, 95) for search in ("hybrid", EMBEDDING, BARE))
    yield Row(
        f"hybrid p95 beyond the embedding's to bare p95, {last.chunks} chunks",
        (hybrid - embedding) / bare,
        MOST_TO_CHROMA,
        f"{hybrid:.1f} ms less {embedding:.1f} ms, to {bare:.1f} ms",
    )
    for before, after in itertools.pairwise(measured):
        p95s = before.p("hybrid", 95), after.p("hybrid", 95)
        name = f"growth of hybrid p95 from {before.chunks} to {after.chunks} chunks"
        yield Row(name, p95s[1] / p95s[0], MOST_GROWTH, f"{p95s[0]:.1f} ms to {p95s[1]:.1f} ms")


def report(measured: Sequence[Size]) -> str:
    lines = [f"| ms, p50 and p95 | {' | '.join(f'{size.chunks} chunks' for size in measured)} |"]
    lines.append("|---|" + "--:|" * len(measured))
    for search in ASKED:
        cells = " | ".join(f"{size.p(search, 50):.1f}, {size.p(search, 95):.1f}" for size in measured)
        lines.append(f"| {search} | {cells} |")
    lines += ["", "| MB | " + " | ".join(f"{size.chunks} chunks" for size in measured) + " |"]
    lines.append("|---|" + "--:|" * len(measured))
    for part in measured[0].disk:
        lines.append(f"| disk: {part} | " + " | ".join(f"{size.disk[part]:.1f}" for size in measured) + " |")
    for process in measured[0].memory:
        lines.append(f"| memory: {process} | " + " | ".join(f"{size.memory[process]:.0f}" for size in measured) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder with qa/jsquad; else samples, recombined")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000], help="chunks, about")
    parser.add_argument("--questions", type=int, default=200)
    given = parser.parse_args(arguments)
    texts = real(given.data, given.questions) if given.data else made_up(given.questions)
    machine = Machine()
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        for size in grown(texts, given.sizes, Path(folder)):
            measured.append(size)
            print(f"{size.chunks} chunks, the last added in {size.adding:.0f} s", file=sys.stderr, flush=True)
    print(report(measured))
    print(f"\nA question is embedded in each search but {BARE} and keyword.\n")
    print("| | measured | at most | | |\n|---|--:|--:|---|---|")
    for row in targets(measured):
        print(row)
    print(f"\n{K} hits; questions: {len(texts.questions)}; passages of {texts.origin}. {machine}")


if __name__ == "__main__":
    main()
