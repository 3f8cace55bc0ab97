"""Finds the words of a text, in the form in which full-text search compares them.

Sudachi finds the Japanese words; words in other scripts are stemmed as English. A word with hyphens, such as E-417 or
Wi-Fi, is also one word without them, e417 or wifi; 令和6年 is also 2024, 10月1日 10/1, 午後3時 15:00,
3割 30%, $1.5k 1500, and 03-1234-5678 0312345678.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import chain, pairwise
from typing import NamedTuple

from index_store.full_text.english import stemmed
from index_store.full_text.folding import FoldedText, fold
from index_store.full_text.glossary import Glossary
from index_store.full_text.spellings.eras import years_of_eras
from index_store.full_text.spellings.figures import (
    HYPHEN,
    amounts,
    counts_in_words,
    numbers_without_hyphens,
    percentages,
)
from index_store.full_text.spellings.times import (
    days_of_the_year,
    months_of_years,
    quarters,
    times_of_day,
    years_with_points,
)
from index_store.full_text.stopwords import CLOSING, COMMON, OPENING
from index_store.full_text.sudachi import SUDACHI, Kind, Morpheme

LONGEST = 64
"""characters of a term: a longer one is no word (base64) and is cut"""

WRAPPED = 15
"""characters of a line above a break that may part a word, at least: mails are wrapped at 30 or more, and the entries
of a list, which are no parts of one word, are seldom so long"""

JAPANESE = (
    "々〆〇\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""kana, and kanji, including Chinese ones"""
HANGUL = "\uac00-\ud7a3"
HAS_JAPANESE = re.compile(f"[{JAPANESE}]")
_LETTER = rf"(?:(?![{JAPANESE}{HANGUL}])[^\W_])"
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
_WORD = re.compile(rf"{_PRIMED}|{_POINTED}|{_BEFORE}|{_LETTER}+(?:['’]{_LETTER}+)*|[{HANGUL}]+")
"""a name such as X', a number, a word with its apostrophes, or Hangul, which Sudachi does not know"""
_ACRONYMS = re.compile("[A-Z]{2,}s")
"""NDAs, PCs: the stemmer keeps this s"""
_HYPHENATED = re.compile(rf"(?<!{_LETTER})(?!\d+{HYPHEN}{_ALPHABETIC}{{2}}){_LETTER}+(?:(?:{HYPHEN}|&){_LETTER}+)+")
"""words with hyphens or & between them, but not a number with its unit (10-day)"""
_POINTS = re.compile(rf"(?<!{_LETTER}){_ALPHABETIC}(?:\.{_ALPHABETIC})+(?!{_LETTER})")
"""U.S."""
_NUMBERED = re.compile(rf"{_BEFORE_NUMBER}\d+")
_PARTED = re.compile(
    rf"(?<!{_LETTER})(?:(?P<log>log|sign)(?:g?ed|g?ing|s)? (?P<on>in|on|out|off)|(?P<set>sign|set|back|start|follow)"
    rf"(?:t?ing|ed|s)? (?P<up>up)|(?P<check>check|clock)(?:ing|ed|s)? (?P<out>in|out))(?!{_LETTER})"
)
"""log in, signed up, setting up: login, signup, setup"""
_BRACKETED = re.compile(rf"(?<!{_LETTER})(?<![.,])\d+\([a-z]\)(?!{_LETTER})")
"""401(k)"""
_DAY_WITH_POINTS = re.compile(
    r"\d{1,4}(?:\.\d{1,2}){2}|\d{1,2}\.\d{1,2}\.(?:19|20)\d\d|(?:19|20)\d\d\.\d{1,2}|(?<=[hsr令平昭和成])\d{1,2}\.\d{1,2}"
)
"""or a month: 2024.4, the 6.4 of R6.4"""
_BETWEEN = re.compile(f"{HYPHEN}|[&.()]")
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
_SPREAD = re.compile(rf"(?<![{JAPANESE}]){_KANJI}(?: +{_KANJI}(?![{JAPANESE}]))+")
"""single kanji with spaces between them, as in headings: 附　則, 議　事　録"""
_BREAK = re.compile(rf"(?<=[{JAPANESE}])\r?\n(?=[{JAPANESE}])")
_WRAPPED = re.compile(rf"(?<=[^\n]{{{WRAPPED - 1}}}[{JAPANESE}])\r?\n[> ]*(?=[{JAPANESE}])")
"""a break in a wrapped text, perhaps quoted or with an indent below it"""
_HAS_ALPHABETIC = re.compile(_ALPHABETIC)
_PIECE = re.compile(rf"[{JAPANESE}]+|{_LETTER}+(?:['’]{_LETTER}+)*|[{HANGUL}]+|\s+|.", re.DOTALL)


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


