"""Citations of the web: marked as from outside, and leading there."""

from html import escape
from urllib.parse import urlsplit

from pages.words import say
from rag.trace.passages import Citation
from rag.web.search import is_web_address


def place_outside(citation: Citation) -> str:
    """Title, whose page it is, and of when."""
    host = urlsplit(citation.source).hostname if is_web_address(citation.source) else citation.source
    return " · ".join(filter(None, (citation.title, host, citation.published)))


def mark_outside() -> str:
    """As HTML."""
    return f'<span class="outside">{escape(say("web.outside"))}</span>'


def link_outside(citation: Citation) -> str:
    """As HTML; nothing where its address is none that a browser should follow."""
    if not is_web_address(citation.source):
        return ""
    return (
        f'<a href="{escape(citation.source)}" target="_blank" rel="noopener noreferrer">{escape(say("web.open"))} ↗</a>'
    )
