"""The place of a passage, in words, and links to it."""

from html import escape
from pathlib import PurePath
from typing import Protocol
from urllib.parse import urlencode

from index_store.parsing.loaders.formats import BY_SUFFIX
from pages.words.names import readable
from pages.words.reader import language
from pages.words.say import say
from rag.text.places import titles_above


class Location(Protocol):
    @property
    def document_id(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def section_id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def headings(self) -> tuple[str, ...]: ...
    @property
    def page(self) -> int | None: ...


def location(place: Location, apart: str = "") -> str:
    """Title, headings and page. `apart`: what tells the document apart from others of the same title."""
    parts = list(filter(None, (apart, *titles_above(place.title, place.headings))))
    if place.page:
        if place.headings[-1:] == (str(place.page),):
            parts.pop()  # the heading of a slide without a title is its number
        parts.append(say("detail.page", page=str(place.page)))
    return " › ".join(parts)


def header_html(place: Location) -> str:
    """The head of the card of a passage: its place and its file."""
    return f"<header>{escape(location(place))}<small>{escape(readable(place.source))}</small></header>"


def links_to(place: Location) -> str:
    """HTML with links to the passage in its document, and to the original."""
    shown = urlencode({"doc": place.document_id, "section": place.section_id, "lang": language()})
    # The pages of a mail are those of a PDF attached to it, but its original is the mail.
    record = BY_SUFFIX.get(PurePath(place.source).suffix.lower())
    page = f"#page={place.page}" if place.page and (record is None or record.kind == "pdf") else ""
    return " · ".join(
        (
            link(f"documents?{shown}", say("chat.open_document")),
            link(f"originals/{place.document_id}{page}", say("chat.open_original")),
        )
    )


def link(address: str, words: str) -> str:
    return f'<a href="{escape(address)}" target="_blank" rel="noopener">{escape(words)}</a>'
