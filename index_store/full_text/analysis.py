"""Turns text into the terms that full-text search compares: words, and pairs of Japanese characters.

words.py finds the words; particles, auxiliaries and signs are dropped. Pairs find words that are in no dictionary, and
words that Sudachi splits differently elsewhere. A question is analysed like a text, and its stopwords are dropped. The
parts of a word that is made of others count where the whole does not occur.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import chain, dropwhile, groupby
from typing import NamedTuple

from pydantic import BaseModel

from index_store.full_text.folding import FoldedText, fold
from index_store.full_text.glossary import Glossary
from index_store.full_text.stopwords import CLOSING, COMMON, FORMAL, OPENING, POLITE
from index_store.full_text.sudachi import DICTIONARY
from index_store.full_text.words import (
    HANGUL,
    HAS_JAPANESE,
    JAPANESE,
    DropReason,
    Word,
    find_words,
    in_order,
    without_breaks_in_words,
)

VERSION = 10
"""increase it when the same text would give other terms: full texts are then rebuilt"""

_JAPANESE_OR_DIGIT = re.compile(rf"[{JAPANESE}\d]")
_JAPANESE_NEXT = re.compile(rf"\s*[{JAPANESE}]")
_HIRAGANA = re.compile("[\u3041-\u309f]")
_RUN = re.compile(f"[{JAPANESE}]+|[{HANGUL}]+")
_SENTENCE_END = re.compile(r"[。!?\n]|\.(?=\s)|(?<=です|んだ)(?:が|けれ?ど)")
"""also of what only leads to the question: 日当について知りたいのですが、…"""
_SIGNS = re.compile(r"[^\w\s]+")


class Term(NamedTuple):
    text: str
    start: int
    """offsets, in characters, into the text that was analysed"""
    end: int


class Terms(NamedTuple):
    words: list[Term]
    """in the order of the text; a word that holds others (a term of the glossary, Wi-Fi, 附　則) comes before them"""
    pairs: list[Term]


class QuestionWord(BaseModel, frozen=True):
    written: str
    lemma: str
    """as dictionaries list it: 使える of 使えないか; if it has no endings, as it is written"""
    start: int
    """offsets, in characters, into the question"""
    end: int
    term: str
    """the term that is searched for; empty when the word was dropped"""
    dropped: DropReason | None


class Analysis(BaseModel, frozen=True):
    """A question as terms for a search."""

    words: tuple[QuestionWord, ...]
    """in the order of the question"""
    pairs: tuple[str, ...]
    """without repeats"""
    parts: dict[str, tuple[str, ...]] = {}
    """the parts of each term that is made of some: a text may have Wi-Fi, WiFi or Wi Fi"""

    @property
    def searched(self) -> tuple[QuestionWord, ...]:
        return tuple(word for word in self.words if not word.dropped)

    @property
    def subjects(self) -> tuple[QuestionWord, ...]:
        """The searched words that say what the question is about: not the とき and the 年 of 何年休めるとき."""
        counters = {word.end for word in self.words if word.written == "何"}
        return tuple(word for word in self.searched if word.term not in FORMAL and word.start not in counters)

    @property
    def kept(self) -> tuple[str, ...]:
        """Terms that are searched, without repeats and parts."""
        return tuple(dict.fromkeys(word.term for word in self.searched))


class Analyzer:
    def __init__(self, glossary: Glossary | None = None) -> None:
        self._glossary = glossary or Glossary()

    @property
    def id(self) -> str:
        """Another id means other terms: a full text made with another id must be rebuilt."""
        return f"{VERSION}-{DICTIONARY}-{self._glossary.id}"

    def terms(self, text: str) -> Terms:
        """The terms of a text that is indexed."""
        folded = fold(text)
        words = [
            Term(word.term, *folded.original(word.start, word.end))
            for word in find_words(folded, text, self._glossary)
            if not word.dropped
        ]
        return Terms(words, [Term(pair, *folded.original(start, end)) for start, end, pair in _pairs(folded.text)])

    def question(self, text: str) -> Analysis:
        folded = without_breaks_in_words(fold(text))
        signs = [Word(sign.start(), sign.end(), "", DropReason.SIGN) for sign in _SIGNS.finditer(folded.text)]
        words = _without_stopwords(_whole(in_order([*find_words(folded, text, self._glossary), *signs])), folded, text)
        kept = {at for word in words if not word.dropped for at in range(word.start, word.end)}
        last = max(kept, default=-1)
        # Pairs of a word and a particle (雨が降る) tell the order of words; after the last word (雨とは) they only ask.
        spans = ((start, end, pair) for start, end, pair in _pairs(folded.text) if end - 1 <= last)
        pairs = (pair for start, end, pair in spans if start in kept or end - 1 in kept)
        return Analysis(
            words=tuple(_shown(word, folded, text) for word in words),
            pairs=tuple(dict.fromkeys(pairs)),
            parts=_parts(words),
        )

    def matches(self, analysis: Analysis, text: str) -> list[tuple[int, int]]:
        """Spans of `text` that match the question's terms, in order. Spans that touch are merged."""
        terms = self.terms(text)
        words, pairs = {*analysis.kept, *chain(*analysis.parts.values())}, set(analysis.pairs)
        found = [(term.start, term.end) for term in terms.words if term.text in words]
        found += [
            (term.start, term.end)
            for term in terms.pairs
            if term.text in pairs
            and not _HIRAGANA.search(term.text)  # とは is in every text; in の色, only 色 helps to find something
        ]
        merged: list[tuple[int, int]] = []
        for start, end in sorted(found):
            if merged and start <= merged[-1][1]:
                start, end = merged[-1][0], max(end, merged.pop()[1])
            merged.append((start, end))
        return merged


