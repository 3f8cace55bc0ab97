"""Knowledge refinement: splits passages into strips of one or two sentences and keeps the helpful ones.

After CRAG, arXiv 2401.15884, section 4.4. There, an evaluator model scores each strip. Here, the score is the strip's
share of the question's words (rag/text/overlap.py). It needs no model call and is as good as vectors, in a thousandth
of the time (figures: docs/pipelines/corrective.md).
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise, repeat

from index_store.parsing.chunking.text_splitter import split_text
from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.models.context_window import PIECE, ContextWindow, length
from rag.text.citations import FULL_STOP, WITHIN_BRACKETS
from rag.text.language import language_of
from rag.text.overlap import overlap
from rag.trace.details import RefinementDetail, Strip
from rag.trace.passages import Passage

SHORT = 60
"""wide characters: a shorter sentence is joined with the next one, which often has the subject"""

KEPT = 0.3
"""of the best strip's score in the same passage: this keeps the strip with the answer in 96 of 100 passages with one"""

GAP = "\n…\n"
"""between strips that do not follow each other"""

_MARK = r"[-*+–][ \t]|[・•◦①-⑳]|\d{1,2}\.\s|[(（]?\d{1,2}[)）]"
_MAY_BE_MARK = (
    r"[○◎●□■◇◆]|\d{1,2}[．、　]|[(（]?(?:[ア-ンｱ-ﾝ]|[一二三四五六七八九十]{1,3})[)）.．、 　]"
    r"|[(（]?(?:[a-z]|[ivx]{2,4})(?:[)）]|\.[ \t])"
)
"""of an item if the next one has such a mark, too; else it may be that of a heading"""


def _item(mark: str) -> str:
    """An item with such a mark, the lines that go on with it, and an empty line before the next item."""
    more = r"(?: {2}|\t)[ \t]*+[^\s|][^\n]*(?:\n|\Z)"
    next_item = rf"[ \t]*\n(?=[ \t　]*(?:{_MARK}|{_MAY_BE_MARK}))"
    return rf"[ \t　]*(?:{mark})[^\n]*(?:\n|\Z)(?:{more})*(?:{next_item})?"


_ROW = r"[ \t]*\|[^\n]*(?:\n|\Z)"
_LISTED = (
    r"^(?:[^\n|]*\n(?:[ \t]*\n)?)?"
    rf"(?:(?:{_ROW})+|(?:{_item(f'{_MARK}|{_MAY_BE_MARK}')}){{2,}}|{_item(_MARK)})"
)
"""a table or a list, with the line above it: a row needs its columns, and an item what is said of all items"""
_SENTENCE_END = re.compile(
    rf"(?:{_LISTED}|[。！？!?]+(?!{WITHIN_BRACKETS})[\"”’]*|{FULL_STOP}|\.[\"”’)]+(?=\s)|\n)\s*", re.MULTILINE
)


@step
async def refine(state: State, step: NodeStep) -> State:
    """Keeps only the helpful parts of the passages (knowledge refinement of CRAG, arXiv 2401.15884). A citation still
    opens the whole passage.
    """
    passages = state["relevant"]
    window = step.model.context_window.beside(state["question"])
    found = await asyncio.to_thread(strips, state["question"], passages, window)
    step.detail = RefinementDetail(strips=tuple(found))
    return {"relevant": refined(passages, found)}


def strips(question: str, passages: Sequence[Passage], window: ContextWindow) -> list[Strip]:
    """The strips of all passages, in order. If not all helpful ones fit into the context window, the best are kept.

    A passage in another language shares only names and codes with the question, so its scores say nothing; it is kept
    whole. So is one that shares no word.
    """
    scored = [
        Strip(
            passage=passage.number,
            document_id=passage.document_id,
            text=text,
            score=overlap(question, above + text),
            kept=False,
        )
        for passage in passages
        # The header of a table says what its rows are about.
        for above, strip in zip(chain([passage.header], repeat("")), split_into_strips(passage.text), strict=False)
        for text in _parts(strip, window.passage)
    ]
    language = language_of(question)
    foreign = {passage.number for passage in passages if language_of(passage.text) != language}
    best: dict[int, float] = {}
    for strip in scored:
        best[strip.passage] = max(best.get(strip.passage, 0), strip.score)
    wanted = [each for each in scored if each.passage in foreign or each.score >= KEPT * best[each.passage]]
    kept = _within(wanted, window)
    return [strip.model_copy(update={"kept": id(strip) in kept}) for strip in scored]


def refined(passages: Sequence[Passage], strips: Sequence[Strip]) -> list[Passage]:
    """The passages with only their kept strips. A passage without any is dropped; so is a header without rows."""
    left = []
    for passage in passages:
        mine = [each for each in strips if each.passage == passage.number]
        if text := _joined(mine):
            header = passage.header if mine[0].kept else ""
            left.append(passage.model_copy(update={"text": text, "header": header}))
    return left


def split_into_strips(text: str) -> list[str]:
    """Strips that together give `text`, except for space at its ends."""
    found: list[str] = []
    start = 0
    is_open = False
    for stop in [*(end.end() for end in _SENTENCE_END.finditer(text)), len(text)]:
        sentence, start = text[start:stop], stop
        if not sentence.strip():
            continue
        if is_open:
            found[-1] += sentence
        else:
            found.append(sentence)
        is_open = not is_open and length(sentence) < SHORT
    return found


def _parts(strip: str, most: float) -> Iterator[str]:
    """The strip, in pieces if it could never be kept: web pages have lists and tables without a sentence's end."""
    starts = [start for start, _ in split_text(strip, PIECE)] if length(strip) > most else []
    for start, stop in pairwise([0, *starts[1:], len(strip)]):
        yield strip[start:stop]


def _within(wanted: Sequence[Strip], window: ContextWindow) -> set[int]:
    """The `id()` of the strips that fit; better ones first."""
    kept: set[int] = set()
    left = window.passages
    in_passage: dict[int, float] = {}
    for strip in sorted(wanted, key=lambda strip: -strip.score):
        size = length(strip.text)
        taken = in_passage.get(strip.passage, 0) + size
        if size <= left and taken <= window.passage:
            kept.add(id(strip))
            left -= size
            in_passage[strip.passage] = taken
    return kept


def _joined(strips: Sequence[Strip]) -> str:
    text = ""
    for before, strip in zip([None, *strips], strips, strict=False):
        if strip.kept:
            text += strip.text if before is None or before.kept else f"{text and GAP}{strip.text}"
    return text.strip()