class Word(NamedTuple):
    start: int
    """offsets, in characters, into the folded text"""
    end: int
    term: str
    dropped: DropReason | None
    is_joined: bool = False
    """a word made of others, which are words too: Wi-Fi, Windows11, 附　則; 2024, of 令和6年; 10/1, of 10月1日;
    2024.10.1; 30%, of 3割; 0312345678, of 03-1234-5678"""
    lemma: str = ""
    """as in Morpheme"""


_STOPWORDS = COMMON | OPENING | CLOSING
_KINDS = {Kind.PARTICLE: DropReason.PARTICLE, Kind.AUXILIARY: DropReason.AUXILIARY, Kind.SIGN: DropReason.SIGN}


def without_breaks_in_words(folded: FoldedText) -> FoldedText:
    """Joins Japanese words that a line break parts, as in a question that was copied from a PDF: 有給休⏎暇. A break
    between two words stays, as in a list of them.
    """
    breaks = list(_BREAK.finditer(folded.text))
    if not breaks:
        return folded
    left_out = {at for each in breaks for at in range(*each.span())}
    kept = [at for at in range(len(folded.text)) if at not in left_out]
    inside: set[int] = set()
    for each in SUDACHI.morphemes("".join(folded.text[at] for at in kept)):
        inside.update(kept[each.start + 1 : each.end])
    left_out = {at for each in breaks if each.end() in inside for at in range(*each.span())}
    kept = [at for at in range(len(folded.text)) if at not in left_out]
    return FoldedText(
        "".join(folded.text[at] for at in kept), [folded.starts[at] for at in kept], [folded.ends[at] for at in kept]
    )


def find_words(folded: FoldedText, original: str, glossary: Glossary) -> list[Word]:
    """In the order of the text; a word that holds others comes before them. `original`: the text, not folded."""
    text = folded.text
    found: list[Word] = []
    inside: set[int] = set()
    fixed: dict[int, int] = {}
    if HAS_JAPANESE.search(text):
        for each in SUDACHI.morphemes(text):
            if each.is_fixed:
                fixed |= dict.fromkeys(range(each.start + 1, each.end), each.end - each.start)
            if HAS_JAPANESE.search(text, each.start, each.end):
                inside.update(range(each.start, each.end))
                found.append(Word(each.start, each.end, _term(each), _KINDS.get(each.kind), lemma=each.lemma))
    for word in _WORD.finditer(text):
        if word.start() not in inside:  # skips the 2000 of 1万2000 and the t of tシャツ
            start, end = folded.original(*word.span())
            is_plural = _ACRONYMS.fullmatch(unicodedata.normalize("NFKC", original[start:end]))
            stem = stemmed(word[0].removesuffix("s") if is_plural else word[0])
            # 2024.4.1 may be a version, too: so it stays one word, and its year and its day are parts of it.
            found.append(
                Word(*word.span(), token(stem), None, is_joined=bool(_DAY_WITH_POINTS.fullmatch(text, *word.span())))
            )
    found += _hyphenated(text)
    found += chain(_spread(text), _parted(text), _dashed(text))
    # Of two words in one place, the first counts in a question: R6 of R6/4/1 is its year, 04 of 2024/04 its month, and
    # 1Q is Q1.
    found[:0] = chain(_terms_of_glossary(text, fixed, glossary), _years(text), _figures(text), _times(text))
    return in_order(word for word in found if word.term or word.dropped)


def _terms_of_glossary(text: str, fixed: Mapping[int, int], glossary: Glossary) -> Iterator[Word]:
    """`fixed`: for each offset inside a word of the dictionary, the word's length. 日当 is no term in 一日当たり,
    nor 京都 in 東京都. But 社員食堂 is one in 本社員食堂, where Sudachi sees the shorter 本社.
    """
    for start, end, term in glossary.find(text):
        if max(fixed.get(start, 0), fixed.get(end, 0)) < end - start:
            yield Word(start, end, token(term), None)


def _term(morpheme: Morpheme) -> str:
    """A verb as its noun, but not a verb that is a stopword: the noun of 願う (退職願い) or 教える is none."""
    word = morpheme.normal if morpheme.normal in _STOPWORDS else _in_one_kana(fold(morpheme.noun).text)
    return token(word)


