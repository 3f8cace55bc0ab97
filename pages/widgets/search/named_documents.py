"""The documents that a question names or that were chosen, with their status."""

from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

from index_store.base.text.words import folded
from index_store.catalogue.records import Document, DocumentStatus, Index
from index_store.full_text.analysis import Analysis
from pages.widgets.index.document_state import COLOURS, status_of
from pages.widgets.index.not_searched import told_not_searched
from pages.widgets.passage.location import link
from pages.words.reader import language
from pages.words.say import counted, say

NAMED = 0.5
"""part of a question's words: if a title has more of them, the question may be about that document"""

SHOWN = 5
"""documents that are listed"""


def documents_named_in(documents: Sequence[Document], question: str, analysis: Analysis) -> list[Document]:
    """The documents that the question may name by title, best first; those that are not searched come first."""
    words = {folded(word.written) for word in analysis.searched}
    sought = folded(question)
    shares = {each.id: _share(each, words, sought) for each in documents}
    found = [each for each in documents if shares[each.id] > NAMED]
    return sorted(found, key=lambda each: (each.status == DocumentStatus.READY, -shares[each.id], each.title))[:SHOWN]


def _share(document: Document, words: set[str], question: str) -> float:
    title = folded(document.title)
    if len(title) > 1 and title in question:
        return 1.0
    return sum(word in title for word in words) / len(words) if words else 0.0


def named_documents_html(documents: Sequence[Document], index: Index) -> str:
    """`index`: theirs; it is said how many of its documents are not searched."""
    lines = "".join(f"<li>{_line(each)}</li>" for each in documents)
    listed = f"<ul>{lines}</ul>" if lines else ""
    told = told_not_searched(index)
    noted = f"<p>{escape(told)}</p>" if told else ""
    return f'<div class="named-documents">{listed}{noted}</div>' if listed or noted else ""


def _line(document: Document) -> str:
    state = status_of(document)
    shown = link(f"documents?{urlencode({'doc': document.id, 'lang': language()})}", document.title or document.source)
    why = document.error.sentence(language()) if document.error else ""
    if state == DocumentStatus.READY:
        why = counted("search.chunks_searched", document.chunks)
    elif state == DocumentStatus.PENDING:
        why = say("document.pending")
    return (
        f'<b class="state" style="--status: {COLOURS[state]}">{escape(say(f"state.{state}"))}</b> {shown} '
        f"<small>{escape(why)}</small>"
    )
