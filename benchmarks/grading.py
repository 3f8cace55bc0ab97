"""How well the embedded model grades: AUC, the best threshold, and the result of the one in the code.

    python -m benchmarks.grading --data DIR [--limit 60] [--only relevance_ja ...]

DIR has grading/ (relevance_{ja,en}, relevance_en_human, grounding_ja) and qa/{jsquad,squad}. Cases for grounding in
English and usefulness are made from qa/: an answer, another from the same passage, one from elsewhere, a refusal. A
case takes 3 to 10 seconds on two cores.
"""

import argparse
import asyncio
import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rag.models.calls.usage import Usage, tokens_of
from rag.models.embedded.grading import grounding, relevance, usefulness
from rag.models.embedded.log_odds import TOP, YesNoQuestion
from rag.models.embedded.source import EmbeddedSource
from rag.settings import EMBEDDED, Settings
from rag.trace.passages import Passage

REFUSALS = {
    "ja": (
        "文書の中に、この質問の答えは見つかりませんでした。",
        "申し訳ありませんが、提供された文章からは分かりません。",
    ),
    "en": ("The passages do not contain the answer to this question.", "I am sorry, but I do not know."),
}


@dataclass(frozen=True)
class Case:
    asked: YesNoQuestion
    kind: str
    is_yes: bool


def passage(number: int, text: str, title: str = "") -> Passage:
    return Passage(
        number=number,
        rank=number,
        score=0,
        document_id="",
        section_id="",
        source="",
        title=title,
        headings=(),
        page=None,
        text=text,
        start=0,
        end=len(text),
    )


def numbered(texts: Iterable[str]) -> list[Passage]:
    return [passage(number, text) for number, text in enumerate(texts, 1)]


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").strip().split("\n")]


def relevance_cases(data: Path, name: str) -> Iterator[Case]:
    for row in rows(data / "grading" / f"{name}.jsonl"):
        prompt = relevance(row["question"], passage(1, row["passage"], row.get("passage_title", "")))
        yield Case(prompt, row.get("kind", row["label"]), row["label"] == "relevant")


def grounding_ja_cases(data: Path) -> Iterator[Case]:
    for row in rows(data / "grading" / "grounding_ja.jsonl"):
        prompt = grounding(row["question"], row["answer"], numbered(row["passages"]))
        yield Case(prompt, row["kind"], row["label"] == "grounded")


def grounding_en_cases(data: Path) -> Iterator[Case]:
    texts = {row["pid"]: row["text"] for row in rows(data / "qa" / "squad" / "paragraphs.jsonl")}
    questions = rows(data / "qa" / "squad" / "questions.jsonl")
    choice = random.Random(0)
    choice.shuffle(questions)
    for question, foreign in zip(questions, reversed(questions), strict=True):
        right = question["answers"][0]["text"]
        others = [other["answers"][0]["text"] for other in questions if other["pid"] == question["pid"]]
        others = [other for other in others if other not in right and right not in other]
        if not others or foreign["pid"] == question["pid"]:
            continue
        said = {"right": right, "from the same passage": others[0], "from elsewhere": foreign["answers"][0]["text"]}
        for kind, answer in said.items():
            prompt = grounding(question["question"], answer, numbered([texts[question["pid"]]]))
            yield Case(prompt, kind, kind == "right")


def usefulness_cases(data: Path, language: str) -> Iterator[Case]:
    questions = rows(data / "qa" / {"ja": "jsquad", "en": "squad"}[language] / "questions.jsonl")
    choice = random.Random(0)
    choice.shuffle(questions)
    for question, other in zip(questions, reversed(questions), strict=True):
        said = {
            "right": question["answers"][0]["text"],
            "to another question": other["answers"][0]["text"],
            "refusal": choice.choice(REFUSALS[language]),
        }
        for kind, answer in said.items():
            yield Case(usefulness(question["question"], answer), kind, kind == "right")


SETS = {
    "relevance_ja": lambda data: relevance_cases(data, "relevance_ja"),
    "relevance_en": lambda data: relevance_cases(data, "relevance_en"),
    "relevance_en_human": lambda data: relevance_cases(data, "relevance_en_human"),
    "grounding_ja": grounding_ja_cases,
    "grounding_en": grounding_en_cases,
    "usefulness_ja": lambda data: usefulness_cases(data, "ja"),
    "usefulness_en": lambda data: usefulness_cases(data, "en"),
}


def chosen(cases: Iterable[Case], limit: int) -> list[Case]:
    """`limit` cases: half of them yes, the rest spread evenly over the kinds of no."""
    kinds: dict[tuple[bool, str], list[Case]] = {}
    for case in cases:
        kinds.setdefault((case.is_yes, case.kind), []).append(case)
    share = {is_yes: limit // 2 // sum(key[0] == is_yes for key in kinds) for is_yes in (True, False)}
    return [case for (is_yes, _), found in kinds.items() for case in found[: share[is_yes]]]


def auc(yes: list[float], no: list[float]) -> float:
    """How often a yes has a higher score than a no."""
    return sum((a > b) + (a == b) / 2 for a in yes for b in no) / (len(yes) * len(no))


def balanced_accuracy(yes: list[float], no: list[float], threshold: float) -> float:
    return (sum(each >= threshold for each in yes) / len(yes) + sum(each < threshold for each in no) / len(no)) / 2


def report(name: str, graded: list[tuple[Case, float]]) -> None:
    yes = [total for case, total in graded if case.is_yes]
    no = [total for case, total in graded if not case.is_yes]
    threshold = graded[0][0].asked.threshold
    best = max(yes + no, key=lambda each: balanced_accuracy(yes, no, each))
    print(
        f"{name:20} {len(graded):4} cases  AUC {auc(yes, no):.3f}  best threshold {best:+.2f} "
        f"(balanced accuracy {balanced_accuracy(yes, no, best):.2f})  threshold {threshold:+.2f} "
        f"({balanced_accuracy(yes, no, threshold):.2f}; says yes to "
        f"{sum(each >= threshold for each in yes) / len(yes):.0%} of yes)"
    )
    for kind in sorted({case.kind for case, _ in graded if not case.is_yes}):
        against = [total for case, total in graded if case.kind == kind]
        passed = sum(each >= threshold for each in against) / len(against)
        print(f"    {kind}: AUC {auc(yes, against):.3f}, says yes to {passed:.0%}", flush=True)


async def measure(names: list[str], data: Path, limit: int) -> None:
    source = EmbeddedSource(Settings(chat_model=EMBEDDED))
    try:
        client = source.open().client
        for name in names:
            graded = []
            for case in chosen(SETS[name](data), limit):
                message = await client.ask(case.asked.prompt, Usage(), max_tokens=1, logprobs=True, top_logprobs=TOP)
                graded.append((case, case.asked.grade(tokens_of(message)).explanation.total))
            report(name, graded)
    finally:
        await source.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Calibrates the embedded model's grades.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=60, help="cases a set")
    parser.add_argument("--only", nargs="+", choices=SETS, default=list(SETS))
    options = parser.parse_args()
    asyncio.run(measure(options.only, options.data, options.limit))


if __name__ == "__main__":
    main()
