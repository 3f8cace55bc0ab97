"""How often a search finds the passage that a question was asked about, and how steadily, by vector, keyword and both.

    python -m benchmarks.search_quality --data DIR [--cache FILE] [--questions 1000]

DIR has qa/jsquad and qa/squad: paragraphs.jsonl (pid, title, text) and questions.jsonl (pid, question, and answers with
text and start; answer_in_text if not every answer is). All searches go through the store.

First table: each paragraph is one document, as in published figures.

Second table: what a model gets to read. Each article is one document, its paragraphs under h3, four of them under an
h2, so that a section has several chunks. Headings contain only the title, so they do not show where an answer is.
Chunks, and sections as the pipelines trim them, fill the same context window. A question counts if the answer is in it:
at that position of the article, not the same words elsewhere.

Embedding takes ten minutes on two cores; --cache keeps the vectors.
"""

import argparse
import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from index_store.base.settings.settings import Settings
from index_store.ingestion.sources import FileSource
from index_store.search.hits import Hit
from index_store.search.searcher import MODES
from index_store.store.index_store import IndexStore
from index_store.vectors.embedded.model import EmbeddedEmbeddings
from index_store.vectors.embeddings import Embeddings, LanguageBias
from rag.models.context_window import ContextWindow, fit_to_context

RANKS = (1, 4, 10)

WINDOWS = (1200, 2500)
"""wide characters: most that four chunks of the default size take, and median of four sections of JSQuAD"""

EVERY = {"jsquad": 5, "squad": 4}
"""by set: one of so many questions has its subject asked about in five ways"""

UNITS_GIVEN = {"chunk": 40, "section": 4}
"""most hits by unit: chunks until the window is full; sections as many as the pipelines give"""

PARAGRAPHS_A_SECTION = 4

BESIDE = 20
"""characters before and after an answer that identify its position in a section"""

FUSIONS = {
    "score": {"vector": "vector", "keyword": "keyword", "hybrid": "hybrid"},
    "rank": {"hybrid by rank": "hybrid"},
}
"""by setting: what is measured with it, a name and the mode"""

Search = Callable[[str], list[str]]
"""question -> ids of passages, best first"""


@dataclass(frozen=True)
class Passage:
    id: str
    title: str
    text: str


@dataclass(frozen=True)
class Question:
    text: str
    gold: str
    """id of the passage that the question is about"""
    answer: tuple[int, int]
    """(start, end) in that passage, in characters"""


@dataclass(frozen=True)
class Collection:
    name: str
    passages: list[Passage]
    questions: list[Question]
    subject: Callable[[str], str]
    """finds the subject of a question"""
    ways: tuple[str, ...]
    """questions to ask about a subject"""


# Steadiness: the subject is a run of the question's characters, found without an analysis that a search may also do.

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
    """The longest run of words without function words."""
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
        return [json.loads(line) for line in (folder / name / file).read_text(encoding="utf-8").strip().split("\n")]

    asked = [each for each in lines("questions.jsonl") if each.get("answer_in_text", True)][:limit]
    is_japanese = name == "jsquad"
    return Collection(
        name=name,
        passages=[Passage(each["pid"], each["title"], each["text"]) for each in lines("paragraphs.jsonl")],
        questions=[Question(each["question"], each["pid"], _place(each["answers"][0])) for each in asked],
        subject=japanese_subject if is_japanese else english_subject,
        ways=JAPANESE_WAYS if is_japanese else ENGLISH_WAYS,
    )


