"""What a call is about (`CallSubject.of`), for readers of the trace."""

from collections.abc import Sequence

from index_store.base.text.shortened import shortened
from rag.text.places import place
from rag.trace.passages import Passage

LONGEST_QUOTE = 120
"""characters"""


def of_passage(passage: Passage) -> str:
    """Its number and its place."""
    return f"[{passage.number}] {place(passage)}"


def of_passages(passages: Sequence[Passage]) -> str:
    """Their numbers."""
    return " ".join(f"[{passage.number}]" for passage in passages)


def of_text(text: str) -> str:
    """Its beginning, in one line."""
    return shortened(" ".join(text.split()), LONGEST_QUOTE)