def _whole(words: Iterable[Word]) -> list[Word]:
    """Marks what is inside another word as dropped. Leaves out the signs there (2,500)."""
    whole: list[Word] = []
    end = searched_whole = joined = 0
    for word in words:
        if word.dropped is not DropReason.SIGN:
            why = word.dropped
            if word.start < searched_whole:
                why = DropReason.WITHIN
            elif not why and word.end <= joined:
                why = DropReason.PART
            whole.append(word._replace(dropped=why))
            joined = word.end if word.is_joined and not why else joined
        elif word.end > end:
            whole.append(word)
        end = max(end, word.end)
        searched_whole = searched_whole if word.is_joined else max(searched_whole, word.end)
    return whole


def _parts(words: Iterable[Word]) -> dict[str, tuple[str, ...]]:
    """`words`: in order, so that a word comes before its parts."""
    parts: dict[str, list[str]] = {}
    some: list[str] = []
    for word in words:
        if word.dropped is DropReason.PART:
            some.append(word.term)
        elif word.is_joined:
            some = []
            if not word.dropped:
                parts[word.term] = some
    return {whole: tuple(dict.fromkeys(some)) for whole, some in parts.items()}


def _without_stopwords(words: list[Word], folded: FoldedText, question: str) -> list[Word]:
    """Drops the stopwords, unless no word would be left: someone may search for 「教える」 alone."""
    polite = {at for found in POLITE.finditer(folded.text) for at in range(*found.span())}
    is_shouted = question.isupper() and not HAS_JAPANESE.search(question)

    def is_common(word: Word) -> bool:
        if not _is_among(word, COMMON, folded):
            return False
        start, end = folded.original(word.start, word.end)
        written = question[start:end]
        # The department IT and the attribute A in 属性A are names; A at the start, before English, is an article.
        is_article = len(written) == 1 and start == 0 and not _JAPANESE_NEXT.match(folded.text, word.end)
        return not written.isupper() or is_shouted or written == "I" or is_article

    sought = [word for word in words if not word.dropped and word.start not in polite and not is_common(word)]
    ends = [end.start() for end in _SENTENCE_END.finditer(folded.text)]
    sentences = groupby(sought, lambda word: bisect_left(ends, word.start))
    left = {word for _, sentence in sentences for word in _without_asking(list(sentence), folded)}
    if not left:
        return words
    asks = OPENING | CLOSING

    def why(word: Word) -> DropReason | None:
        if word.dropped is DropReason.PART and is_common(word):  # the "of" of state-of-the-art
            return DropReason.COMMON
        if word.dropped or word in left:
            return word.dropped
        return DropReason.ASKING if word.start in polite or _is_among(word, asks, folded) else DropReason.COMMON

    return [word._replace(dropped=why(word)) for word in words]


def _without_asking(sought: list[Word], folded: FoldedText) -> Iterator[Word]:
    """The words of a sentence without those that open or close it."""
    while sought and _is_among(sought[-1], CLOSING, folded):
        sought.pop()
    return dropwhile(lambda word: _is_among(word, OPENING, folded), sought)


def _is_among(word: Word, stopwords: frozenset[str], folded: FoldedText) -> bool:
    """False for a Latin word that touches Japanese or a number: Aプラン, if文 and the am of 10am are names."""
    text = folded.text
    if word.term not in stopwords and text[word.start : word.end].replace("’", "'") not in stopwords:
        return False
    beside = text[word.start - 1 : word.start] + text[word.end : word.end + 1]
    return bool(HAS_JAPANESE.search(text, word.start, word.end)) or not _JAPANESE_OR_DIGIT.search(beside)


def _shown(word: Word, folded: FoldedText, question: str) -> QuestionWord:
    start, end = folded.original(word.start, word.end)
    term = "" if word.dropped else word.term
    written = "".join(question[start:end].splitlines())  # a line break may have parted it
    lemma = word.lemma or written
    return QuestionWord(written=written, lemma=lemma, start=start, end=end, term=term, dropped=word.dropped)


def _pairs(text: str) -> Iterator[tuple[int, int, str]]:
    """Each two neighbouring characters of a run; the character itself if a run has only one."""
    for run in _RUN.finditer(text):
        start, end = run.span()
        for at in range(start, max(end - 1, start + 1)):
            yield at, min(at + 2, end), text[at : at + 2] if end - start > 1 else text[at]
