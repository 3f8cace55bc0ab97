"""A document's sections with their chunks: where each starts, and the text that two chunks share."""

from collections.abc import Sequence
from html import escape

from index_store.catalogue.records import Chunk, Section
from pages.words.say import counted, say


def section_html(section: Section, chunks: Sequence[Chunk], number: int, original: str | None) -> str:
    """`chunks`: the chunks of the section, in order. `original`: the address of the original, if the document has
    pages.
    """
    path = " › ".join(section.headings) or section.title
    facts = [counted("chunk.characters", len(section.text)), counted("chunk.chunks", len(chunks))]
    page = _page(section.page, original)
    cards = "".join(
        _chunk_html(section, chunk, chunks[at - 1].end if at else chunk.start) for at, chunk in enumerate(chunks)
    )
    return (
        f'<section class="section"><header><small>{number}</small> <b>{escape(path)}</b> '
        f"<small>{page}{escape(' · '.join(facts))}</small></header>{cards}</section>"
    )


def _chunk_html(section: Section, chunk: Chunk, before: int) -> str:
    """`before`: where the previous chunk ends."""
    shared = max(chunk.start, min(before, chunk.end))
    text = section.text
    overlap, own = text[chunk.start : shared], text[shared : chunk.end]
    below = chunk.headings[len(section.headings) :] if chunk.headings != section.headings else ()
    facts = [*below, counted("chunk.characters", chunk.end - chunk.start)]
    if chunk.page and chunk.page != section.page:
        facts.append(say("detail.page", page=str(chunk.page)))
    shown = escape(own.strip())
    if overlap.strip():
        shown = f'<mark title="{escape(say("chunk.shared"))}">{escape(overlap)}</mark>{escape(own.rstrip())}'
    return (
        f'<div class="chunk"><small>{chunk.position + 1}</small><div><p>{shown}</p>'
        f"<small>{escape(' · '.join(facts))}</small></div></div>"
    )


def _page(page: int | None, original: str | None) -> str:
    if page is None:
        return ""
    told = escape(say("detail.page", page=str(page)))
    if original is None:
        return f"{told} · "
    return f'<a href="{escape(original)}#page={page}" target="_blank" rel="noopener">{told} ↗</a> · '
