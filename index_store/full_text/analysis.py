"""Turns text into the terms that full-text search compares: words, and pairs of Japanese characters.

Sudachi finds the Japanese words; particles, auxiliaries and signs are dropped. Words in other scripts are stemmed as
English. Pairs find words that are in no dictionary, and words that Sudachi splits differently elsewhere. A word with
hyphens, such as E-417 or Wi-Fi, is also one word without them, e417 or wifi; 令和6年 is also 2024, 10月1日 10/1, and
午後3時 15:00. A question is analysed like a text, and its stopwords are dropped; the parts of such a word count where
the whole does not occur.
"""

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache, lru_cache
from itertools import chain, dropwhile, pairwise
from typing import Any, NamedTuple

import snowballstemmer
from pydantic import BaseModel

from index_store.full_text.eras import years_of_eras
from index_store.full_text.folding import FoldedText, fold
from index_store.full_text.glossary import Glossary
from index_store.full_text.stopwords import CLOSING, COMMON, OPENING
from index_store.full_text.sudachi import DICTIONARY, SUDACHI, Kind, Morpheme
from index_store.full_text.times import days_of_the_year, times_of_day

VERSION = 8
"""increase it when the same text would give other terms: full texts are then rebuilt"""

LONGEST = 64
"""characters of a term: a longer one is no word (base64) and is cut"""

