"""How much text a model can read, and how hits are trimmed to it, around the chunk that was found.

Lengths are in wide characters, as in index_store.parsing.chunking.width; what costs a tokenizer more than its width
counts more.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from index_store.base.errors import QuestionTooLong
from index_store.parsing.chunking.blocks import header_at
from index_store.parsing.chunking.text_splitter import split_text
from index_store.parsing.chunking.width import text_width
from index_store.search.hits import Hit
from rag.text.places import place

TOKENS_A_CHARACTER = 0.8
"""per wide character: the embedded model's tokenizer took 0.64 in Japanese and 0.48 in English, at most 0.83 (48
questions); other tokenizers take somewhat more for Japanese"""

FIGURE = 0.9
"""additional wide characters for a digit or an ASCII sign: each is a token, so a table has three times as many"""
_FIGURES = re.compile(r"[!-@\[-`{-~]")

RARE = 1.25
"""the same for half-width katakana, for signs such as ※, ① and →, and for letters of Greek, Thai and the scripts of
India: narrow, but often more than a token each. Quotes and dashes of prose are not among them."""
_RARE = re.compile(r"[\u0370-\u03ff\u0900-\u0eff\u203b-\u2bff\uff61-\uff9f]")

CAPITAL = 0.5
"""the same for a capital beside another one: a code such as RQXZTP is no word that a tokenizer knows"""
_CAPITALS = re.compile(r"[A-Z](?=[A-Z])|(?<=[A-Z])[A-Z]")

_COSTLY = ((FIGURE, _FIGURES), (RARE, _RARE), (CAPITAL, _CAPITALS))

BESIDE_PASSAGES = 1200
"""tokens of a prompt without the passages' text: instructions, a question, a rejected answer, titles"""

USUAL_PLACE = 40
"""wide characters of the title and the headings of a passage that BESIDE_PASSAGES includes"""

USUAL_QUESTION = 300
"""wide characters of a question that BESIDE_PASSAGES includes; a longer one takes space from the passages"""

LEAST_PASSAGES = 400
"""wide characters: with less space for passages, a question can't be answered from them"""

PIECE = 100
"""wide characters: a passage is trimmed to whole pieces of about this length (paragraphs, sentences)"""


@dataclass(frozen=True)
class ContextWindow:
    """The space for passages in a prompt, in wide characters."""

    passage: float
    """the most for one passage"""
    passages: float
    """for all passages together"""

    @classmethod
    def of(cls, context: int, answer: int) -> Self:
        """`context`: the model's context in tokens; `answer`: how many of them it may write."""
        passages = (context - answer - BESIDE_PASSAGES) / TOKENS_A_CHARACTER
        return cls(passage=passages / 2, passages=passages)

    def beside(self, question: str) -> Self:
        """What a question leaves of it. Raises QuestionTooLong."""
        more = length(question) - USUAL_QUESTION
        if more <= 0:
            return self
        left = self.passages - more
        if left < LEAST_PASSAGES:
            most = (USUAL_QUESTION + self.passages - LEAST_PASSAGES) * len(question) / length(question)
            raise QuestionTooLong(length=len(question), most=max(USUAL_QUESTION, int(most) // 100 * 100))
        return replace(self, passage=min(self.passage, left), passages=left)


def length(text: str) -> float:
    return text_width(text) + sum(more * len(costly.findall(text)) for more, costly in _COSTLY)


def fit_to_context(hits: Sequence[Hit], window: ContextWindow) -> list[Hit]:
    """The first of `hits`, as many as fit with at least their chunks. Better hits get more of the text around the
    chunk.

    `text`, `start` and `end` of trimmed hits agree with their section.
    """
    leasts: list[float] = []
    spare = window.passages
    for hit in hits:
        least = min(length(_header(hit) + _best(hit)), window.passage)
        needed = least + max(0, length(place(hit)) - USUAL_PLACE)
        if leasts and needed > spare:
            break
        leasts.append(least)
        spare -= needed
    kept = []
    for hit, least in zip(hits, leasts, strict=False):
        size = min(length(hit.header + hit.text), window.passage, least + spare)
        spare -= size - least
        kept.append(_trimmed(hit, size))
    return kept


def _best(hit: Hit) -> str:
    return hit.text[hit.best_start - hit.start : hit.best_end - hit.start]


def _header(hit: Hit) -> str:
    """The header of the table, if the chunk begins among its rows."""
    return hit.header or header_at(hit.text, hit.best_start - hit.start)


def _trimmed(hit: Hit, size: float) -> Hit:
    if length(hit.header + hit.text) <= size:
        return hit
    start, end = _around(hit.text, hit.best_start - hit.start, hit.best_end - hit.start, size - length(_header(hit)))
    header = header_at(hit.header + hit.text, len(hit.header) + start)
    if length(header + hit.text[start:end]) > size:
        header = header[: header.rfind("\n") + 1]  # without the cells before the rest of a row
    place = {"start": hit.start + start, "end": hit.start + end}
    return hit.model_copy(update={"text": hit.text[start:end], "header": header, **place})


def _around(text: str, start: int, end: int, size: float) -> tuple[int, int]:
    """The chunk from `start` to `end`, extended on both sides in turn as far as `size` allows."""
    if length(text[start:end]) > size:
        low, high = split_text(text[start:end], int(size * text_width(text[start:end]) / length(text[start:end])))[0]
        return start + low, start + high
    left = size - length(text[start:end])
    pieces = split_text(text, PIECE)
    before = (low for low, _ in reversed(pieces) if low < start)
    after = (high for _, high in pieces if high > end)
    sides: list[tuple[Iterator[int], bool]] = [(after, False), (before, True)]
    while sides:
        edges, is_start = sides.pop(0)
        edge = next(edges, None)
        if edge is None:
            continue
        more = length(text[edge:start] if is_start else text[end:edge])
        if more <= left:
            left -= more
            start, end = (edge, end) if is_start else (start, edge)
            sides.append((edges, is_start))
    return start, end
