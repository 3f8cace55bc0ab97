"""Which passages say next to the same: a page kept under two names, a notice in every document."""

import unicodedata
from functools import lru_cache

SHINGLE = 4
"""characters"""

ALIKE = 0.9
"""of the shingles of both, those that are shared (Jaccard; Broder, 1997): above it only a word or a date differs"""


def are_copies(one: str, other: str) -> bool:
    a, b = _shingles(one), _shingles(other)
    # What differs much in length can't be alike, and need not be compared.
    if not a or min(len(a), len(b)) < ALIKE * max(len(a), len(b)):
        return a == b and one.split() == other.split()
    return len(a & b) >= ALIKE * len(a | b)


@lru_cache(maxsize=1024)
def _shingles(text: str) -> frozenset[str]:
    plain = "".join(unicodedata.normalize("NFKC", text).casefold().split())
    return frozenset(plain[i : i + SHINGLE] for i in range(len(plain) - SHINGLE + 1))
