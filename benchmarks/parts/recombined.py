"""Any number of documents, whose passages are made of randomly chosen real sentences; and questions about them."""

import itertools
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.search_quality import load
from index_store.parsing.chunking.width import text_width
from pages import samples

PASSAGE = 200
"""wide characters, at least: two do not fit into one chunk (300), so each passage is one chunk, sometimes two"""
PASSAGES_A_SECTION = 4
SECTIONS_A_DOCUMENT = 50


@dataclass(frozen=True)
class Texts:
    sentences: list[tuple[str, str]]
    """each with the title of its text"""
    questions: list[str]
    origin: str


_SENTENCE = re.compile(r"[^。\n]+。|[^.\n]+[.!?](?:\s|$)")


def real(folder: Path, questions: int) -> Texts:
    collection = load(folder / "qa", "jsquad", limit=sys.maxsize)
    sentences = [(each.title, found) for each in collection.passages for found in _sentences(each.text)]
    asked = [question.text for question in collection.questions]
    return Texts(sentences, random.Random(0).sample(asked, min(questions, len(asked))), "sentences of JSQuAD")


def made_up(questions: int) -> Texts:
    handbook = [file for file in samples.documents() if file.suffix == ".md"]
    sentences = [
        (file.name.split(".")[0], found) for file in handbook for found in _sentences(file.read_text(encoding="utf-8"))
    ]
    asked = itertools.islice(itertools.cycle(question.text for question in samples.questions()), questions)
    return Texts(sentences, list(asked), "sentences of the sample handbook")


def _sentences(text: str) -> list[str]:
    return [found[0].strip(" #\t") for found in _SENTENCE.finditer(text)]


def documents(texts: Texts, chunks: int, generator: random.Random) -> Iterator[str]:
    """Yields Markdown with about `chunks` chunks."""
    passages = iter(lambda: _passage(texts, generator), None)
    for first in range(0, chunks, PASSAGES_A_SECTION * SECTIONS_A_DOCUMENT):
        rest = min(chunks - first, PASSAGES_A_SECTION * SECTIONS_A_DOCUMENT)
        lines = [f"# {generator.choice(texts.sentences)[0]}"]
        for number, (title, passage) in enumerate(itertools.islice(passages, rest)):
            if number % PASSAGES_A_SECTION == 0:
                lines.append(f"## {generator.choice(texts.sentences)[0]}")
            lines += [f"### {title}", passage]
        yield "\n\n".join(lines) + "\n"


def _passage(texts: Texts, generator: random.Random) -> tuple[str, str]:
    """A title, and random sentences."""
    title, text = generator.choice(texts.sentences)
    while text_width(text) < PASSAGE:
        text += " " + generator.choice(texts.sentences)[1]
    return title, text