_JAPANESE = (
    "々〆〇\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""kana, and kanji, including Chinese ones"""
_HANGUL = "\uac00-\ud7a3"
_HAS_JAPANESE = re.compile(f"[{_JAPANESE}]")
_JAPANESE_OR_DIGIT = re.compile(rf"[{_JAPANESE}\d]")
_JAPANESE_NEXT = re.compile(rf"\s*[{_JAPANESE}]")
_HIRAGANA = re.compile("[\u3041-\u309f]")
_RUN = re.compile(f"[{_JAPANESE}]+|[{_HANGUL}]+")
_LETTER = rf"(?:(?![{_JAPANESE}{_HANGUL}])[^\W_])"
_ALPHABETIC = rf"(?:(?!\d){_LETTER})"
_PRIMED = rf"(?<!{_LETTER})(?<!['‘‛’′]){_LETTER}\d*['’′]+(?!{_LETTER})"
"""X' is not the same as X; a letter in quotes does not count"""
_POINTED = r"\d+(?:[.,]\d+)+"
"""a number with its points"""
_BEFORE_UNIT = rf"\d+(?=(?:{_ALPHABETIC}{{2,}}|[glmvw]|[ckm]?m[23])(?!{_LETTER}))"
"""500MB is 500 MB, 50m2 is 50 m2. A single letter may belong to the number (article 12a), if it is no usual unit."""
_BEFORE_VERSION = rf"{_ALPHABETIC}+(?=\d+(?:\.\d+)+)"
"""v1.2 is version 1.2"""
_BEFORE_NUMBER = rf"(?<!{_LETTER}){_ALPHABETIC}{{2,}}(?=\d+(?!{_LETTER}|[.,]\d))"
"""Windows11 is also Windows 11; of E417, one letter alone says nothing"""
_BEFORE = f"{_BEFORE_UNIT}|{_BEFORE_VERSION}|{_BEFORE_NUMBER}"
_WORD = re.compile(rf"{_PRIMED}|{_POINTED}|{_BEFORE}|{_LETTER}+(?:['’]{_LETTER}+)*|[{_HANGUL}]+")
"""a name such as X', a number, a word with its apostrophes, or Hangul, which Sudachi does not know"""
_ACRONYMS = re.compile("[A-Z]{2,}s")
"""NDAs, PCs: the stemmer keeps this s"""
_HYPHEN = "[-\u2010\u2011\u2013\u2212ー]"
"""ー is what Japanese input methods offer for the key of the hyphen; PDFs have the en dash"""
_HYPHENATED = re.compile(rf"(?<!{_LETTER})(?!\d+{_HYPHEN}{_ALPHABETIC}{{2}}){_LETTER}+(?:(?:{_HYPHEN}|&){_LETTER}+)+")
"""words with hyphens or & between them, but not a number with its unit (10-day)"""
_POINTS = re.compile(rf"(?<!{_LETTER}){_ALPHABETIC}(?:\.{_ALPHABETIC})+(?!{_LETTER})")
"""U.S."""
_NUMBERED = re.compile(rf"{_BEFORE_NUMBER}\d+")
_BETWEEN = re.compile(f"{_HYPHEN}|[&.]")
_KATAKANA = "[\u30a1-\u30fa\u30fc]"
_DASH = "[-\u2010\u2011\u2013-\u2015\u2212\u2500]"
_DASHED = re.compile(rf"(?<!{_KATAKANA}){_KATAKANA}++(?:{_DASH}{_KATAKANA}*+)+")
"""デ－タ"""
_KANA = re.compile("[\u3041-\u3096\u30fc]+")
_TO_KATAKANA = {hiragana: hiragana + 0x60 for hiragana in range(0x3041, 0x3097)}
_KANJI = "[\u3400-\u9fff]"
_IN_NAME = re.compile(f"(?<=[\u3041-\u3096\u3400-\u9fff])[ヶケガノツ](?={_KANJI})")
_TO_HIRAGANA = str.maketrans("ヶケガノツ", "がががのつ")
"""霞ヶ関 and 霞ケ関 are 霞が関"""
_SPREAD = re.compile(rf"(?<![{_JAPANESE}]){_KANJI}(?: +{_KANJI}(?![{_JAPANESE}]))+")
"""single kanji with spaces between them, as in headings: 附　則, 議　事　録"""
_HAS_ALPHABETIC = re.compile(_ALPHABETIC)
_PIECE = re.compile(rf"[{_JAPANESE}]+|{_LETTER}+(?:['’]{_LETTER}+)*|[{_HANGUL}]+|\s+|.", re.DOTALL)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
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


class DropReason(StrEnum):
    PARTICLE = "particle"
    AUXILIARY = "auxiliary"
    SIGN = "sign"
    COMMON = "common"
    """a word that every question may have: what, the, する"""
    ASKING = "asking"
    """tell me, 教えてください"""
    WITHIN = "within"
    """part of a term of the glossary, which is searched as one word"""
    PART = "part"
    """part of a word that is made of others; it counts where the whole word does not occur"""


class QuestionWord(BaseModel, frozen=True):
    written: str
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
    def kept(self) -> tuple[str, ...]:
        """Terms that are searched, without repeats and parts."""
        return tuple(dict.fromkeys(word.term for word in self.words if not word.dropped))


class _Word(NamedTuple):
    start: int
    end: int
    term: str
    dropped: DropReason | None
    is_joined: bool = False
    """a word made of others, which are words too: Wi-Fi, Windows11, 附　則; 2024, of 令和6年; 10/1, of 10月1日"""


_STOPWORDS = COMMON | OPENING | CLOSING
_KINDS = {Kind.PARTICLE: DropReason.PARTICLE, Kind.AUXILIARY: DropReason.AUXILIARY, Kind.SIGN: DropReason.SIGN}


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
            for word in self._words(folded, text)
            if not word.dropped
        ]
        return Terms(words, [Term(pair, *folded.original(start, end)) for start, end, pair in _pairs(folded.text)])

    def question(self, text: str) -> Analysis:
        folded = fold(text)
        signs = [_Word(sign.start(), sign.end(), "", DropReason.SIGN) for sign in _SIGNS.finditer(folded.text)]
        words = _without_stopwords(_whole(_in_order([*self._words(folded, text), *signs])), folded, text)
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

    def _words(self, folded: FoldedText, original: str) -> list[_Word]:
        text = folded.text
        found: list[_Word] = []
        inside: set[int] = set()
        fixed: dict[int, int] = {}
        if _HAS_JAPANESE.search(text):
            for each in SUDACHI.morphemes(text):
                if each.is_fixed:
                    fixed |= dict.fromkeys(range(each.start + 1, each.end), each.end - each.start)
                if _HAS_JAPANESE.search(text, each.start, each.end):
                    inside.update(range(each.start, each.end))
                    found.append(_Word(each.start, each.end, _term(each), _KINDS.get(each.kind)))
        for word in _WORD.finditer(text):
            if word.start() not in inside:  # skips the 2000 of 1万2000 and the t of tシャツ
                start, end = folded.original(*word.span())
                is_plural = _ACRONYMS.fullmatch(unicodedata.normalize("NFKC", original[start:end]))
                stem = _stemmed(word[0].removesuffix("s") if is_plural else word[0])
                found.append(_Word(*word.span(), _token(stem), None))
        found += _hyphenated(text)
        found += chain(_spread(text), _dashed(text), _years(text), _times(text))
        found[:0] = self._terms_of_glossary(text, fixed)
        return _in_order(word for word in found if word.term or word.dropped)

    def _terms_of_glossary(self, text: str, fixed: Mapping[int, int]) -> Iterator[_Word]:
        """`fixed`: for each offset inside a word of the dictionary, the word's length. 日当 is no term in 一日当たり,
        nor 京都 in 東京都. But 社員食堂 is one in 本社員食堂, where Sudachi sees the shorter 本社.
        """
        for start, end, term in self._glossary.find(text):
            if max(fixed.get(start, 0), fixed.get(end, 0)) < end - start:
                yield _Word(start, end, _token(term), None)