class Kept:
    """An embedding model whose vectors are kept in a file, so that a second run need not embed the same texts again."""

    def __init__(self, model: Embeddings, file: Path | None) -> None:
        self._model = model
        self._file = file
        self._vectors: dict[str, NDArray[np.float32]] = {}
        if file and file.exists():
            with np.load(file) as kept:
                self._vectors = dict(kept)

    @property
    def id(self) -> str:
        return self._model.id

    @property
    def batch(self) -> int:
        return self._model.batch

    @property
    def language_bias(self) -> LanguageBias | None:
        return self._model.language_bias

    def load(self) -> None:
        """Does nothing: the kept vectors need no model."""

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        keys = [_key("passage", text) for text in texts]
        missing = [at for at, key in enumerate(keys) if key not in self._vectors]
        if missing:
            made = self._model.passages([texts[at] for at in missing])
            self._vectors |= {keys[at]: vector for at, vector in zip(missing, made, strict=True)}
        return np.stack([self._vectors[key] for key in keys])

    def query(self, text: str) -> NDArray[np.float32]:
        key = _key("query", text)
        if key not in self._vectors:
            self._vectors[key] = self._model.query(text)
        return self._vectors[key]

    def save(self) -> None:
        if self._file:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("wb") as file:  # to a name without .npz, numpy would add it
                np.savez(file, **self._vectors)


def measure(collection: Collection, model: Embeddings, folder: Path, every: int) -> Iterator[tuple[str, list[float]]]:
    """Yields each kind of search with its figures. Each paragraph is a document, added in the normal way."""
    files = []
    for passage in collection.passages:
        files.append(folder / f"{passage.id}.md")
        files[-1].write_text(f"# {passage.title}\n\n{passage.text}\n", encoding="utf-8")
    settings = Settings(_env_file=None, data_dir=folder / "data")
    with IndexStore(settings, model) as store:
        add(store, "a", files)
    for fusion, modes in FUSIONS.items():
        with IndexStore(settings.model_copy(update={"fusion": fusion}), model) as store:
            for name, mode in modes.items():
                search = partial(found, store, mode)
                yield name, recall(collection, search) + steadiness(collection, search, every)


def add(store: IndexStore, index: str, files: Sequence[Path]) -> None:
    added = store.ingest(index, [FileSource(file, file.name) for file in files]).wait()
    if failed := [each for each in added if each.error]:
        raise RuntimeError(
            f"{len(failed)} of {len(added)} could not be added, as {failed[0].source}: {failed[0].error}"
        )


def found(store: IndexStore, mode: str, question: str) -> list[str]:
    """Ids of passages, best first. A long passage may be two chunks, so twice as many hits are requested."""
    hits = store.search("a", question, mode=mode, k=2 * RANKS[-1])
    return list(dict.fromkeys(Path(place.source).stem for hit in hits for place in (hit, *hit.copies)))


def recall(collection: Collection, search: Search) -> list[float]:
    """The parts of the questions whose passage is among the first 1, 4 and 10, then the mean reciprocal rank."""
    ranks = []
    for question in collection.questions:
        ids = search(question.text)
        ranks.append(ids.index(question.gold) + 1 if question.gold in ids else np.inf)
    return [*(fmean(rank <= k for rank in ranks) for k in RANKS), fmean(1 / rank for rank in ranks)]


def steadiness(collection: Collection, search: Search, every: int) -> list[float]:
    """How much of the first 10 is common to two ways of asking (Jaccard), and the part of passages found
    in all five.
    """
    overlaps: list[float] = []
    is_found: list[bool] = []
    for question in collection.questions[::every]:
        subject = collection.subject(question.text)
        tops = [set(search(way.format(subject))[:10]) for way in collection.ways]
        overlaps += [len(one & other) / max(len(one | other), 1) for one, other in combinations(tops, 2)]
        is_found.append(all(question.gold in top for top in tops))
    return [fmean(overlaps), fmean(is_found)]


# What a model is given to read


class Span(NamedTuple):
    section_id: str
    start: int
    end: int


def articles(passages: Sequence[Passage]) -> dict[str, list[Passage]]:
    by_title: dict[str, list[Passage]] = {}
    for passage in passages:
        by_title.setdefault(passage.title, []).append(passage)
    return by_title


