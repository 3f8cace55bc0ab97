"""How often a search finds the passage that a question was asked about, and how steadily, by vector, keyword and both.

    python -m benchmarks.search_quality --data DIR [--cache DIR] [--questions 1000]

DIR holds qa/jsquad and qa/squad: paragraphs.jsonl (pid, title, text) and questions.jsonl (pid, question, and
answer_in_text where not every answer is). One paragraph is one chunk. Embedding takes three minutes on two cores;
--cache keeps the vectors.
"""

import argparse
import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import create_engine

from index_store import fusion
from index_store.analysis import Analyzer
from index_store.embeddings import EmbeddedEmbeddings
from index_store.keywords import Entry, Keywords

DEPTH = 50
"""hits that are asked of each side"""

FLOOR_SAMPLE = 100
"""chunks whose mean vector tells what is far"""

RANKS = (1, 4, 10)

MODES = ("vector", "keyword", "hybrid", "hybrid by rank")


@dataclass(frozen=True)
class Passage:
    id: str
    title: str
    text: str


@dataclass(frozen=True)
class Question:
    text: str
    gold: str
    """id of the passage that it was asked about"""


@dataclass(frozen=True)
class Collection:
    name: str
    passages: list[Passage]
    questions: list[Question]
    subject: Callable[[str], str]
    """of a question"""
    ways: tuple[str, ...]
    """how its subject is asked about"""


# Steadiness: a question's subject is a run of its characters, found without any analysis that a search may also do.

JAPANESE_WAYS = (
    "{}とは", "{}について教えてください", "{}とはどういったものですか", "{}の説明をしてください", "{}",
)  # fmt: skip
ENGLISH_WAYS = ("What is {}?", "Tell me about {}", "What kind of thing is {}?", "Please explain {}", "{}")

_JAPANESE_RUN = re.compile(r"[一-龯々〆ァ-ヺー・A-Za-zＡ-Ｚａ-ｚ0-9０-９]+")
_ENGLISH_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9'’.-]*|[,?;]")
_FUNCTION_WORDS = """
    who what when where which why how is are was were be been did do does has have had the a an of in on at to for
    from by with and or as that this these those it its their his her many much long often kind type year name
    named called can could will would not than there during after before between into most more other one two
"""


def japanese_subject(question: str) -> str:
    """The longest run of kanji, katakana, letters and digits."""
    return max((run.strip("・") for run in _JAPANESE_RUN.findall(question)), key=len, default=question)


def english_subject(question: str) -> str:
    """The longest run of words that are no function words."""
    function_words = set(_FUNCTION_WORDS.split())
    runs: list[list[str]] = [[]]
    for word in (found.rstrip(".'’,?;") for found in _ENGLISH_WORD.findall(question)):
        if word and word.lower() not in function_words:
            runs[-1].append(word)
        else:
            runs.append([])
    return max((" ".join(run) for run in runs), key=len) or question


def load(folder: Path, name: str, limit: int) -> Collection:
    def lines(file: str) -> list[dict]:
        return [json.loads(line) for line in (folder / name / file).read_text(encoding="utf-8").splitlines()]

    asked = [each for each in lines("questions.jsonl") if each.get("answer_in_text", True)][:limit]
    is_japanese = name == "jsquad"
    return Collection(
        name=name,
        passages=[Passage(each["pid"], each["title"], each["text"]) for each in lines("paragraphs.jsonl")],
        questions=[Question(each["question"], each["pid"]) for each in asked],
        subject=japanese_subject if is_japanese else english_subject,
        ways=JAPANESE_WAYS if is_japanese else ENGLISH_WAYS,
    )


class Vectors:
    """Of texts, kept in a folder so that a second run need not embed them again."""

    def __init__(self, cache: Path | None) -> None:
        self._cache = cache
        self._model = EmbeddedEmbeddings()

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._kept(texts, "passages", lambda: self._model.passages(texts))

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._kept(texts, "queries", lambda: np.stack([self._model.query(text) for text in texts]))

    def _kept(self, texts: Sequence[str], kind: str, embed: Callable[[], NDArray]) -> NDArray[np.float32]:
        if self._cache is None:
            return embed()
        name = hashlib.sha256("\0".join([self._model.id, kind, *texts]).encode()).hexdigest()[:16]
        file = self._cache / f"{name}.npy"
        if not file.exists():
            self._cache.mkdir(parents=True, exist_ok=True)
            np.save(file, embed())
        return np.load(file)


