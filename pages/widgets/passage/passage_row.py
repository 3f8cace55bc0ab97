"""A passage in a trace: one line that opens its text, with notes beside it."""

from html import escape

from pages.words.names import readable
from pages.words.say import say
from rag.text.places import place
from rag.trace.passages import Passage


def passage_row(passage: Passage, note: str = "", more: str = "") -> str:
    """`note`: HTML in its line; `more`: HTML above its text."""
    page = f" · {escape(say('detail.page', page=str(passage.page)))}" if passage.page else ""
    return (
        f'<details class="passage"><summary><b>[{passage.number}]</b> {escape(place(passage))}{page} '
        f"{note}</summary>{more}{_text(passage)}{_notes(passage)}</details>"
    )


def _text(passage: Passage) -> str:
    if passage.removed:
        return f'<p class="note">{escape(say("chat.removed"))}</p>'
    return f"<pre>{_found(passage)}</pre>"


def _found(passage: Passage) -> str:
    """Its text. If that is more than the found chunk, the chunk is marked."""
    text, (start, end) = passage.as_read, passage.found
    if not text[:start].strip() and not text[end:].strip():
        return escape(text)
    return f"{escape(text[:start])}<mark>{escape(text[start:end])}</mark>{escape(text[end:])}"


def _notes(passage: Passage) -> str:
    notes = [readable(passage.source)]
    if passage.section_length is not None:
        notes.append(say("detail.trimmed", count=len(passage.text), whole=passage.section_length))
    if passage.copies:
        copies = " / ".join(f"{each.title} ({readable(each.source)})" for each in passage.copies)
        notes.append(say("search.near_duplicates", places=copies))
    return "".join(f"<small>{escape(note)}</small>" for note in notes)


def ranks(passage: Passage, mode: str) -> str:
    """#2 by vector (0.871) · #1 by keyword (0.90) · fused 0.0325"""
    if passage.vector_rank is None and passage.keyword_rank is None:  # the run is older than the ranks in traces
        told = [f"{say('detail.score')} {passage.score:.3f}"]
    else:
        told = []
        if mode != "keyword":
            told.append(_rank("vector", passage.vector_rank, passage.vector_score))
        if mode != "vector":
            told.append(_rank("keyword", passage.keyword_rank, passage.keyword_score))
        if mode == "hybrid":
            told.append(say("detail.fused", score=f"{passage.score:.4f}"))
    return f'<span class="score">{escape(" · ".join(told))}</span>'


def _rank(side: str, rank: int | None, score: float | None) -> str:
    if rank is None:
        return say(f"detail.{side}_missing")
    return f"{say(f'search.{side}_rank', rank=rank)} ({score:.3f})"


def web_note(passage: Passage) -> str:
    told = " · ".join(filter(None, (say("web.mark"), passage.published)))
    return f'<span class="score">{escape(told)}</span>'