def _term(morpheme: Morpheme) -> str:
    """A verb as its noun, but not a verb that is a stopword: the noun of 願う (退職願い) or 教える is none."""
    word = morpheme.normal if morpheme.normal in _STOPWORDS else _in_one_kana(fold(morpheme.noun).text)
    return _token(word)


def _in_one_kana(word: str) -> str:
    """What the dictionary has in both kana as several words: ごみ and ゴミ, 虎ノ門 and 虎の門."""
    if _KANA.fullmatch(word):
        return word.translate(_TO_KATAKANA)
    return _IN_NAME.sub(lambda found: found[0].translate(_TO_HIRAGANA), word)


def _hyphenated(text: str) -> Iterator[_Word]:
    """Runs of letters and digits with hyphens, without their hyphens. A date has no letter and is none. The same of
    R&D and U.S., and of Windows11, whose parts have nothing between them.
    """
    for word in chain(*(pattern.finditer(text) for pattern in (_HYPHENATED, _POINTS, _NUMBERED))):
        if _HAS_ALPHABETIC.search(word[0]):
            yield _Word(*word.span(), _token(_stemmed(_BETWEEN.sub("", word[0]))), None, is_joined=True)


def _dashed(text: str) -> Iterator[_Word]:
    """Words of the dictionary with a dash for the long vowel sign: デ－タ is データ; ロンドン－パリ is none."""
    for run in _DASHED.finditer(text):
        for each in SUDACHI.morphemes(re.sub(_DASH, "ー", run[0])):
            start, end = run.start() + each.start, run.start() + each.end
            if each.is_fixed and re.search(_DASH, text[start:end]):
                yield _Word(start, end, _term(each), None, is_joined=True)


def _years(text: str) -> Iterator[_Word]:
    """Years of Japanese eras, as years of the common calendar."""
    for start, end, year in years_of_eras(text):
        yield _Word(start, end, str(year), None, is_joined=True)


def _times(text: str) -> Iterator[_Word]:
    """Days and times of day, each in one spelling: 10/1, 15:00."""
    for start, end, time in chain(days_of_the_year(text), times_of_day(text)):
        yield _Word(start, end, time, None, is_joined=True)


def _spread(text: str) -> Iterator[_Word]:
    """The words of kanji with spaces between them."""
    for spread in _SPREAD.finditer(text):
        places = [at for at in range(*spread.span()) if text[at] != " "]
        for each in SUDACHI.morphemes("".join(text[at] for at in places)):
            if each.end - each.start > 1:
                start, end = places[each.start], places[each.end - 1] + 1
                yield _Word(start, end, _term(each), None, is_joined=True)


def _in_order(words: Iterable[_Word]) -> list[_Word]:
    return sorted(words, key=lambda word: (word.start, -word.end))


def _whole(words: Iterable[_Word]) -> list[_Word]:
    """Marks what is inside another word as dropped. Leaves out the signs there (2,500)."""
    whole: list[_Word] = []
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


def _parts(words: Iterable[_Word]) -> dict[str, tuple[str, ...]]:
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


def _without_stopwords(words: list[_Word], folded: FoldedText, question: str) -> list[_Word]:
    """Drops the stopwords, unless no word would be left: someone may search for 「教える」 alone."""
    is_shouted = question.isupper() and not _HAS_JAPANESE.search(question)

    def is_common(word: _Word) -> bool:
        if not _is_among(word, COMMON, folded):
            return False
        start, end = folded.original(word.start, word.end)
        written = question[start:end]
        # The department IT and the attribute A in 属性A are names; A at the start, before English, is an article.
        is_article = len(written) == 1 and start == 0 and not _JAPANESE_NEXT.match(folded.text, word.end)
        return not written.isupper() or is_shouted or written == "I" or is_article

    sought = [word for word in words if not word.dropped and not is_common(word)]
    while sought and _is_among(sought[-1], CLOSING, folded):
        sought.pop()
    sought = list(dropwhile(lambda word: _is_among(word, OPENING, folded), sought))
    if not sought:
        return words
    left = set(sought)
    asks = OPENING | CLOSING

    def why(word: _Word) -> DropReason | None:
        if word.dropped is DropReason.PART and is_common(word):  # the "of" of state-of-the-art
            return DropReason.COMMON
        if word.dropped or word in left:
            return word.dropped
        return DropReason.ASKING if _is_among(word, asks, folded) else DropReason.COMMON

    return [word._replace(dropped=why(word)) for word in words]


