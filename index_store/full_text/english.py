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
    prefix = _PREFIX.match(word)
    if word not in _REGULAR and prefix and word[prefix.end() :] in _REGULAR:
        word = prefix[0] + _REGULAR[word[prefix.end() :]]
    word = _REGULAR.get(word, word)
    for british, american in _AMERICAN:
        word = british.sub(american, word)
    return word


_IRREGULAR = """
    analyze analysis/appendix appendices/become became/begin began begun/break broke broken/bring brought/build built
    /burn burnt/buy bought/catch caught/child children/choose chose chosen/come came/crisis crises/criterion criteria
    /draw drew drawn/drive drove driven/eat ate eaten/foot feet/forbid forbade forbidden/forget forgot forgotten
    /forgive forgave forgiven/freeze froze frozen/give gave given/go went gone/grow grew grown/half halves/hear heard
    /hide hid hidden/hold held/index indices/keep kept/know knew known/learn learnt/lose lost/make made/man men
    /matrix matrices/meet met/mouse mice/pay paid/ride rode ridden/run ran/seek sought/sell sold/send sent
    /shelf shelves/speak spoken/spend spent/stand stood/steal stole stolen/swear swore sworn/take took taken
    /teach taught/throw threw thrown/tooth teeth/wear wore worn/wife wives/withdraw withdrew withdrawn/woman women
    /write wrote written
    /department dept depts/hour hrs/management mgmt/manager mgr mgrs/minute mins
    /aluminum aluminium/check cheque cheques/curb kerb/gray grey/inquire enquire enquires enquired enquiring
    /inquiry enquiry enquiries/jewelry jewellery/mold mould/skillful skilful/tire tyre tyres/willful wilful
"""
"""Also abbreviations and British words of their own. Only what has no other sense: left out are left (leave), found
(find), led (lead), felt, won, lent and sat."""
_PREFIX = re.compile("over|under|with|mis|out|up|(?:pre|re)(?!sent)")
"""of overpaid, undertaken, withheld, prepaid, mistaken, upheld and rewritten"""
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
        (r"(?<=p)ae(?=di)|(?<=^an)ae(?=[ms])|(?<=^gyn)ae(?=c)|(?<=^h)ae(?=m)", "e"),  # orthopaedic, anaesthetic
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
