"""Checks which collections of a Chroma folder can be read: `python -I probe.py FOLDER [COLLECTION ...]`.

Chroma writes a collection's graph every 1000 changes, over the files that are there. Where a process is killed in the
midst of it, the next to read them gets an error, wrong neighbours, or dies of it: so another process tries first.
"""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

BATCH = 5000

READ = "read"

LAST = "index_metadata.pickle"
"""of a graph's files, the one that is written last"""


def broken_collections(folder: Path) -> set[str]:
    """Those that were being written when a process was killed, and can't be read since."""
    from index_store.base.child_process import environment  # the program itself runs without this package

    broken: set[str] = set()
    while True:
        command = [sys.executable, "-I", __file__, str(folder), *broken]
        done = subprocess.run(  # noqa: S603 - our own
            command, capture_output=True, encoding="utf-8", env=environment(), check=False
        )
        said = done.stdout.split()
        # Where it failed at none of them, Chroma can't open the folder at all: whoever does next will say so.
        if not done.returncode or not said or said[-1] == READ:
            return broken
        broken.add(said[-1])


def main(folder: Path, without: list[str]) -> None:
    """Says the name of each collection before it reads it, and that it has; ends in the midst of a broken one."""
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
    """By collection. Before Chroma opens the database: compact.py says why."""
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
    """Without the last file it was never written before: Chroma makes it from its log, which is whole then."""
    last = graph / LAST
    return last.exists() and any(file.stat().st_mtime_ns > last.stat().st_mtime_ns for file in graph.glob("*.bin"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
