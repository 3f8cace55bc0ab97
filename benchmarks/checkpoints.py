"""What a run's checkpoints, which forks need, cost: the time of a run with and without them, and their bytes.

    python -m benchmarks.checkpoints [--rounds 10]

Two engines that differ only in KEEP_CHECKPOINTS_DAYS are asked in turn, against a server of fixed speed. The long run
is Self-RAG whose answers are never useful, so it loops until its limits. Processor time is that of this process, which
has the engines; the server has its own.
"""

import argparse
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

from pydantic import SecretStr

from benchmarks.latency import KEY, MODEL, QUESTION
from benchmarks.parts.child import serving
from benchmarks.parts.fixed_speed import NEVER_SERVED, Speed, serve
from benchmarks.parts.machine import Machine
from index_store.access.gate import as_local
from index_store.ingestion.sources import FileSource
from pages import samples
from rag.runs.engine import Engine, UserEngine
from rag.runs.fork.sqlite_checkpoints import FILE as CHECKPOINTS
from rag.runs.history.schema import FILE as HISTORY
from rag.settings import Settings

ASKED = {
    "`naive`": ("naive", QUESTION),
    "`self_rag`": ("self_rag", QUESTION),
    "`self_rag`, long": ("self_rag", NEVER_SERVED),
}

SIZES = {
    CHECKPOINTS: (
        "select coalesce(sum(length(checkpoint) + length(metadata)), 0) from checkpoints where thread_id = ?",
        "select coalesce(sum(length(value)), 0) from writes where thread_id = ?",
    ),
    HISTORY: (
        "select coalesce(sum(length(cast(event as blob))), 0) from events where run_id = ?",
        "select coalesce(sum(length(packed)), 0) from calls where run_id = ?",
    ),
}
"""bytes of a run, by file"""


class Cost(NamedTuple):
    run_id: str
    seconds: float
    processor: float
    """seconds"""


def ask(engine: UserEngine, pipeline: str, question: str) -> Cost:
    begun, before = time.perf_counter(), time.process_time()
    run = engine.ask(question, index=samples.INDEX, pipeline_name=pipeline)
    if run.result().status != "finished":
        raise RuntimeError(f"{pipeline}: {run.result().status}, {run.result().error}")
    return Cost(run.id, time.perf_counter() - begun, time.process_time() - before)


def opened(folder: Path, base_url: str, days: int, documents: int) -> Engine:
    settings = Settings(
        _env_file=None,
        data_dir=folder,
        openai_base_url=base_url,
        openai_api_key=SecretStr(KEY),
        chat_model=MODEL,
        embedding_model=MODEL,
        web_search="off",
        keep_checkpoints_days=days,
    )
    engine = Engine(settings)
    files = [FileSource(path) for path in samples.documents()[:documents]]
    engine.as_user(as_local).store.ingest(samples.INDEX, files).wait()
    return engine


def size(folder: Path, file: str, run_id: str) -> int:
    """Returns bytes."""
    with closing(sqlite3.connect(folder / file)) as database:
        return sum(database.execute(asked, (run_id,)).fetchone()[0] for asked in SIZES[file])


def measure(speed: Speed, documents: int, rounds: int) -> str:
    kinds = {"without": 0, "with": 30}
    costs: dict[tuple[str, str], list[Cost]] = {(name, kind): [] for name in ASKED for kind in kinds}
    with ExitStack() as open_:
        folder = Path(open_.enter_context(tempfile.TemporaryDirectory()))
        base_url = open_.enter_context(serving(serve, speed))
        engines = {
            kind: open_.enter_context(opened(folder / kind, base_url, days, documents)).as_user(as_local)
            for kind, days in kinds.items()
        }
        for _ in range(rounds + 1):  # the first one also opens files and connections
            for name, (pipeline, question) in ASKED.items():
                for kind, engine in engines.items():
                    costs[name, kind].append(ask(engine, pipeline, question))
        lines = [
            "| run | s without | s with | ratio | processor, ms | ratio | checkpoints, KB | trace and prompts, KB |",
            "|---|--:|--:|--:|--:|--:|--:|--:|",
        ]
        for name in ASKED:
            bare, kept = ([*costs[name, kind][1:]] for kind in kinds)
            seconds, more = (statistics.median(each.seconds for each in which) for which in (bare, kept))
            work, more_work = (statistics.median(each.processor for each in which) for which in (bare, kept))
            sizes = [size(folder / "with", file, kept[-1].run_id) / 1000 for file in SIZES]
            lines.append(
                f"| {name} | {seconds:.3f} | {more:.3f} | {more / seconds:.3f} | {work * 1000:.0f} to "
                f"{more_work * 1000:.0f} | {more_work / work:.2f} | {sizes[0]:.1f} | {sizes[1]:.1f} |"
            )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, help="of which the medians are taken")
    parser.add_argument("--documents", type=int, default=4, help="of the sample handbook, in the index")
    Speed.add_options(parser, Speed(delay=0.3, token_seconds=0.01, tokens=60))
    options = parser.parse_args(arguments)
    os.environ["NO_PROXY"] = "127.0.0.1"
    machine, speed = Machine(), Speed.of(options)
    print(measure(speed, options.documents, options.rounds))
    print(f"\nMedians, rounds: {options.rounds}. {speed} Documents: {options.documents}. {machine}")


if __name__ == "__main__":
    main()
