"""Stems of English words: the same for all forms of a word, and for its British and its American spelling."""

import re
import threading
import unicodedata
from functools import cache, lru_cache
from typing import Any

import snowballstemmer

_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


@lru_cache(maxsize=65536)
def stemmed(word: str) -> str:
    if _THOUSANDS.fullmatch(word):
        return word.replace(",", "")
    if any(character.isdigit() for character in word) or not word[-1].isalnum():
        return word
    letters = unicodedata.normalize("NFD", word.replace("’", "'"))
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    american = _american(unicodedata.normalize("NFC", bare).removesuffix("'s"))
    with _stemming:
        stem: str = _stemmer().stemWord(american)
    return stem.replace("'", "")


def _american(word: str) -> str:
    word = _REGULAR.get(word, word)
    for british, american in _AMERICAN:
        word = british.sub(american, word)
    return word


_IRREGULAR = """
    analyze analysis/appendix appendices/begin began begun/break broke broken/bring brought/build built/buy bought
    /catch caught/child children/choose chose chosen/criterion criteria/draw drew drawn/drive drove driven
    /eat ate eaten/foot feet/forget forgot forgotten/freeze froze frozen/give gave given/go went gone/hold held
    /keep kept/lose lost/make made/man men/meet met/pay paid/sell sold/send sent/spend spent/steal stole stolen
    /take took taken/teach taught/tooth teeth/wear wore worn/withdraw withdrew withdrawn/woman women
    /write wrote written
"""
"""Only what has no other sense: left out are left (leave), found (find), led (lead), felt, won, lent and sat."""
_REGULAR = {form: word for word, *forms in map(str.split, _IRREGULAR.split("/")) for form in forms}

_AMERICAN = [
    (re.compile(british), american)
    for british, american in (
        (r"(?<=^practi)s(?=(?:e[sd]?|ing)$)", "c"),
        (r"(?<=[a-z]{3})(?<![aeioucv])(?<!advert)is(?=(?:e[sdr]?|ers|ing|ations?|ational)$)", "iz"),  # organise
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
