"""Passages for tests that need no index."""

from rag.trace.passages import Passage


def passage(text: str = "It is said here.", title: str = "Title") -> Passage:
    return Passage(
        number=1, rank=1, score=0.8, document_id="d", section_id="s", source="a.md", title=title,
        headings=("Heading", "Heading"), page=None, text=text, start=0, end=len(text),
    )  # fmt: skip
