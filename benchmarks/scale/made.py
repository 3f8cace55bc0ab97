"""Documents of any number, always the same for the same number, with terms and vectors that are cheap to make.

Their sentences are real ones in random order, so that words are as frequent as in real text. Each passage also has two
part numbers: real text always brings new words, and repeated sentences do not.
"""

import hashlib
import random
from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmarks.parts.clustered import Clustered
from benchmarks.parts.recombined import PASSAGE, PASSAGES_A_SECTION, SECTIONS_A_DOCUMENT, Texts
from index_store.catalogue.sections import chunk_id
from index_store.full_text.analysis import Analyzer, Term, Terms
from index_store.full_text.bm25 import ChunkTerms
from index_store.parsing.chunking.chunker import ParsedChunk, ParsedSection
from index_store.parsing.chunking.width import text_width
from index_store.vectors.embeddings import Vectors

CHUNKS = PASSAGES_A_SECTION * SECTIONS_A_DOCUMENT
"""chunks of a document"""

REVISION = 1

RARE = 0.5
FEWEST = 1000
"""From number FEWEST on, part number n appears in proportion to n ** -(1 + RARE): the longer the text, the more
different numbers it has (Heaps' law). The most common one is in a thousandth of the chunks"""


@dataclass(frozen=True)
class Made:
    """A document as after parsing."""

    id: str
    title: str
    sections: list[ParsedSection]
    terms: list[ChunkTerms]
    """by chunk"""

    @property
    def chunk_ids(self) -> list[str]:
        return [chunk_id(self.id, REVISION, position) for position in range(len(self.terms))]

    @property
    def markdown(self) -> str:
        parts = [f"# {self.title}"]
        for section in self.sections:
            parts += [f"## {section.headings[-1]}", section.text]
        return "\n\n".join(parts) + "\n"


class MadeLibrary:
    """`chunks` chunks in total; the last document has the rest."""

    def __init__(self, texts: Texts, chunks: int, seed: int) -> None:
        self._texts = texts
        self._chunks = chunks
        self._seed = seed
        self._analyzer = _Remembering()
        self._vectors = Clustered()

    def __len__(self) -> int:
        """The number of documents."""
        return -(-self._chunks // CHUNKS)

    def id(self, number: int) -> str:
        return hashlib.blake2b(f"{self._seed} {number}".encode(), digest_size=16).hexdigest()

    def chunks(self, number: int) -> int:
        """The number of chunks of document `number`."""
        return min(CHUNKS, self._chunks - number * CHUNKS)

    def document(self, number: int) -> Made:
        chance = random.Random(f"{self._seed} {number}")
        id_ = self.id(number)
        title, _ = chance.choice(self._texts.sentences)
        sections: list[ParsedSection] = []
        terms: list[ChunkTerms] = []
        for first in range(0, self.chunks(number), PASSAGES_A_SECTION):
            heading, _ = chance.choice(self._texts.sentences)
            chunks: list[ParsedChunk] = []
            text = ""
            for position in range(first, min(first + PASSAGES_A_SECTION, self.chunks(number))):
                passage = self._passage(chance)
                text += ("\n\n" if text else "") + passage
                headings = (heading,)
                chunks.append(ParsedChunk(len(text) - len(passage), len(text), None, headings, ""))
                terms.append(ChunkTerms.of(self._analyzer, chunk_id(id_, REVISION, position), title, headings, passage))
            sections.append(ParsedSection((heading,), None, text, chunks))
        return Made(id_, title, sections, terms)

    def vectors(self, number: int) -> Vectors:
        """The vectors of the chunks of document `number`."""
        return self._vectors.drawn(self.chunks(number), np.random.default_rng([self._seed, number]))

    def _passage(self, chance: random.Random) -> str:
        sentences: list[str] = []
        while sum(map(text_width, sentences)) < PASSAGE:
            sentences.append(chance.choice(self._texts.sentences)[1])
        parts = (f"P{int(FEWEST * chance.paretovariate(RARE)) % 10**9}X" for _ in range(2))
        return "\n".join([*sentences, " ".join(parts)])


class _Remembering(Analyzer):
    """An analyzer that remembers lines: most lines of a text come again."""

    def terms(self, text: str) -> Terms:
        """Without their positions, which only marks in a hit need."""
        parts = [self._of_line(line) for line in text.split("\n")]
        return Terms([term for part in parts for term in part.words], [term for part in parts for term in part.pairs])

    def _of_line(self, line: str) -> Terms:
        return _part(line) if line.startswith("P") else _sentence(line)


def _part(line: str) -> Terms:
    return Analyzer().terms(line)


@cache
def _sentence(line: str) -> Terms:
    words, pairs = Analyzer().terms(line)
    return Terms([Term(word.text, 0, 0) for word in words], [Term(pair.text, 0, 0) for pair in pairs])
