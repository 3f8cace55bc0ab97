"""Shows an answer with its sources: its markers open the cited passage, highlighted in its section."""

from collections.abc import Sequence
from html import escape
from urllib.parse import urlsplit

import streamlit as st

from index_store.base.errors import UnknownSection
from index_store.base.text.bidi import without_bidi_controls
from index_store.catalogue.records import Section
from index_store.store.user_store import UserStore
from pages.widgets.answer.markdown import markdown_html
from pages.widgets.answer.quoted import quoted_html
from pages.widgets.passage.location import header_html, links_to, location
from pages.words.names import readable
from pages.words.say import say
from rag.text.namesakes import told_apart
from rag.trace.passages import Citation
from rag.web.search import is_web_address

Cards = dict[Citation, str]
"""the HTML of the passages that an answer cites, kept between two drawings of it"""


def show_answer(
    text: str,
    citations: Sequence[Citation],
    store: UserStore,
    key: str,
    *,
    is_no_answer: bool = False,
    cards: Cards | None = None,
) -> None:
    """`key` separates this answer's passages from those of others on the page. The passages of a "no answer" are not
    shown as sources. `cards`: see `answer_html`.
    """
    heading = "detail.nearest" if is_no_answer else "chat.sources"
    st.html(answer_html(text, citations, store, key, heading, cards=cards))


def answer_html(
    text: str,
    citations: Sequence[Citation],
    store: UserStore | None,
    key: str,
    heading: str = "chat.sources",
    *,
    cards: Cards | None = None,
) -> str:
    """`store`: None for a file that is read without the app; it quotes what the model read and has no links to
    documents. `cards`: the HTML from earlier drawings of this answer, which is used again; new ones are added.
    """
    buttons = {str(each.number): _button(each, key) for each in citations}
    answer = f'<div class="answer">{without_bidi_controls(markdown_html(text, buttons))}</div>'
    if not citations:
        return answer
    apart = told_apart(citations)
    sources = "".join(
        f"<li>{buttons[str(each.number)]} {without_bidi_controls(_source(each, apart.get(each.source, '')))}</li>"
        for each in citations
    )
    cards = {} if cards is None else cards
    for each in citations:
        if each not in cards:
            id_ = f"{key}-{each.number}"
            cards[each] = without_bidi_controls(
                _web_card(each, id_) if each.origin == "web" else _card(each, store, id_)
            )
    shown = "".join(cards[each] for each in citations)
    return f'{answer}<div class="sources"><h6>{escape(say(heading))}</h6><ul>{sources}</ul></div>{shown}'


def _button(citation: Citation, key: str) -> str:
    number, is_web = citation.number, citation.origin == "web"
    opens = escape(say("web.open_citation" if is_web else "chat.open_citation", number=number))
    kind = "cite web" if is_web else "cite"
    shown = f"<i>[</i>{number}<i>]</i>"  # for those who copy an answer: 2,500円[1], not 2,500円1
    return f'<button class="{kind}" popovertarget="{key}-{number}" title="{opens}">{shown}</button>'


def _source(citation: Citation, apart: str) -> str:
    if citation.origin == "web":
        return f"<span>{escape(_web_location(citation))} {_web_mark()}</span>"
    return f"<span>{escape(location(citation, apart))}</span>"


def _web_card(citation: Citation, id_: str) -> str:
    """The text that the web search returned for the page, as plain text."""
    return (
        f'<div popover id="{id_}" class="passage-card web-card"><header>{escape(citation.title)} {_web_mark()}'
        f"<small>{escape(readable(citation.source))}</small></header>"
        f'<div class="read"><div class="cited">{escape(citation.text)}</div></div>'
        f"<footer>{_web_link(citation)}</footer></div>"
    )


def _web_location(citation: Citation) -> str:
    """Title, host and date."""
    host = urlsplit(citation.source).hostname if is_web_address(citation.source) else citation.source
    return " · ".join(filter(None, (citation.title, readable(host or ""), citation.published)))


def _web_mark() -> str:
    return f'<span class="web-mark">{escape(say("web.mark"))}</span>'


def _web_link(citation: Citation) -> str:
    """A link to the page; empty if a browser should not follow its address."""
    if not is_web_address(citation.source):
        return ""
    return (
        f'<a href="{escape(citation.source)}" target="_blank" rel="noopener noreferrer">{escape(say("web.open"))} ↗</a>'
    )


def _card(citation: Citation, store: UserStore | None, id_: str) -> str:
    content = _content(citation, store)
    return f'<div popover id="{id_}" class="passage-card">{header_html(citation)}{content}</div>'


def _content(citation: Citation, store: UserStore | None) -> str:
    if citation.removed:
        return f'<p class="note">{escape(say("chat.removed"))}</p>'
    if store is None:
        return _alone(citation)
    note, there = "", citation
    try:
        shown = _in_section(store.section(citation.section_id), citation)
    except UnknownSection:
        shown = _alone(citation)
        there = citation.model_copy(update={"page": None})  # the passage may be on another page now, or on none
        note = f'<p class="note">{escape(say("chat.gone"))}</p>'
    return f"{note}{shown}<footer>{links_to(there)}</footer>"


def _in_section(section: Section, citation: Citation) -> str:
    text, start, end = section.text, citation.start, citation.end
    if text[start:end] != citation.text:
        raise UnknownSection()
    low, high = (max(start, at + start - len(citation.header)) for at in citation.found)
    read = _read(text, (start, end), (low, high))
    return f"{quoted_html(text, 0, start)}{read}{quoted_html(text, end, len(text))}"


def _alone(citation: Citation) -> str:
    text = citation.as_read
    return _read(text, (0, len(text)), citation.found)


def _read(text: str, read: tuple[int, int], found: tuple[int, int]) -> str:
    """The text that the model read, with the found chunk marked in it."""
    (start, end), (low, high) = read, found
    cited = f'<div class="cited">{quoted_html(text, low, high)}</div>'
    return f'<div class="read">{quoted_html(text, start, low)}{cited}{quoted_html(text, high, end)}</div>'
