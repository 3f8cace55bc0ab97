"""How long a search takes by each mode, and the memory and disk of each part.

The app is another process, which opens the store as an app does. The time does not include embedding the question: that
is the model's time, and it does not depend on the size.
"""

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from benchmarks.parts.child import running
from benchmarks.parts.clustered import Clustered
from benchmarks.parts.machine import memory_of, processor_seconds_of
from benchmarks.scale.filled import DATABASE, INDEX, Filled, patiently
from benchmarks.search_speed import SEARCHES, WARM, Asked, K, total
from index_store.base.settings.settings import MEGABYTE, Settings
from index_store.store.index_store import IndexStore


@dataclass(frozen=True)
class Searched:
    """Results for one store."""

    chunks: int
    times: dict[str, list[float]]
    """milliseconds, by kind of search"""
    processor: float
    """processor milliseconds of all parts per search, mean over the modes"""
    first: float
    """seconds from the start of the servers to the first result by vector"""
    memory: dict[str, float]
    """MB, by part"""
    disk: dict[str, float]
    """MB, by what uses it"""

    def p(self, search: str, percent: int) -> float:
        return float(np.percentile(self.times[search], percent))


def search(stores: Sequence[Filled], questions: Sequence[str]) -> list[Searched]:
    """All stores take turns, so that other work on the machine affects all alike."""
    with ExitStack() as running_:
        apps = [_App(store, running_.enter_context(running(serve, store.settings))) for store in stores]
        for question in questions[:WARM]:
            for app in apps:
                for name in SEARCHES:
                    app.seconds(name, question)
        before = [app.processor for app in apps]
        times: list[dict[str, list[float]]] = [{name: [] for name in SEARCHES} for _ in apps]
        for number in range(len(questions)):
            # Each search gets another question, so that none finds its data in the cache of the previous one.
            for place, name in enumerate(SEARCHES):
                question = questions[(number + place * len(questions) // len(SEARCHES)) % len(questions)]
                for app, taken in zip(apps, times, strict=True):
                    taken[name].append(1000 * app.seconds(name, question))
        asked = len(questions) * len(SEARCHES)
        return [
            Searched(app.chunks, taken, 1000 * (app.processor - early) / asked, app.first, app.memory, _disk(app.store))
            for app, taken, early in zip(apps, times, before, strict=True)
        ]


class _App:
    """A process that has a store open, as in `serve`."""

    def __init__(self, store: Filled, pipe: Connection) -> None:
        self.store = store
        self._pipe = pipe
        self._process, self.chunks, self.first = pipe.recv()

    def seconds(self, name: str, question: str) -> float:
        self._pipe.send(Asked(name, question))
        return float(self._pipe.recv())

    @property
    def _parts(self) -> dict[str, list[int]]:
        """Process ids, by part."""
        postgres, chroma = (_family(each.pid) for each in (self.store.postgres, self.store.chroma))
        return {"app": [self._process], "Postgres": postgres, "Chroma": chroma}

    @property
    def memory(self) -> dict[str, float]:
        return {part: memory_of(processes) for part, processes in self._parts.items()}

    @property
    def processor(self) -> float:
        """Processor seconds of all parts so far."""
        return sum(processor_seconds_of(str(each)) for part in self._parts.values() for each in part)


def serve(pipe: Connection, settings: Settings) -> None:
    """Runs until the other end is closed. Sends its process id, the number of chunks, and the seconds of the first
    search. Then it runs each search that it receives and sends back the seconds.
    """
    model = Clustered()
    with IndexStore(settings, model) as store:

        def search(asked: Asked) -> None:
            mode, unit = SEARCHES[asked.search]
            store.search(INDEX, asked.question, mode=mode, unit=unit, k=K)

        begun = time.perf_counter()
        patiently(lambda: search(Asked("vector", "first")))
        first = time.perf_counter() - begun
        pipe.send((os.getpid(), next(index.chunks for index in store.indexes() if index.name == INDEX), first))
        while True:
            try:
                asked = pipe.recv()
            except EOFError:
                return
            model.prepare(asked.question)
            begun = time.perf_counter()
            search(asked)
            pipe.send(time.perf_counter() - begun)


def _family(process: int | None) -> list[int]:
    """The process and its running children. Linux only."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, parent = int(stat.parent.name), int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has just ended
            continue
        if process in (number, parent):
            found.append(number)
    return found


def _disk(store: Filled) -> dict[str, float]:
    """Measured after Postgres has written its memory to disk."""
    store.postgres.run("CHECKPOINT", DATABASE)
    (gin, keywords, whole), *_ = store.postgres.run(_SIZES, DATABASE)
    free, page = (int(store.chroma.run(f"PRAGMA {each}")) for each in ("freelist_count", "page_size"))
    room = free * page
    sizes = {
        "Postgres: terms' index (GIN)": gin,
        "Postgres: rest of full text": keywords - gin,
        "Postgres: catalogue and rest": whole - keywords,
        "Chroma": total(store.chroma.folder) - room,
        "Chroma: room that its log has left": room,
        "originals": total(store.settings.data_dir / "originals"),
    }
    return {what: size / MEGABYTE for what, size in sizes.items()}


_SIZES = """
    SELECT sum(pg_relation_size(oid)) FILTER (WHERE relname LIKE 'keywords%_held'),
        sum(pg_total_relation_size(oid)) FILTER (WHERE relname LIKE 'keywords%' AND relkind = 'r'),
        pg_database_size(current_database())
    FROM pg_class WHERE relnamespace = 'catalogue'::regnamespace
"""
