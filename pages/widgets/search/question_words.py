"""How keyword search reads a question: each word's search form, or why it is not searched, and its number of chunks."""

from collections.abc import Mapping
from html import escape
from typing import Literal

from index_store.full_text.analysis import Analysis, QuestionWord
from index_store.full_text.bm25 import WordCount
from pages.words.say import counted, say

SHOWN = 40
"""words that are shown without a click"""


Found = Literal["whole", "parts", "nowhere"]


def analysis_html(analysis: Analysis, counts: Mapping[str, WordCount]) -> str:
    words = [_word(word, counts) for word in analysis.words if word.written.strip()]
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


def _word(word: QuestionWord, counts: Mapping[str, WordCount]) -> str:
    written = escape(word.written)
    if word.dropped:
        return (
            f'<span class="word dropped"><s>{written}</s> <small>{escape(say(f"search.{word.dropped}"))}</small></span>'
        )
    searched = "" if word.term == word.written else f" → <b>{escape(word.term)}</b>"
    count = counts[word.term]
    found = _found(count)
    told = counted("search.whole", count.chunks) if found == "whole" else say(f"search.{found}")
    return f'<span class="word {found}"><b>{written}</b>{searched} <small>{escape(told)}</small></span>'


def _found(count: WordCount) -> Found:
    if count.chunks:
        return "whole"
    return "parts" if count.has_parts else "nowhere"


def _folded(summary: str, html: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{html}</details>"
