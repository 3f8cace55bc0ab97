"""The table of documents of an index: search, filter, sort, and actions on several documents."""

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd  # type: ignore[import-untyped]  # its stubs are another package, with its own version
import streamlit as st

from index_store.base.errors import EmptyIndex, UnknownIndex
from index_store.base.text.words import LONGEST_WORDS, has_words
from index_store.catalogue.records import Document, DocumentStatus
from pages.server.process import engine
from pages.widgets.controls.errors import run_or_show_error
from pages.widgets.controls.picker import fresh_key, renew
from pages.widgets.controls.table import cell, titled
from pages.widgets.controls.uploader import take_left
from pages.widgets.documents.document_list import DOCUMENT_LIST
from pages.widgets.index.document_state import COLOURS, status_of
from pages.widgets.index.rights import may_add_to
from pages.words.names import readable
from pages.words.reader import language, zone
from pages.words.say import counted, say

REFRESH = 3
"""seconds between two reads of the documents while some are being added"""

HEIGHT = 460
"""height in pixels; a longer table scrolls"""

ROW = 35
"""height in pixels, as Streamlit draws it"""

TICKED = "ticked documents"
"""in the session: their ids"""


def show_table(index: str, count: int, is_busy: bool) -> None:
    """`count`: the number of documents that the rest of the page shows. If it has changed, the page is drawn again.

    `is_busy`: whether documents are being added, so the table is read again at intervals.
    """
    st.fragment(_show, run_every=REFRESH if is_busy else None)(index, count)


def _show(index: str, count: int) -> None:
    take_left()
    documents = sorted(_documents(index), key=lambda each: each.added_at, reverse=True)
    if "opened document" in st.session_state or len(documents) != count:
        st.rerun()
    if not documents:
        return
    found = _filtered(index, documents)
    bar = st.container(horizontal=True, vertical_alignment="center", gap="small", key="table-bar")
    listed = _table(found) if found else []
    # What is ticked stays so while a search or a filter hides it.
    elsewhere = _ticked().difference(each.id for each in found) if may_add_to(index) else frozenset[str]()
    hidden = [each for each in documents if each.id in elsewhere]
    ticked = [*listed, *hidden]
    st.session_state[TICKED] = frozenset(each.id for each in ticked)
    with bar:
        _show_bar(documents, found, ticked, len(hidden))
    if not found:
        st.caption(say("table.nothing"))


def _documents(index: str) -> list[Document]:
    try:
        return [each for each in engine().store.documents(index) if each.status != DocumentStatus.REMOVING]
    except (UnknownIndex, EmptyIndex):  # created with its first document; it may be deleted on another page
        return []


def _filtered(index: str, documents: Sequence[Document]) -> list[Document]:
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="table-filters"):
        words = st.text_input(
            say("table.search"),
            DOCUMENT_LIST.value("q"),
            placeholder=say("table.search"),
            key=DOCUMENT_LIST.field("q"),
            label_visibility="collapsed",
        )[:LONGEST_WORDS]  # not by max_chars: the browser drops a longer text that is pasted
        status = _choice("status", _values(documents, status_of), lambda each: say(f"state.{each}"))
        kind = _choice("kind", _values(documents, lambda each: each.kind), str.upper)
        origin = _choice("origin", _values(documents, lambda each: each.parent), readable, width=215)
    DOCUMENT_LIST.choose(index=index, q=words, status=status or "", kind=kind or "", origin=origin or "")
    return [
        each
        for each in documents
        if (status is None or status_of(each) == status)
        and (kind is None or each.kind == kind)
        and (origin is None or each.parent == origin)
        and has_words(_text(each), words)
    ]


def _choice(name: str, values: list[str], label: Callable[[str], str], width: int = 165) -> str | None:
    """None means all. Shown only if there is more than one choice, or if one was made. `label`: of a value.
    `width`: in pixels.
    """
    key, told = DOCUMENT_LIST.field(name), DOCUMENT_LIST.value(name)
    # Not the default of the picker, because a picker with a default can't be emptied.
    chosen: str | None = st.session_state.setdefault(key, told if told in values else None)
    if len(values) < 2 and chosen is None:
        return None
    labels = {each: label(each) for each in ((*values, chosen) if chosen else values)}
    return st.selectbox(
        say(f"table.{name}"),
        list(labels),
        index=None,
        format_func=labels.__getitem__,
        placeholder=say(f"table.{name}"),
        key=key,
        width=width,
        label_visibility="collapsed",
    )


def _values(documents: Sequence[Document], value_of: Callable[[Document], str | None]) -> list[str]:
    return sorted(set(filter(None, map(value_of, documents))))


def _text(document: Document) -> str:
    """All that a search may name, an address also as it is stored."""
    error = document.error.sentence(language()) if document.error else ""
    return "\n".join((document.title, document.source, readable(document.source), error))


def _ticked() -> frozenset[str]:
    """Ids of the ticked documents, listed or not."""
    ticked: frozenset[str] = st.session_state.get(TICKED, frozenset())
    return ticked


