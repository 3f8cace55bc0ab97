"""How often a pipeline gives no answer, when the documents contain none and when they do, and how often it is right.

    python -m benchmarks.refusal --data DIR [--pipeline self_rag] [--limit 20] [--only ja en squad2]

DIR has rejection/{ja,en}.jsonl and qa/squad2. Each question of the first two is asked twice, each time of a new index:
one with passages near the question but without the answer, and one that also has a passage with the answer. Those of
squad2 are asked of one index of the whole article. The chat model is that of the environment. With the embedded one, a
question takes half a minute on two cores.

An answer that is shown as not confirmed does not count as no answer; it is counted separately. An answer is right if it
contains one of the answers that people gave.
"""

import argparse
import json
import random
import re
import statistics
import tempfile
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.grading import rows
from benchmarks.parts.settings import with_own_data
from index_store.access.gate import as_local
from index_store.ingestion.sources import FileSource
from rag.runs.engine import Engine, UserEngine


@dataclass(frozen=True)
class Case:
    question: str
    is_answerable: bool
    index: str
    passages: tuple[str, ...]
    answers: tuple[str, ...] = ()
    """answers from people"""

    def is_right(self, answer: str) -> bool:
        return any(_bare(each) in _bare(answer) for each in self.answers)


def _bare(text: str) -> str:
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", text).casefold())


@dataclass(frozen=True)
class Ended:
    outcome: str
    is_right: bool
    calls: int
    seconds: float


def rejection_cases(data: Path, language: str, limit: int) -> Iterator[Case]:
    """`limit` questions, each twice."""
    for number, row in enumerate(rows(data / "rejection" / f"{language}.jsonl")[:limit]):
        noise = tuple(row["noise_passages"][:4])
        yield Case(row["question"], False, f"{language} {number} without", noise)
        held = (*noise[:3], row["positive_passages"][0])
        yield Case(row["question"], True, f"{language} {number} with", held, tuple(row["answers"]))


def squad2_cases(data: Path, limit: int) -> Iterator[Case]:
    """`limit` questions that the article answers, and as many that it does not."""
    passages = tuple(row["text"] for row in rows(data / "qa" / "squad2" / "paragraphs.jsonl"))
    questions = rows(data / "qa" / "squad2" / "questions.jsonl")
    random.Random(0).shuffle(questions)
    for is_answerable in (True, False):
        found = [row for row in questions if row["answerable"] is is_answerable]
        for row in found[:limit]:
            answers = tuple(answer["text"] for answer in row["answers"])
            yield Case(row["question"], is_answerable, "squad2", passages, answers)


SETS = {
    "ja": lambda data, limit: rejection_cases(data, "ja", limit),
    "en": lambda data, limit: rejection_cases(data, "en", limit),
    "squad2": squad2_cases,
}


def fill(engine: UserEngine, folder: Path, cases: list[Case]) -> None:
    for index, passages in {case.index: case.passages for case in cases}.items():
        (folder / index).mkdir()
        sources = []
        for number, text in enumerate(passages):
            file = folder / index / f"{number}.txt"
            file.write_text(text, encoding="utf-8")
            sources.append(FileSource(file))
        engine.store.ingest(index, sources).wait()


def measure(name: str, cases: list[Case], pipeline: str, folder: Path) -> None:
    runs: dict[bool, list[Ended]] = defaultdict(list)
    with Engine(with_own_data(folder / f"{name}-data")) as process:
        engine = process.as_user(as_local)
        (folder / name).mkdir()
        fill(engine, folder / name, cases)
        for case in cases:
            ended = engine.ask(case.question, index=case.index, pipeline_name=pipeline).result()
            if ended.status != "finished":
                raise RuntimeError(f"{case.question}: {ended.status}, {ended.error}")
            is_right = ended.outcome != "not_in_documents" and case.is_right(ended.answer)
            totals = ended.totals
            runs[case.is_answerable].append(Ended(ended.outcome, is_right, totals.model_calls, totals.seconds))
            line = {"set": name, "answerable": case.is_answerable, "outcome": ended.outcome, "right": is_right}
            line |= {"question": case.question, "answer": ended.answer[:200]}
            print(json.dumps(line, ensure_ascii=False), flush=True)
    for is_answerable, each in runs.items():
        print(f"# {pipeline}, {name}, {'' if is_answerable else 'not '}answerable: {summed_up(each)}", flush=True)


def summed_up(runs: list[Ended]) -> str:
    outcomes = Counter(run.outcome for run in runs)
    return (
        f"refused {outcomes['not_in_documents'] / len(runs):.0%} of {len(runs)}; "
        f"right {sum(run.is_right for run in runs) / len(runs):.0%}; {dict(outcomes)}; "
        f"median {statistics.median(run.calls for run in runs):g} calls, "
        f"{statistics.median(run.seconds for run in runs):.1f} s"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description="Measures how often no answer is given where there is none, and where there is one."
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pipeline", default="self_rag")
    parser.add_argument("--limit", type=int, default=20, help="questions of each kind a set")
    parser.add_argument("--only", nargs="+", choices=SETS, default=list(SETS))
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only:
            measure(name, list(SETS[name](options.data, options.limit)), options.pipeline, Path(folder))


if __name__ == "__main__":
    main()
