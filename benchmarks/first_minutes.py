"""The waits of a new user, compared with an earlier version: loading the samples, a first answer, a long Word file.

    python -m benchmarks.first_minutes --before CHECKOUT --word FILE [--rounds 3]

CHECKOUT is a clone of this project at an earlier commit, installed in its `.venv`; FILE is a long Word file. The models
are those of the environment; without a key, the embedded ones. Each wait is one command line with a new data folder, so
it includes the start of the process and of the models. The two versions take turns. The report has medians, and the new
time as a part of the old one.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pages import samples
from rag.settings import Settings

HERE = Path(__file__).parent.parent
QUESTION = "国内出張の日当はいくらですか？"


@dataclass(frozen=True)
class Version:
    name: str
    checkout: Path

    def run(self, data: Path, *arguments: str | Path) -> float:
        """Returns seconds of `python -m ...`. Raises CalledProcessError."""
        python = sys.executable if self.checkout == HERE else self.checkout / ".venv" / "bin" / "python"
        environment = {**os.environ, "DATA_DIR": str(data), "PYTHONPATH": str(self.checkout)}
        command = [str(python), "-m", *map(str, arguments)]
        begun = time.perf_counter()
        subprocess.run(command, cwd=data, env=environment, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begun


def waits(version: Version, folder: Path, word: Path) -> Iterator[tuple[str, float]]:
    """Yields the name of each wait and its seconds."""
    data = folder / "data"
    data.mkdir()
    models = HERE / Settings().data_dir / "models"
    if models.exists():
        (data / "models").symlink_to(models.resolve())
    add = ("index_store", "add", "--index")
    yield "the samples are loaded", version.run(data, *add, samples.INDEX, *samples.documents())
    ask = ("rag", "ask", "--index", samples.INDEX, "--pipeline", "self_rag", QUESTION)
    yield "a first Self-RAG answer", version.run(data, *ask)
    yield "a long Word file is loaded", version.run(data, *add, "word", word)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Times the first minutes, compared with those of an earlier version.")
    parser.add_argument("--before", type=Path, required=True, help="a checkout of an earlier version, with its .venv")
    parser.add_argument("--word", type=Path, required=True, help="a long Word file")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--first", type=int, help="waits, of all that there are")
    options = parser.parse_args(arguments)
    versions = [Version("before", options.before.resolve()), Version("now", HERE)]
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    for number in range(options.rounds):
        for version in versions:
            with tempfile.TemporaryDirectory() as folder:
                for what, waited in islice(waits(version, Path(folder), options.word.resolve()), options.first):
                    seconds[what, version.name].append(waited)
                    print(f"round {number + 1}, {version.name}: {what} in {waited:.1f} s", file=sys.stderr, flush=True)
    print("| | before, s | now, s | of before |\n|---|--:|--:|--:|")
    for what in dict.fromkeys(what for what, _ in seconds):
        before, now = (statistics.median(seconds[what, version.name]) for version in versions)
        print(f"| {what} | {before:.1f} | {now:.1f} | {now / before:.2f} |")


if __name__ == "__main__":
    main()