def _table(documents: Sequence[Document]) -> list[Document]:
    """The ticked ones of these documents. Only people who may act on them can tick."""
    # The key is made of these documents in this order, so a ticked row can't become another document.
    key = fresh_key("table") + hashlib.sha256("".join(each.id for each in documents).encode()).hexdigest()[:16]
    ticked = _ticked()
    rows = [row for row, each in enumerate(documents) if each.id in ticked]
    usual: dict[str, Any] = {
        **titled(_frame(documents), _columns(documents, key)),
        "hide_index": True,
        "height": min(HEIGHT, ROW * (len(documents) + 1) + 2),
        "alt": say("app.documents"),
    }
    if not may_add_to(documents[0].index):
        st.dataframe(key=f"read-{key}", **usual)
        return []
    state = st.dataframe(
        key=f"table-{key}",
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": rows}},
        **usual,
    )
    return [documents[row] for row in state.selection.rows if row < len(documents)]


def _frame(documents: Sequence[Document]) -> pd.DataFrame:
    errors = [cell(readable(each.error.sentence(language()))) if each.error else "" for each in documents]
    columns = {
        "open": [say("table.open")] * len(documents),
        "status": [[say(f"state.{status_of(each)}")] for each in documents],
        "title": [cell(readable(each.title)) for each in documents],
        "kind": [each.kind.upper() for each in documents],
        "size": [math.ceil(each.size / 1000) for each in documents],
        "sections": [each.sections for each in documents],
        "chunks": [each.chunks for each in documents],
        "added": pd.to_datetime([each.added_at for each in documents], utc=True),
        "source": [cell(readable(each.source)) for each in documents],
    }
    frame = pd.DataFrame(columns)
    if any(errors):
        # If only failures are listed, the reason matters most.
        frame.insert(3 if all(errors) else len(columns), "error", errors)
    return frame


def _columns(documents: Sequence[Document], key: str) -> dict[str, Any]:
    column = st.column_config
    return {
        "open": column.ButtonColumn(
            "", width=60, type="tertiary", pinned=True, key=f"open-{key}", on_click=_open, args=(documents, key)
        ),
        "status": column.MultiselectColumn(
            say("column.status"),
            width=105,
            options=[say(f"state.{each}") for each in COLOURS],
            color=list(COLOURS.values()),
        ),
        "title": column.TextColumn(say("column.title"), width=260),
        "error": column.TextColumn(say("column.error"), width=420),
        "kind": column.TextColumn(say("column.kind"), width=65),
        "size": column.NumberColumn(say("column.size"), format="%d KB", width=75),
        "sections": column.NumberColumn(say("column.sections"), format="localized", width=78),
        "chunks": column.NumberColumn(say("column.chunks"), format="localized", width=68),
        "added": column.DatetimeColumn(say("column.added"), format="YYYY-MM-DD HH:mm", timezone=zone(), width=135),
        "source": column.TextColumn(say("column.source"), width=320),
    }


def _open(documents: Sequence[Document], key: str) -> None:
    st.session_state["opened document"] = documents[st.session_state[f"open-{key}"].row].id


def _show_bar(
    documents: Sequence[Document], found: Sequence[Document], ticked: Sequence[Document], hidden: int
) -> None:
    """`hidden`: how many of the ticked documents are not among those found."""
    if hidden:
        told = say("table.chosen_hidden", count=len(ticked), hidden=hidden)
    elif ticked:
        told = say("table.chosen", count=len(ticked), of=len(found))
    elif len(found) < len(documents):
        told = say("table.found", count=len(found), of=len(documents))
    else:
        told = counted("index.documents", len(documents))
    st.caption(told, width="stretch")
    if not may_add_to(documents[0].index):
        return
    again = [each for each in ticked or found if each.status == DocumentStatus.FAILED or each.error]
    if again:
        words = counted("table.retry_chosen", len(again)) if ticked else counted("table.retry_all", len(again))
        if st.button(words, key="table-retry") and run_or_show_error(_retry, again):
            st.rerun()  # the whole page: the job stands above the table
    if ticked:
        with st.popover(say("table.remove", count=len(ticked)), key=fresh_key("remove chosen")):
            _confirm_removal(ticked)
        st.button(say("runs.untick"), key="table-untick", type="tertiary", on_click=_untick)


def _untick() -> None:
    st.session_state[TICKED] = frozenset()
    renew("table")  # otherwise the table would keep its own ticks


def _confirm_removal(ticked: Sequence[Document]) -> None:
    st.write(counted("table.remove_help", len(ticked)))
    names = "".join(f"{each.title}\n" for each in ticked[:8])
    st.text(names + (say("job.more", count=len(ticked) - 8) if len(ticked) > 8 else ""))
    if st.button(counted("table.remove_really", len(ticked)), type="primary", key="danger-remove-chosen"):
        with st.spinner(say("table.removing")):
            is_removed = run_or_show_error(engine().store.remove_documents, [each.id for each in ticked])
        if is_removed:
            _untick()
            renew("remove chosen")
            st.rerun()


def _retry(documents: Sequence[Document]) -> None:
    engine().store.retry(documents[0].index, [each.id for each in documents])
    _untick()
