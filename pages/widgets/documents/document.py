"""One document: its data, its sections and chunks as they are searched, and its actions."""

from collections import defaultdict
from collections.abc import Sequence
from html import escape
from pathlib import PurePath

import streamlit as st

from index_store.base.errors import OriginalMissing, OriginalsError
from index_store.base.text.words import has_words
from index_store.catalogue.records import Chunk, Document, DocumentStatus, Section
from index_store.crawl import CrawlOptions
from index_store.ingestion.sources import SiteSource
from pages.server.process import engine
from pages.widgets.controls.errors import run_as_callback, run_or_show_error, show_error
from pages.widgets.controls.picker import fresh_key, renew
from pages.widgets.controls.uploader import take
from pages.widgets.documents.sections import section_html
from pages.widgets.index.document_state import COLOURS, status_of
from pages.widgets.index.rights import may_add_to
from pages.widgets.index.without_text import told_without_text
from pages.words.amounts import megabytes, when
from pages.words.names import plain, readable
from pages.words.say import counted, say

SECTIONS = 20
"""sections on one page"""


def original_address(document_id: str) -> str:
    """A relative address, so that it works under any path where the app is served."""
    return f"originals/{document_id}"


def show_document(document: Document, section_id: str | None) -> None:
    """`section_id`: shown alone; the section to which a citation leads."""
    st.html(_facts(document))
    if document.error:
        show_error(document.error)
    if document.pages_without_text:
        st.warning(plain(told_without_text(document.pages_without_text)))
    _show_actions(document)
    if document.status == DocumentStatus.PENDING:
        st.info(say("document.pending"))
    if document.sections:
        _show_sections(document, section_id)


def _facts(document: Document) -> str:
    facts = [
        document.kind.upper(),
        megabytes(document.size),
        *_counts(document),
        say("document.added", when=when(document.added_at)),
    ]
    if document.parent and document.parent != document.source:
        facts.append(say("document.from", parent=readable(document.parent)))
    state = status_of(document)
    status = f'<b style="--status: {COLOURS[state]}">{escape(say(f"state.{state}"))}</b>'
    return (
        f'<div class="document"><h2>{escape(readable(document.title))}</h2><p>{status} '
        f"{escape(' · '.join(filter(None, facts)))}</p><p>{_source(document)}</p></div>"
    )


def _counts(document: Document) -> list[str]:
    """Its counts; empty if no version of it is searched yet."""
    if not document.sections:
        return []
    return [counted("chunk.sections", document.sections), counted("chunk.chunks", document.chunks)]


def _source(document: Document) -> str:
    shown = escape(readable(document.source))
    if not _is_page(document):
        return f"<code>{shown}</code>"
    return f'<a href="{escape(document.source)}" target="_blank" rel="noopener noreferrer">{shown}</a>'


def _show_actions(document: Document) -> None:
    with st.container(horizontal=True, gap="small", key="document-actions"):
        if _has_original(document):
            st.html(
                f'<a class="button" href="{original_address(document.id)}" target="_blank" rel="noopener">'
                f"{escape(say('document.original'))} ↗</a>",
                width="content",
            )
        if not may_add_to(document.index):
            return
        if document.status == DocumentStatus.FAILED or document.error:
            st.button(
                say("document.retry"),
                key="retry",
                on_click=run_as_callback,
                args=(engine().store.retry, document.index, [document.id]),
            )
        if _is_page(document):
            work = (_fetch_again, document)
            st.button(say("document.page_again"), key="page-again", on_click=run_as_callback, args=work)
        if document.parent is None and not _is_page(document) and PurePath(document.source).suffix:
            with st.popover(say("document.replace"), key=fresh_key("replace")):
                _show_replacing(document)
        with st.popover(say("document.remove"), key=fresh_key("remove")):
            st.write(say("document.remove_help"))
            if st.button(say("document.remove_really"), type="primary", key="danger-remove-document"):
                _remove(document)


def _has_original(document: Document) -> bool:
    """Whether an original is stored. For a document that could not be loaded at all, there is none."""
    try:
        engine().store.original(document.id)
    except OriginalMissing:
        return False
    except OriginalsError:
        pass  # the link itself says why the file is not available now
    return True


def _is_page(document: Document) -> bool:
    return document.source.startswith(("http://", "https://"))


def _fetch_again(document: Document) -> None:
    page = SiteSource(CrawlOptions(url=document.source, depth=0, limit=1), parent=document.parent)
    # Asked again: its index may have another name by now, and `ingest` would create one with the name from before.
    engine().store.ingest(engine().store.document(document.id).index, [page])


def _show_replacing(document: Document) -> None:
    suffix = PurePath(document.source).suffix
    st.caption(say("document.replace_help", kind=plain(suffix)))
    file = st.file_uploader(
        say("document.replace"), type=[suffix[1:]], key=fresh_key("replacement"), label_visibility="collapsed"
    )
    if file and run_or_show_error(take, [file], document.index, document.source):
        renew("replacement")
        renew("replace")
        st.rerun()


def _remove(document: Document) -> None:
    if run_or_show_error(engine().store.remove_documents, [document.id]):
        st.session_state["opened document"] = None
        st.rerun()


@st.fragment
def _show_sections(document: Document, section_id: str | None) -> None:
    sections = engine().store.sections(document.id)
    chunks: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in engine().store.chunks(document.id):
        chunks[chunk.section_id].append(chunk)
    numbered: Sequence[tuple[int, Section]] = list(enumerate(sections, start=1))
    st.subheader(say("document.sections"), anchor=False)
    st.caption(say("document.sections_help"))
    alone: Sequence[tuple[int, Section]] = [(number, each) for number, each in numbered if each.id == section_id]
    if alone and st.session_state.get("whole document") != document.id:
        st.button(counted("document.whole", len(sections)), on_click=_show_whole, args=(document.id,), key="whole")
    elif len(sections) > SECTIONS:
        alone = _page_of(numbered)
    else:
        alone = numbered
    address = original_address(document.id) if document.kind == "pdf" else None
    if alone:  # Streamlit draws no empty text
        st.html("".join(section_html(each, chunks[each.id], number, address) for number, each in alone))


def _show_whole(document_id: str) -> None:
    st.session_state["whole document"] = document_id


def _page_of(numbered: Sequence[tuple[int, Section]]) -> Sequence[tuple[int, Section]]:
    words = st.text_input(say("document.search"), key="section search")
    found = [(number, each) for number, each in numbered if has_words(f"{' '.join(each.headings)} {each.text}", words)]
    if not found:
        st.caption(say("table.nothing"))
        return []
    pages = -(-len(found) // SECTIONS)
    page = st.pagination(pages, key=f"sections {pages} {words}") if pages > 1 else 1
    return found[(page - 1) * SECTIONS : page * SECTIONS]