class Search:
    """The passages of one collection, in memory."""

    def __init__(self, collection: Collection, vectors: Vectors) -> None:
        self._ids = [passage.id for passage in collection.passages]
        self._vectors = vectors.passages([_nfkc(f"{each.title}\n{each.text}") for each in collection.passages])
        self._mean = self._vectors[:FLOOR_SAMPLE].mean(axis=0)
        self._analyzer = Analyzer()
        self._keywords = Keywords("passages")
        self._connection = create_engine("sqlite://").connect()
        self._keywords.create(self._connection)
        for each in collection.passages:
            entry = Entry.of(self._analyzer, each.id, each.title, (), each.text)
            self._keywords.put(self._connection, each.id, [entry])

    def hits(self, question: str, vector: NDArray[np.float32]) -> dict[str, list[str]]:
        """Ids by mode, best first."""
        cosines = self._vectors @ vector
        near = [(self._ids[at], float(cosines[at])) for at in np.argsort(-cosines, kind="stable")[:DEPTH]]
        held = self._keywords.search(self._connection, self._analyzer.question(question), DEPTH)
        by_vector, by_keyword = [id_ for id_, _ in near], [id_ for id_, _ in held]
        by_score = fusion.by_score(near, held, float(self._mean @ vector))
        by_rank = fusion.by_rank(by_vector, by_keyword)
        lists = (by_vector, by_keyword, [hit.id for hit in by_score], [hit.id for hit in by_rank])
        return dict(zip(MODES, lists, strict=True))


def recall(collection: Collection, search: Search, vectors: Vectors) -> dict[str, list[float]]:
    """Of each mode the share of questions whose passage is among the first 1, 4, 10, then the mean reciprocal rank."""
    ranks: dict[str, list[float]] = {mode: [] for mode in MODES}
    queries = vectors.queries([_nfkc(question.text) for question in collection.questions])
    for question, vector in zip(collection.questions, queries, strict=True):
        for mode, ids in search.hits(question.text, vector).items():
            ranks[mode].append(ids.index(question.gold) + 1 if question.gold in ids else np.inf)
    return {
        mode: [*(fmean(rank <= k for rank in each) for k in RANKS), fmean(1 / rank for rank in each)]
        for mode, each in ranks.items()
    }


def steadiness(collection: Collection, search: Search, vectors: Vectors, every: int) -> dict[str, list[float]]:
    """Of each mode how much of the first 10 two ways of asking share, and the share of passages found in all five."""
    questions = collection.questions[::every]
    asked = [way.format(collection.subject(question.text)) for question in questions for way in collection.ways]
    queries = vectors.queries([_nfkc(text) for text in asked])
    overlaps: dict[str, list[float]] = {mode: [] for mode in MODES}
    found: dict[str, list[bool]] = {mode: [] for mode in MODES}
    for number, question in enumerate(questions):
        at = slice(number * len(collection.ways), (number + 1) * len(collection.ways))
        hits = [search.hits(text, vector) for text, vector in zip(asked[at], queries[at], strict=True)]
        for mode in MODES:
            tops = [set(each[mode][:10]) for each in hits]
            overlaps[mode] += [len(one & other) / max(len(one | other), 1) for one, other in combinations(tops, 2)]
            found[mode].append(all(question.gold in top for top in tops))
    return {mode: [fmean(overlaps[mode]), fmean(found[mode])] for mode in MODES}


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with qa/jsquad and qa/squad")
    parser.add_argument("--cache", type=Path, help="a folder for vectors")
    parser.add_argument("--questions", type=int, default=1000, help="of each set, from its beginning (1000)")
    options = parser.parse_args()
    vectors = Vectors(options.cache)
    print("| set | search | @1 | @4 | @10 | MRR | overlap of five ways | found in all five |")
    print("|---|---|---|---|---|---|---|---|")
    for name, every in (("jsquad", 5), ("squad", 4)):
        collection = load(options.data / "qa", name, options.questions)
        search = Search(collection, vectors)
        found, steady = recall(collection, search, vectors), steadiness(collection, search, vectors, every)
        for mode in MODES:
            figures = " | ".join(f"{figure:.3f}" for figure in found[mode] + steady[mode])
            print(f"| {name} | {mode} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
