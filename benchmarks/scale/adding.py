"""How many chunks per second are added at this size in the normal way: files, parsers, vectors, SQL.

One job of one process. The substitute for an embedding model (benchmarks/parts/clustered.py) takes almost no
time. The gain from more workers, when embedding takes time, is measured in benchmarks/workers.py.
"""

import itertools
import random
import tempfile
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.ingest import add, written
from benchmarks.parts.child import running
from benchmarks.parts.clustered import Clustered
from benchmarks.parts.recombined import Texts, documents
from benchmarks.scale.filled import INDEX, Filled
from benchmarks.scale.made import CHUNKS
from index_store.base.settings.settings import Settings
from index_store.ingestion.results import IngestStatus
from index_store.store.index_store import IndexStore


@dataclass(frozen=True)
class Added:
    chunks: int
    """chunks that were added"""
    seconds: float

    def __str__(self) -> str:
        return f"{self.chunks} chunks added in {self.seconds:.1f} s, {self.chunks / self.seconds:.0f} a second,"


def measure(store: Filled, texts: Texts, chunks: int, seed: int) -> Added:
    """Removes again what it has added."""
    settings = store.settings.model_copy(update={"workers": "here"})
    with tempfile.TemporaryDirectory() as folder:
        made = itertools.islice(documents(texts, chunks, random.Random(f"added {seed}")), -(-chunks // CHUNKS))
        files = written(Path(folder, "added"), list(made))
        with running(work, settings, files) as pipe:
            return Added(*pipe.recv())


def work(pipe: Connection, settings: Settings, files: list[Path]) -> None:
    with IndexStore(settings, Clustered()) as store:
        before = _chunks(store)
        seconds = add(store, INDEX, files, IngestStatus.READY)
        added = _chunks(store) - before
        for file in files:
            store.remove(INDEX, str(file))
    pipe.send((added, seconds))


def _chunks(store: IndexStore) -> int:
    return next(index.chunks for index in store.indexes() if index.name == INDEX)
