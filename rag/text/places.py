"""How the place of a passage is named: its document's title, and the headings above it."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from index_store.search.hits import TextLocation
from rag.trace.passages import Citation, Passage

LONGEST_PLACE = 200
"""characters; whoever wrote a document chose its headings, and a prompt must not be full of them"""

MOST_ALSO = 2
"""further places of a passage that a model is told"""

_NO_NAMESAKES: Mapping[str, str] = {}


def place(passage: Citation | TextLocation, apart: Mapping[str, str] = _NO_NAMESAKES) -> str:
    """The place of a passage: the document's title and the headings above it, without the middle if that is too long.
    `apart`: from `told_apart`.
    """
    whole = " > ".join(filter(None, (apart.get(passage.source), *titles_above(passage.title, passage.headings))))
    half = LONGEST_PLACE // 2
    return whole if len(whole) <= LONGEST_PLACE else f"{whole[:half]}…{whole[-half + 1 :]}"


def places(passage: Citation, apart: Mapping[str, str] = _NO_NAMESAKES) -> list[str]:
    """Its place, and some where almost the same text stands: two headings may have the same rule."""
    named = (place(each, apart) for each in with_copies(passage))
    return list(dict.fromkeys(named))[: 1 + MOST_ALSO]


def titles_above(title: str, headings: Sequence[str]) -> list[str]:
    """Title and headings, without those that only repeat the one above them."""
    return [part for part, _ in groupby((title, *headings))]


def with_copies(passage: Citation) -> tuple[Citation | TextLocation, ...]:
    """The passage, and its near duplicates."""
    return (passage, *passage.copies) if isinstance(passage, Passage) else (passage,)
