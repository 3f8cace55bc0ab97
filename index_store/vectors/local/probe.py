"""Checks which collections of a Chroma folder can be read: `python -I probe.py FOLDER [COLLECTION ...]`.

Chroma writes a collection's graph every 1000 changes, over the existing files. If a process is killed while it writes,
the next process that reads them gets an error or wrong neighbours, or crashes. So another process tries first.
"""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

BATCH = 5000

READ = "read"

LAST = "index_metadata.pickle"
"""the file of a graph that is written last; a graph without it is not read"""


def broken_collections(folder: Path) -> set[str]:
    """Collections that can't be read because a process was killed while it wrote them."""
    from index_store.base.process.child_process import (
        environment,  # not at the top: the program runs without this package
    )

    if not any(folder.glob(f"*/{LAST}")):
        return set()  # Chroma makes graphs without a last file from its log, and the process would take seconds
    broken: set[str] = set()
    while True:
        command = [sys.executable, "-I", __file__, str(folder), *broken]
        done = subprocess.run(  # noqa: S603 - our own
            command, capture_output=True, encoding="utf-8", env=environment(), check=False
        )
        said = done.stdout.split()
        # If no collection made it fail, Chroma can't open the folder at all: the caller will get that error.
        if not done.returncode or not said or said[-1] == READ:
            return broken
        broken.add(said[-1])


def main(folder: Path, without: list[str]) -> None:
    """Prints each collection's name before it reads it, and READ after. A broken collection ends it."""
    graphs = graphs_of(folder)

    import chromadb
    import numpy as np
    from chromadb.config import Settings

    client = chromadb.PersistentClient(path=folder, settings=Settings(anonymized_telemetry=False))
    for name in sorted({each.name for each in client.list_collections()} - set(without)):
        print(name, flush=True)
        if any(is_half_written(graph) for graph in graphs.get(name, ())):
            sys.exit(f"{name} was being written")
        collection = client.get_collection(name, embedding_function=None)
        for offset in range(0, collection.count(), BATCH):
            vectors = np.asarray(collection.get(limit=BATCH, offset=offset, include=["embeddings"])["embeddings"])
            if not np.all(np.isfinite(vectors)):
                sys.exit(f"{name} has vectors that are none")
            collection.query(query_embeddings=vectors[:1], n_results=1, include=[])
        print(READ, flush=True)


def graphs_of(folder: Path) -> dict[str, list[Path]]:
    """The files of each collection's graph. Call it before Chroma opens the database: compact.py says why."""
    with closing(sqlite3.connect(folder / "chroma.sqlite3")) as database:
        rows = database.execute(
            "SELECT name, segments.id FROM segments JOIN collections ON collections.id = collection "
            "WHERE scope = 'VECTOR'"
        ).fetchall()
    graphs: dict[str, list[Path]] = {}
    for name, segment in rows:
        graphs.setdefault(name, []).append(folder / segment)
    return graphs


def is_half_written(graph: Path) -> bool:
    """Whether a file is newer than the last one. Without a last file, Chroma makes the whole graph from its log."""
    last = graph / LAST
    return last.exists() and any(file.stat().st_mtime_ns > last.stat().st_mtime_ns for file in graph.glob("*.bin"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
