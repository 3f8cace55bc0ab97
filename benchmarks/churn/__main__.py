"""20 people ask, upload and delete at the same time: is everything kept and kept apart, and how long do they wait?

    python -m benchmarks.churn [--minutes 10] [--people 20] [--seed 1]

Each person has a UserEngine and an index; all share another index. The model is a server of fixed cost in another
process; it answers all requests at the same time. First, one person asks alone. Then all of them work for the given
minutes, each at their own pace. They check their own data and try to read the data of others. At the end, a new engine
opens the same folder, and everybody checks again. If anything was lost or seen by the wrong person, it is reported and
the benchmark fails. Times are only reported.

Linux only: memory and threads are read from /proc. They are those of the process with people and engine.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from benchmarks.churn.person import SHARED, Board, Person
from benchmarks.churn.watch import Look, Watch, look
from benchmarks.latency import KEY, MODEL
from benchmarks.parts.child import serving
from benchmarks.parts.fixed_speed import Speed, serve
from benchmarks.parts.machine import Machine
from benchmarks.people import late
from index_store.access.gate import as_local
from index_store.access.grants import EVERYONE
from index_store.access.rights import Right
from index_store.ingestion.sources import FileSource
from index_store.store.index_store import IndexStore
from index_store.vectors.embedded.model import EmbeddedEmbeddings
from pages import samples
from rag.runs.engine import Engine
from rag.settings import Settings

MOST_LATE = 1.5
"""largest p95 of an answer with all people, as a multiple of that of one person alone"""
PARTS = 5
"""parts of the time, each reported on its own line"""


@dataclass(frozen=True)
class Churn:
    people: int
    minutes: float
    acts: int | None
    """acts of each person; they stop after these if the time is not over"""
    alone: int
    """questions of the one person at the start"""
    pause: float
    """longest pause between two acts in seconds"""
    seed: int


@dataclass(frozen=True)
class Outcome:
    alone: list[float]
    """seconds of each answer"""
    together: list[float]
    people: list[Person]
    watch: Watch
    before: Look
    """after one person has asked, while nobody works"""
    after: Look
    """after all have left"""
    faults: list[str]


def outcome(churn: Churn, settings: Settings, documents: int | None) -> Outcome:
    board, embeddings = Board(), EmbeddedEmbeddings()
    with Engine(settings, store=IndexStore(settings, embeddings)) as engine:
        store = engine.store.as_user(as_local)
        store.ingest(SHARED, [FileSource(path) for path in samples.documents()[:documents]]).wait()
        engine.store.access.grants.give(SHARED, EVERYONE, Right.WRITE)
        people = [Person(number, engine, board, churn.seed) for number in range(churn.people)]
        first = people[0]
        first.upload()
        for _ in range(churn.alone + 1):
            first.ask()
        alone = first.answers[1:]  # without the first one, which also opens files and connections
        first.answers.clear()
        before = look()
        with Watch(churn.minutes * 60) as watch:
            live(people, churn)
        after = look()
    with Engine(settings, store=IndexStore(settings, embeddings)) as engine:
        for person in people:
            person.sit_down(engine)
            person.look()
        board.faults.extend(f"{each} does not agree" for each in engine.store.as_user(as_local).check())
    together = [seconds for person in people for seconds in person.answers]
    return Outcome(alone, together, people, watch, before, after, board.faults)


def live(people: Sequence[Person], churn: Churn) -> None:
    until = time.monotonic() + churn.minutes * 60
    with ThreadPoolExecutor(len(people), thread_name_prefix="person") as threads:
        lives = [threads.submit(person.live, until, churn.acts, churn.pause) for person in people]
    for life in lives:
        life.result()


def report(churn: Churn, of: Outcome) -> str:
    last = of.watch.looks[-1].at
    lines = ["| to minute | memory, MB | threads at most |", "|--:|--:|--:|"]
    for part in range(PARTS):
        begin, end = part / PARTS, (part + 1) / PARTS
        memory, threads = of.watch.memory(begin, end), of.watch.threads(begin, end)
        lines.append(f"| {end * last / 60:.1f} | {memory:.0f} | {threads} |")
    lines += [
        "",
        f"{churn.people} people for {last / 60:.1f} minutes, seed {churn.seed}: "
        f"{sum(each.acts for each in of.people)} acts, {len(of.together)} answers. "
        f"In the end there were {sum(each.runs for each in of.people)} runs and "
        f"{sum(each.documents for each in of.people)} documents, which all were there after a restart.",
        f"Threads: {of.before.threads} before, {of.after.threads} after. "
        f"Memory: {of.before.memory:.0f} MB before, {of.after.memory:.0f} MB after.",
    ]
    if of.alone and of.together:
        one, many = late(of.alone), late(of.together)
        lines.append(
            f"An answer alone: p50 {statistics.median(of.alone):.2f} s, p95 {one:.2f} s. Among {churn.people}: "
            f"p50 {statistics.median(of.together):.2f} s, p95 {many:.2f} s, {many / one:.2f} of it, "
            f"which {'meets' if many <= MOST_LATE * one else 'misses'} {MOST_LATE}."
        )
    lines.append("\n".join(of.faults) or "Nothing was lost, and nobody saw what is another's.")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--acts", type=int, help="of each, if that is sooner")
    parser.add_argument("--alone", type=int, default=20, help="questions of one person before")
    parser.add_argument("--pause", type=float, default=20, help="seconds between two acts of one person, at most")
    parser.add_argument("--documents", type=int, help="of the sample handbook, in the index of all; all of them")
    parser.add_argument("--seed", type=int, default=1)
    Speed.add_options(parser, Speed(delay=0.5, token_seconds=0.02, tokens=60))
    options = parser.parse_args(arguments)
    os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    machine, speed = Machine(), Speed.of(options)
    churn = Churn(options.people, options.minutes, options.acts, options.alone, options.pause, options.seed)
    with tempfile.TemporaryDirectory() as folder, serving(serve, speed) as base_url:
        settings = Settings(
            _env_file=None,
            data_dir=Path(folder) / "data",
            openai_base_url=base_url,
            openai_api_key=SecretStr(KEY),
            chat_model=MODEL,
            embedding_model="embedded",
            web_search="off",
        )
        of = outcome(churn, settings, options.documents)
    print(f"{report(churn, of)}\n\n{speed} {machine}")
    if of.faults:
        sys.exit(1)


if __name__ == "__main__":
    main()
