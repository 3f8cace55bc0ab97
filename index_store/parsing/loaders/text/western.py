"""Tells Western words from Japanese with Latin letters, where the same bytes may be either.

An accent of a Western text makes one kanji with the letter after it. So does a kanji beside a Latin letter look, as in
"A組".
"""

import re

SAMPLE = 200_000
"""bytes that are read, starting at the first that is not ASCII"""

_RUNS = {
    "cp932": re.compile(
        rb"([A-Za-z]{0,2})((?:[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]|[\xa1-\xdf])+)(?=([\x00-\x7f]?))"
    ),
    "euc_jis_2004": re.compile(
        rb"([A-Za-z]{0,2})((?:[\x8e\xa1-\xfe][\xa1-\xfe]|\x8f[\xa1-\xfe]{2})+)(?=([\x00-\x7f]?))"
    ),
}
"""Japanese encoding -> what is outside ASCII in it, between what is around it"""

_UPPER, _LOWER = "A-ZÀ-ÖØ-ÞŠŒŽŸ", "a-zß-öø-ÿšœž"
_IN_A_WORD = re.compile(
    rf"[A-Za-z]*[‘’“•–—¿]?(?:[{_UPPER}]?[{_LOWER}]+|[{_UPPER}]+)"  # which goes on: cœur, don’t, Mon–Fri, “Yes
    r"|[A-Za-z]+’[admstyßà-öø-ÿ][^A-Za-z]|(?:[A-Z]{2}|[A-Za-z]?[a-z])’[A-Z][^A-Za-z]|[A-Z]–[A-Z][^A-Za-z]"
    r"|[A-Za-z]*[a-z][ß-öø-ÿšœž][a-z][^A-Za-z]"  # which ends: forêt
    r"|[A-Za-z]+[^\x00-\x7f].|[^\x00-\x7f][A-Za-z]",  # or the accent stands alone, and no letter is in it
    re.S,
)
"""One such character in Western letters. Japanese has other letters there: "A組" is "A‘g", and "USB用" is "USB—p"."""


def is_western(content: bytes, encoding: str, western: str) -> bool:
    """Whether most of what is outside ASCII belongs to words in the encoding `western`.

    `encoding`: the Japanese one that the bytes can be read in, too.
    """
    first = re.search(rb"[\x80-\xff]", content)
    start = max(0, first.start() - 2) if first else 0
    runs = _RUNS[encoding].findall(content[start : start + SAMPLE])
    in_words = sum(
        bool(_IN_A_WORD.fullmatch((before + run + (after or b" ")).decode(western, "replace")))
        for before, run, after in runs
        if len(run) <= 2
    )
    return in_words > 0.5 * len(runs)
