"""Search: what each search mode finds for a question, and why it missed something."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from index_store.base.errors import PlainError, UnknownIndex
from index_store.catalogue.records import Document, DocumentStatus, Index
from index_store.search.searcher import LONGEST_QUESTION, UNITS
from pages.server.process import engine
from pages.widgets.controls.address import tell_address
from pages.widgets.controls.errors import show_error, show_warning
from pages.widgets.controls.other_page import show_link_to
from pages.widgets.index.label import index_label
from pages.widgets.index.picked_index import pick_index, picked_index
from pages.widgets.index.rights import nothing_here
from pages.widgets.search.every_mode import search_every_mode
from pages.widgets.search.named_documents import documents_named_in, named_documents_html
from pages.widgets.search.question_words import analysis_html
from pages.widgets.search.results import SectionTexts, results_html
from pages.words.names import readable
from pages.words.say import say

K, MOST = 10, 30
"""hits per list: the usual number, and the most"""

MOST_DOCUMENTS = 50
"""documents to which a search can be limited: an address must hold them"""


def choose(name: str, value: object) -> dict[str, Any]:
    """Options of a widget that shows the value in the address and writes the chosen value there.

    Each widget also needs the value as its default. Streamlit sends a value of the session state once, and drops that
    message if the next run of the page begins before the browser has it. Then the widget would show its own default and
    write that into the address.
    """
    key = f"search {name}"
    if st.session_state.get(key) != value:
        st.session_state[key] = value
    return {"key": key, "on_change": _keep, "args": (name,)}


def _keep(name: str) -> None:
    """Keeps the index too: if it was picked on another page, only the address tells it to a colleague. Both in one
    change, which one Back of the browser undoes.
    """
    kept = {each: st.session_state.get(f"search {each}", address(each)) for each in (name, "index")}
    replaced = {*kept, "doc"} if name == "index" else set(kept)
    told = {each: st.query_params.get_all(each) for each in st.query_params if each not in replaced}
    st.query_params.from_dict(told | {each: value for each, value in kept.items() if value})


def address(name: str) -> str:
    return st.query_params.get(name, "")


def show_nothing_loaded(index: str | None = None) -> None:
    st.info(nothing_here("search.nothing_loaded", index))
    show_link_to("documents.py", f"→ {say('app.documents')}")


def ask_question() -> str:
    asked = address("q")
    question: str = st.text_input(
        say("search.question"),
        asked,
        placeholder=say("search.question"),
        label_visibility="collapsed",
        **choose("q", asked),
    )
    return question.strip()


def ask_words() -> str:
    """The words for keyword search instead of the question. Shown only if the address has them, as from a run in the
    chat.
    """
    kept = address("words")[:LONGEST_QUESTION]
    if not kept:
        return ""
    words: str = st.text_input(say("search.words"), kept, **choose("words", kept))
    return words.strip()


def choose_index(indexes: dict[str, Index]) -> Index:
    names = list(indexes)
    wanted = address("index") or picked_index()
    picked = wanted if wanted in indexes else names[0]
    name = st.selectbox(
        say("search.index"),
        names,
        index=names.index(picked),
        format_func=lambda each: index_label(indexes[each]),
        **choose("index", picked),
    )
    pick_index(name)
    return indexes[name]


def choose_unit() -> str:
    wanted = address("unit")
    picked = wanted if wanted in UNITS else UNITS[0]
    unit: str = st.segmented_control(
        say("search.unit"),
        UNITS,
        default=picked,
        required=True,
        format_func=lambda each: say(f"search.{each}"),
        help=say("search.unit_help"),
        **choose("unit", picked),
    )
    return unit


def choose_k() -> int:
    wanted = address("k")
    k = int(wanted[:9]) if wanted.isascii() and wanted.isdigit() else K  # Python reads no number of 5,000 digits
    k = min(max(k, 1), MOST)
    chosen: int = st.number_input(say("search.k"), 1, MOST, k, **choose("k", k))
    return chosen


def documents_of(index: Index) -> list[Document]:
    listed = [each for each in engine().store.documents(index.name) if each.status != DocumentStatus.REMOVING]
    return sorted(listed, key=lambda each: (each.title, each.source))


def choose_documents(documents: Sequence[Document]) -> list[Document]:
    by_id = {each.id: each for each in documents}
    kept = [each for each in dict.fromkeys(st.query_params.get_all("doc")) if each in by_id]
    chosen = st.multiselect(
        say("search.documents"),
        list(by_id),
        default=kept[:MOST_DOCUMENTS],
        format_func=lambda each: document_label(by_id[each]),
        placeholder=say("search.all_documents"),
        max_selections=MOST_DOCUMENTS,
        select_all=False,
        **choose("doc", kept[:MOST_DOCUMENTS]),
    )
    return [by_id[each] for each in chosen]


def document_label(document: Document) -> str:
    status = "" if document.status == DocumentStatus.READY else f" [{say(f'state.{document.status}')}]"
    source = "" if document.source == document.title else f" · {document.source}"
    return readable(f"{document.title}{source}{status}")


@dataclass(frozen=True)
class SearchForm:
    """What a person searches for, and how."""

    index: Index
    question: str
    words: str  # for keyword search, in place of the question's
    documents: list[Document]  # of the index
    chosen: list[Document]  # the only ones to search; empty: all
    unit: str
    k: int


def show_results(form: SearchForm) -> None:
    store, index, question, unit, k = engine().store, form.index, form.question, form.unit, form.k
    document_ids = [each.id for each in form.chosen] or None
    analysis = store.analyse(index.name, form.words or question)
    named = form.chosen or documents_named_in(form.documents, question, analysis)
    if told := named_documents_html(named, index):
        st.html(told)
    with st.spinner(say("search.searching")):
        words = [form.words] if form.words else None
        results = search_every_mode(store, index.name, question, unit, k, words, document_ids)
        keyword = next(each for each in results if each.mode == "keyword")
        if keyword.error:
            # If even keyword search fails, the problem is the index, not a service.
            show_warning(keyword.error)
            return
        counts = store.count_words(index.name, analysis, document_ids)
        texts = SectionTexts(store, store.matcher(index.name, analysis))
        nothing = {
            "vector": say("search.vector_none"),
            "keyword": say("search.keyword_none" if analysis.kept or analysis.pairs else "search.no_words"),
            "hybrid": say("search.hybrid_none"),
        }
        found = results_html(results, unit, k, texts, nothing)
    with st.expander(say("search.analysis"), expanded=True):
        st.html(analysis_html(analysis, counts))
    st.html(found)


def show_page() -> None:
    tell_address()
    st.header(say("app.search"), anchor=False)
    indexes = {each.name: each for each in engine().store.indexes()}
    if not indexes:
        show_nothing_loaded()
        return
    question, words = ask_question(), ask_words()
    if (named := address("index")) and named not in indexes:
        show_warning(UnknownIndex(index=named, known=", ".join(indexes)))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="search-options"):
        index = choose_index(indexes)
        documents = documents_of(index)
        chosen = choose_documents(documents)
        unit, k = choose_unit(), choose_k()
    if not documents:
        show_nothing_loaded(index.name)
    elif question:
        show_results(SearchForm(index, question, words, documents, chosen, unit, k))
    else:
        st.caption(say("search.hint"))


with st.container(key="search-page"):
    try:
        show_page()
    except PlainError as error:  # for example, the index was deleted on another page
        show_error(error)