def _in_one_kana(word: str) -> str:
    """What the dictionary has in both kana as several words: ごみ and ゴミ, 虎ノ門 and 虎の門. What it has in Latin
    letters, as グーグル is google and ワイファイ wi-fi, becomes what Google and Wi-Fi do.
    """
    if word.isascii() and _HAS_ALPHABETIC.search(word):
        return stemmed(_BETWEEN.sub("", word))
    if _KANA.fullmatch(word):
        return word.translate(_TO_KATAKANA)
    return _IN_NAME.sub(lambda found: found[0].translate(_TO_HIRAGANA), word)


def _hyphenated(text: str) -> Iterator[Word]:
    """Runs of letters and digits with hyphens, without their hyphens. A date has no letter and is none. The same of
    R&D and U.S., and of Windows11, whose parts have nothing between them.
    """
    for word in chain(*(pattern.finditer(text) for pattern in (_HYPHENATED, _POINTS, _NUMBERED, _BRACKETED))):
        if _HAS_ALPHABETIC.search(word[0]):
            yield Word(*word.span(), token(stemmed(_BETWEEN.sub("", word[0]))), None, is_joined=True)
    for word in _PARTED.finditer(text):
        yield Word(*word.span(), "".join(filter(None, word.groups())), None, is_joined=True)


def _dashed(text: str) -> Iterator[Word]:
    """Words of the dictionary with a dash for the long vowel sign: デ－タ is データ; ロンドン－パリ is none."""
    for run in _DASHED.finditer(text):
        for each in SUDACHI.morphemes(re.sub(_DASH, "ー", run[0])):
            start, end = run.start() + each.start, run.start() + each.end
            if each.is_fixed and re.search(_DASH, text[start:end]):
                yield Word(start, end, _term(each), None, is_joined=True)


def _years(text: str) -> Iterator[Word]:
    """Years of Japanese eras, as years of the common calendar; years and months of 2024.4."""
    for start, end, term in chain(years_of_eras(text), months_of_years(text)):
        yield Word(start, end, str(term), None, is_joined=True)


def _figures(text: str) -> Iterator[Word]:
    found = chain(numbers_without_hyphens(text), percentages(text), amounts(text), counts_in_words(text))
    for start, end, figure in found:
        yield Word(start, end, figure, None, is_joined=True)


def _times(text: str) -> Iterator[Word]:
    """Days, quarters and times of day, each in one spelling: 10/1, q1, 15:00; and the years of days with points."""
    for start, end, time in chain(days_of_the_year(text), quarters(text), years_with_points(text), times_of_day(text)):
        yield Word(start, end, time, None, is_joined=True)


def _spread(text: str) -> Iterator[Word]:
    """The words of kanji with spaces between them."""
    for spread in _SPREAD.finditer(text):
        places = [at for at in range(*spread.span()) if text[at] != " "]
        for each in SUDACHI.morphemes("".join(text[at] for at in places)):
            if each.end - each.start > 1:
                start, end = places[each.start], places[each.end - 1] + 1
                yield Word(start, end, _term(each), None, is_joined=True)


def in_order(words: Iterable[Word]) -> list[Word]:
    return sorted(words, key=lambda word: (word.start, -word.end))


def _parted(text: str) -> Iterator[Word]:
    """Words that a line break parts in a text with hard line ends, as many mails and minutes have: 有給休⏎暇."""
    left_out = {at for each in _WRAPPED.finditer(text) for at in range(*each.span())}
    if not left_out:
        return
    places = [at for at in range(len(text)) if at not in left_out]
    for each in SUDACHI.morphemes("".join(text[at] for at in places)):
        start, end = places[each.start], places[each.end - 1] + 1
        if each.kind is Kind.CONTENT and end - start > each.end - each.start:
            yield Word(start, end, _term(each), None, is_joined=True)


def words_in_order(text: str) -> list[str]:
    """Words, signs and spaces as they are written; joined, they give the text again."""
    found = []
    for piece in _PIECE.findall(text):
        ends = [each.end for each in SUDACHI.morphemes(piece)] if HAS_JAPANESE.match(piece) else [len(piece)]
        found += [piece[start:end] for start, end in pairwise([0, *ends])]
    return found


_FITTING = str.maketrans({" ": "_", "'": "’", "′": "’", '"': "”", **dict.fromkeys([*range(32), 127])})
"""replaces signs at which FTS5, as fts5.py sets it up, would split a term; unifies the several ways to write a prime"""
_MARKS = "=^"
"""signs that bm25.py puts before its own terms"""


def token(term: str) -> str:
    return term.translate(_FITTING).lstrip(_MARKS)[:LONGEST]