def as_document(title: str, passages: Sequence[Passage]) -> str:
    lines = [f"# {title}"]
    for number, passage in enumerate(passages):
        if number % PARAGRAPHS_A_SECTION == 0:
            lines.append(f"## {title}")
        lines += [f"### {title}", passage.text]
    return "\n\n".join(lines) + "\n"


def answer_spans(collection: Collection, store: IndexStore) -> list[Span]:
    """One per question. Raises RuntimeError for an answer that no section contains."""
    passages = {passage.id: passage for passage in collection.passages}
    documents = {document.title: document.id for document in store.documents("articles")}
    sections = {title: store.sections(id_) for title, id_ in documents.items()}
    spans = []
    for question in collection.questions:
        passage = passages[question.gold]
        start, end = question.answer
        low = max(0, start - BESIDE)
        around = passage.text[low : end + BESIDE]
        found = ((section.id, section.text.find(around)) for section in sections[passage.title])
        span = next((Span(id_, at + start - low, at + end - low) for id_, at in found if at >= 0), None)
        if span is None:
            raise RuntimeError(f"no section holds {around!r}")
        spans.append(span)
    return spans


def measure_given(collection: Collection, model: Embeddings, folder: Path) -> Iterator[tuple[str, str, list[float]]]:
    """Mode, unit, and for each window the part of the questions whose answer is in the given text."""
    files = []
    for number, (title, passages) in enumerate(articles(collection.passages).items()):
        files.append(folder / f"{number}.md")
        files[-1].write_text(as_document(title, passages), encoding="utf-8")
    with IndexStore(Settings(_env_file=None, data_dir=folder / "data"), model) as store:
        add(store, "articles", files)
        spans = answer_spans(collection, store)
        for mode, unit in product(MODES, UNITS_GIVEN):
            found = [
                store.search("articles", question.text, mode=mode, unit=unit, k=UNITS_GIVEN[unit])
                for question in collection.questions
            ]
            yield mode, unit, [fmean(map(partial(is_given, window), found, spans)) for window in WINDOWS]


def is_given(window: int, hits: Sequence[Hit], answer: Span) -> bool:
    return any(
        hit.section_id == answer.section_id and hit.start <= answer.start and answer.end <= hit.end
        for hit in fit_to_context(hits, ContextWindow(passage=window, passages=window))
    )


def _place(answer: dict) -> tuple[int, int]:
    return answer["start"], answer["start"] + len(answer["text"])


def _key(kind: str, text: str) -> str:
    return hashlib.sha256(f"{kind} {text}".encode()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with qa/jsquad and qa/squad")
    parser.add_argument("--cache", type=Path, help="a file for vectors, .npz")
    parser.add_argument("--questions", type=int, default=1000, help="of each set, from its beginning (1000)")
    options = parser.parse_args(arguments)
    model = Kept(EmbeddedEmbeddings(), options.cache)
    print("| set | search | @1 | @4 | @10 | MRR | overlap of five ways | found in all five |")
    print("|---|---|---|---|---|---|---|---|")
    collections = {name: load(options.data / "qa", name, options.questions) for name in EVERY}
    for name, collection in collections.items():
        with tempfile.TemporaryDirectory() as folder:
            for mode, row in measure(collection, model, Path(folder), EVERY[name]):
                print(f"| {name} | {mode} | {' | '.join(f'{figure:.3f}' for figure in row)} |", flush=True)
        model.save()
    print("\n| set | search | unit | " + " | ".join(f"answer within {window}" for window in WINDOWS) + " |")
    print("|---|---|---|" + "---|" * len(WINDOWS))
    for name, collection in collections.items():
        with tempfile.TemporaryDirectory() as folder:
            for mode, unit, row in measure_given(collection, model, Path(folder)):
                print(f"| {name} | {mode} | {unit} | {' | '.join(f'{share:.3f}' for share in row)} |", flush=True)
        model.save()


if __name__ == "__main__":
    main()
