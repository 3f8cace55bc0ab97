"""An answer as people read it: Markdown with markers that open the passage they cite, highlighted in its section."""

from collections.abc import Sequence
from html import escape

import streamlit as st
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from index_store import IndexStore, Section
from index_store.errors import UnknownSection
from pages.widgets.places import place, ways
from pages.words import say
from rag.citations import MARKER
from rag.trace import Citation


def _text(_: RendererHTML, tokens: Sequence[Token], at: int, _options: object, buttons: dict[str, str]) -> str:
    """Plain text with its markers as buttons: in text alone, so that code keeps its [1]."""
    return MARKER.sub(lambda marker: buttons.get(marker[1], marker[0]), escape(tokens[at].content))


# Neither HTML nor pictures: an answer or a document could send what is on the page elsewhere with one.
_markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
_markdown.add_render_rule("text", _text)


def show_answer(text: str, citations: Sequence[Citation], store: IndexStore, key: str) -> None:
    """`key` tells this answer's passages from those of others on the page."""
    st.html(answer_html(text, citations, store, key))


def answer_html(text: str, citations: Sequence[Citation], store: IndexStore, key: str) -> str:
    buttons = {str(each.number): _button(each.number, key) for each in citations}
    answer = f'<div class="answer">{_markdown.render(text, buttons)}</div>'
    if not citations:
        return answer
    sources = "".join(f"<li>{buttons[str(each.number)]} <span>{escape(place(each))}</span></li>" for each in citations)
    cards = "".join(_card(citation, store, f"{key}-{citation.number}") for citation in citations)
    return f'{answer}<div class="sources"><h6>{escape(say("chat.sources"))}</h6><ul>{sources}</ul></div>{cards}'


def _button(number: int, key: str) -> str:
    opens = escape(say("chat.open_citation", number=number))
    return f'<button class="cite" popovertarget="{key}-{number}" title="{opens}">{number}</button>'


def _card(citation: Citation, store: IndexStore, id_: str) -> str:
    note = ""
    try:
        section = store.section(citation.section_id)
        before, after = _around(section, citation)
    except UnknownSection:
        before, after = "", ""
        note = f'<p class="note">{escape(say("chat.gone"))}</p>'
    return (
        f'<div popover id="{id_}" class="passage-card"><header>{escape(place(citation))}'
        f"<small>{escape(citation.source)}</small></header>{note}"
        f"{_markdown.render(before)}{_read(citation)}{_markdown.render(after)}"
        f"<footer>{ways(citation)}</footer></div>"
    )


def _read(citation: Citation) -> str:
    """What the model read, with the chunk in it that was found."""
    text, (start, end) = citation.text, citation.found
    found = f'<div class="cited">{_markdown.render(text[start:end])}</div>'
    return f'<div class="read">{_markdown.render(text[:start])}{found}{_markdown.render(text[end:])}</div>'


def _around(section: Section, citation: Citation) -> tuple[str, str]:
    text = section.text
    if text[citation.start : citation.end] != citation.text:
        raise UnknownSection()
    return text[: citation.start], text[citation.end :]
