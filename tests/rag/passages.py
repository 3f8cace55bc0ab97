"""Passages for tests that need no index."""

from rag.trace.passages import Passage


def passage(
    text: str = "It is said here.",
    title: str = "Title",
    *,
    number: int = 1,
    headings: tuple[str, ...] = ("Heading", "Heading"),
) -> Passage:
    return Passage(
        number=number, rank=number, score=0.8, document_id="d", section_id=f"s{number}", source="a.md", title=title,
        headings=headings, page=None, text=text, start=0, end=len(text),
    )  # fmt: skip


def numbered(*texts: str) -> list[Passage]:
    """Of one document without headings, one from each section."""
    return [passage(text, "規程", number=number, headings=()) for number, text in enumerate(texts, 1)]


PASSAGES = numbered(
    "日当は1日2,500円です。宿泊を伴わない出張では半額になります。",
    "The VPN client is called HazeGate. Version 2.5 needs 8 GB of memory.",
    "宿泊費は1泊12,000円を上限とします。",
)
