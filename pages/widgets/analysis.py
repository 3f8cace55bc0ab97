"""How the keyword side reads a question: each word as what it is searched, or why not, and whether it is anywhere."""

from collections.abc import Sequence
from html import escape
from itertools import islice
from typing import Literal

from index_store import Analysis, IndexStore
from index_store.analysis import QuestionWord
from pages.words import counted, say

SHOWN = 40
"""words that are shown without being asked for"""

SOUGHT = 24
"""words that are each looked for by themselves: 5 ms a word"""

Presence = Literal["whole", "parts", "nowhere"]


def presences(
    store: IndexStore, index: str, analysis: Analysis, document_ids: Sequence[str] | None
) -> dict[str, Presence]:
    """Of the first terms of the question: what the passages hold of each."""
    words = {word.term: word for word in analysis.words if not word.dropped}
    return {term: _presence(store, index, word, document_ids) for term, word in islice(words.items(), SOUGHT)}


def _presence(store: IndexStore, index: str, word: QuestionWord, document_ids: Sequence[str] | None) -> Presence:
    hits = store.search(index, word.written, mode="keyword", k=1, document_ids=document_ids)
    alone = Analysis(words=(word,), pairs=())
    for hit in hits:
        if any(store.matches(index, alone, text) for text in (hit.text, hit.title, *hit.headings)):
            return "whole"
    return "parts" if hits else "nowhere"


def analysis_html(analysis: Analysis, known: dict[str, Presence]) -> str:
    words = [_word(word, known.get(word.term)) for word in analysis.words if word.written.strip()]
    shown = f'<p class="words">{"".join(words[:SHOWN])}</p>'
    if rest := words[SHOWN:]:
        shown += _folded(counted("search.more_words", len(rest)), f'<p class="words">{"".join(rest)}</p>')
    if not analysis.kept and not analysis.pairs:
        shown += f"<p>{escape(say('search.no_words'))}</p>"
    if analysis.pairs:
        pairs = " ".join(f"<span>{escape(pair)}</span>" for pair in analysis.pairs)
        explained = f"<p>{escape(say('search.pairs_help'))}</p>"
        shown += _folded(counted("search.pairs", len(analysis.pairs)), f'{explained}<p class="pairs">{pairs}</p>')
    return f'<div class="analysis">{shown}</div>'


def _word(word: QuestionWord, presence: Presence | None) -> str:
    written = escape(word.written)
    if word.dropped:
        return (
            f'<span class="word dropped"><s>{written}</s> <small>{escape(say(f"search.{word.dropped}"))}</small></span>'
        )
    searched = "" if word.term == word.written else f" → <b>{escape(word.term)}</b>"
    told = f" <small>{escape(say(f'search.{presence}'))}</small>" if presence else ""
    return f'<span class="word {presence or ""}"><b>{written}</b>{searched}{told}</span>'


def _folded(summary: str, html: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{html}</details>"
