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