def _is_among(word: _Word, stopwords: frozenset[str], folded: FoldedText) -> bool:
    """False for a Latin word that touches Japanese or a number: Aプラン, if文 and the am of 10am are names."""
    text = folded.text
    if word.term not in stopwords and text[word.start : word.end].replace("’", "'") not in stopwords:
        return False
    beside = text[word.start - 1 : word.start] + text[word.end : word.end + 1]
    return bool(_HAS_JAPANESE.search(text, word.start, word.end)) or not _JAPANESE_OR_DIGIT.search(beside)


def _shown(word: _Word, folded: FoldedText, question: str) -> QuestionWord:
    start, end = folded.original(word.start, word.end)
    term = "" if word.dropped else word.term
    return QuestionWord(written=question[start:end], start=start, end=end, term=term, dropped=word.dropped)


def _pairs(text: str) -> Iterator[tuple[int, int, str]]:
    """Each two neighbouring characters of a run; the character itself if a run has only one."""
    for run in _RUN.finditer(text):
        start, end = run.span()
        for at in range(start, max(end - 1, start + 1)):
            yield at, min(at + 2, end), text[at : at + 2] if end - start > 1 else text[at]


def words_in_order(text: str) -> list[str]:
    """Words, signs and spaces as they are written; joined, they give the text again."""
    found = []
    for piece in _PIECE.findall(text):
        ends = [each.end for each in SUDACHI.morphemes(piece)] if _HAS_JAPANESE.match(piece) else [len(piece)]
        found += [piece[start:end] for start, end in pairwise([0, *ends])]
    return found


_FITTING = str.maketrans({" ": "_", "'": "’", "′": "’", '"': "”", **dict.fromkeys([*range(32), 127])})
"""replaces signs at which FTS5, as fts5.py sets it up, would split a term; unifies the several ways to write a prime"""
_MARKS = "=^"
"""signs that bm25.py puts before its own terms"""


def _token(term: str) -> str:
    return term.translate(_FITTING).lstrip(_MARKS)[:LONGEST]


@lru_cache(maxsize=65536)
def _stemmed(word: str) -> str:
    if _THOUSANDS.fullmatch(word):
        return word.replace(",", "")
    if any(character.isdigit() for character in word) or not word[-1].isalnum():
        return word
    letters = unicodedata.normalize("NFD", word.replace("’", "'"))
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    american = _american(unicodedata.normalize("NFC", bare))
    with _stemming:
        stem: str = _stemmer().stemWord(american)
    return stem.replace("'", "")


def _american(word: str) -> str:
    for british, american in _AMERICAN:
        word = british.sub(american, word)
    return word


_AMERICAN = [
    (re.compile(british), american)
    for british, american in (
        (r"(?<=[a-z]{3})(?<![aeioucv])is(?=(?:e[sdr]?|ers|ing|ations?|ational)$)", "iz"),  # organise
        (r"(?<=anal)ys(?=(?:e[sdr]?|ing)$)", "yz"),
        (r"(?<=[a-z]{2})our(?=(?:s|ed|ers?|ing|al|able|ful|ites?)?$)", "or"),  # labour
        (r"(?<=[a-z]{2}[tb])re(?=s?$)", "er"),  # centre
        (r"(?<=^lic|^def|^off)ence(?=s?$)", "ense"),
        (r"(?<=log)ue(?=s?$)|(?<=gram)me(?=s?$)|(?<=dg)e(?=ments?$)", ""),  # catalogue, programme, judgement
    )
]
"""Only for comparing: what is not British alone (promise) may change too, in all its forms. Left out is what has forms
that would not change with it: revise and revision, appraise and appraisal, difference and different."""

_stemming = threading.Lock()
"""a stemmer is not thread-safe: it holds the current word"""


@cache
def _stemmer() -> Any:
    return snowballstemmer.stemmer("english")
