"""How much of a passage refinement keeps, and how often the sentence with the answer is in it.

    python -m benchmarks.refinement --data DIR [--limit 500]

DIR has qa/{jsquad,squad}: questions with the paragraph that answers each, and the position of the answer. Only
paragraphs of at least three strips count. The people who wrote the questions saw the paragraphs, so the questions share
more words with them than those of an index's users do.
"""

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks.grading import passage, rows
from rag.models.context_window import ContextWindow
from rag.nodes.refine import split_into_strips, strips

LEAST_STRIPS = 3
EVERYTHING = ContextWindow(passage=1e9, passages=1e9)


def cases(data: Path, name: str) -> Iterator[tuple[str, str, str]]:
    """Question, paragraph, and its strip with the answer."""
    folder = data / "qa" / name
    texts = {row["pid"]: row["text"] for row in rows(folder / "paragraphs.jsonl")}
    questions = rows(folder / "questions.jsonl")
    random.Random(1).shuffle(questions)
    for question in questions:
        text, answer = texts[question["pid"]], question["answers"][0]["text"]
        pieces = split_into_strips(text)
        holding = [strip for strip in pieces if answer in strip]
        if len(pieces) >= LEAST_STRIPS and len(holding) == 1:
            yield question["question"], text, holding[0]


def measure(data: Path, name: str, limit: int) -> dict[str, float]:
    found, kept, whole, first = 0, 0, 0, 0
    asked = [case for case, _ in zip(cases(data, name), range(limit), strict=False)]
    for question, text, holding in asked:
        scored = strips(question, [passage(1, text)], EVERYTHING)
        found += any(strip.kept and strip.text == holding for strip in scored)
        first += max(scored, key=lambda strip: strip.score).text == holding
        kept += sum(len(strip.text) for strip in scored if strip.kept)
        whole += len(text)
    count = len(asked)
    return {"questions": count, "answer kept": found / count, "answer first": first / count, "text kept": kept / whole}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures knowledge refinement without a model.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=500, help="questions a language")
    options = parser.parse_args()
    for name in ("jsquad", "squad"):
        print(
            name,
            json.dumps({key: round(value, 3) for key, value in measure(options.data, name, options.limit).items()}),
        )


if __name__ == "__main__":
    main()
