"""Whether a text only repeats another one. Width, case, spaces and signs do not count: models change them."""

import re
import unicodedata
from collections.abc import Iterable


def repeats(text: str, others: Iterable[str]) -> bool:
    return bare(text) in map(bare, others)


def bare(text: str) -> str:
    """Its letters and digits, in one width and case."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).lower()
