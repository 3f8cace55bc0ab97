"""Whether a text only repeats another one. Width, case, spaces and signs do not count: models change them."""

import re
import unicodedata
from collections.abc import Iterable


def repeats(text: str, others: Iterable[str]) -> bool:
    return _bare(text) in map(_bare, others)


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).lower()
