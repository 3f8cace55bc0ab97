"""How long a pipeline takes compared with `naive`, for the same questions and passages: the cost of its checks.

    python -m benchmarks.beside_naive [--pipeline self_rag] [--rounds 1] [--questions 6]

The chat model is that of the environment. Without a key it is the embedded one, which takes half a minute for a checked
answer. The questions are those of the sample handbook. Each pipeline is asked all of them in one go, so that the model
does not still have a question in its cache when the next pipeline asks it. The start of the model is not timed.
"""

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from benchmarks.parts.settings import with_own_data
from index_store.access.gate import as_local
from index_store.ingestion.sources import FileSource
from pages import samples
from rag.runs.engine import Engine, UserEngine

PLAIN = "naive"
WARM_UP = "Who looks after the plants in the lobby?"
"""not a sample question: the model does not read again what it has just read"""
MOST = 2.5
"""most time, in multiples of PLAIN: the project's target for self_rag over 4 passages with the embedded model"""


def ask(engine: UserEngine, question: str, pipeline: str) -> float:
    """Returns seconds."""
    begun = time.perf_counter()
    finished = engine.ask(question, index=samples.INDEX, pipeline_name=pipeline).result()
    if finished.status != "finished":
        raise RuntimeError(f"{pipeline}: {finished.status}, {finished.error}")
    return time.perf_counter() - begun


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Times a pipeline, compared with naive.")
    parser.add_argument("--pipeline", default="self_rag")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--questions", type=int, default=6, help="of the samples, at most")
    options = parser.parse_args(arguments)
    questions = [each.text for each in samples.questions() if each.answer][: options.questions]
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, Engine(with_own_data(Path(folder))) as process:
        engine = process.as_user(as_local)
        engine.store.ingest(samples.INDEX, [FileSource(path) for path in samples.documents()]).wait()
        ask(engine, WARM_UP, PLAIN)
        for _ in range(options.rounds):
            for pipeline in (PLAIN, options.pipeline):
                for question in questions:
                    seconds[question, pipeline].append(ask(engine, question, pipeline))
    print(f"| question | {PLAIN}, s | {options.pipeline}, s | ratio |\n|---|--:|--:|--:|")
    ratios = []
    for question in questions:
        plain, other = (statistics.median(seconds[question, each]) for each in (PLAIN, options.pipeline))
        ratios.append(other / plain)
        print(f"| {question} | {plain:.1f} | {other:.1f} | {other / plain:.2f} |", flush=True)
    print(f"\n{options.pipeline} takes {statistics.median(ratios):.2f} times as long as {PLAIN}; at most {MOST}.")


if __name__ == "__main__":
    main()
