"""The table of runs: search, filter, sort, pages, and a selection."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, cast

import pandas as pd  # type: ignore[import-untyped]  # as in documents/table.py
import streamlit as st

from index_store.base.text.words import LONGEST_WORDS
from pages.server.process import engine
from pages.widgets.controls.other_page import show_link_to
from pages.widgets.controls.picker import fresh_key, pick, renew
from pages.widgets.controls.table import cell, titled
from pages.widgets.runs.run_list import RUN_LIST, turn_to
from pages.words.reader import zone
from pages.words.say import say
from rag.runs.history.conversations.comparison import LEAST_COLUMNS, MOST_COLUMNS
from rag.runs.history.for_people.run_list import CAUSES, ORDERS, STATES, Order, RunFilter, State
from rag.runs.history.history import PastRun
from rag.trace.derived.cause import Cause

PAGE = 50
"""runs that are read and drawn together"""

REFRESH = 3
"""seconds between two reads of a page that lists a live run"""

ROW = 35
"""height in pixels, as Streamlit draws it"""

HEIGHT = 640

TICKED = "ticked runs"
"""in the session: their ids, in the order of ticking"""

ANY = ""

RESULTS = {
    "confirmed": "#15803d",
    "answered": "#4b5563",
    "unconfirmed": "#b45309",
    "not_in_documents": "#a16207",
    "from_model": "#a16207",
    "running": "#1d4ed8",
    "stopped": "#4b5563",
    "limited": "#b91c1c",
    "failed": "#b91c1c",
}
"""colours by outcome; by status if there is no outcome"""


def show_table() -> None:
    st.fragment(_show, run_every=REFRESH if st.session_state.get("runs in flight") else None)()


def _show() -> None:
    if "opened run" in st.session_state:
        st.rerun()
    runs = engine().run_list
    if not runs.count(RunFilter()):
        st.info(say("runs.empty"))
        show_link_to("chat.py", say("runs.to_chat"))
        return
    filters, order = _choose()
    count = runs.count(filters)
    first = _first(filters, order, count)
    found = runs.page(filters, order, first=first, count=PAGE)
    is_in_flight = any(run.status == "running" for run in found)
    if is_in_flight != st.session_state.setdefault("runs in flight", False):
        st.session_state["runs in flight"] = is_in_flight
        st.rerun()
    if not found:
        st.caption(say("runs.none_found"))
        return
    bar = st.container(horizontal=True, vertical_alignment="center", gap="small", key="runs-bar")
    ticked = _table(found)
    with bar:
        st.caption(say("runs.shown", first=first + 1, last=first + len(found), count=f"{count:,}"), width="stretch")
        if ticked:
            _show_ticked(ticked)
        if count > PAGE:
            _turn_button("←", "newer", first == 0, _turn_back, filters, order, count)
            _turn_button("→", "older", first + len(found) >= count, turn_to, found[-1].id)


def _choose() -> tuple[RunFilter, Order]:
    """A new filter or order starts at the first page again."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="runs-filters"):
        words = st.text_input(
            say("runs.search"),
            RUN_LIST.value("q"),
            placeholder=say("runs.search"),
            key=RUN_LIST.field("q"),
            label_visibility="collapsed",
        )[:LONGEST_WORDS]  # not by max_chars: the browser drops a longer text that is pasted
        state = _pick("state", {each: say(f"runs.{each}") for each in STATES})
        why = _pick("why", {each: say(f"cause.{each}") for each in CAUSES})
        pipelines = engine().run_list.pipelines()
        pipeline = _pick("pipeline", {each: say(f"pipeline.{each}") for each in pipelines})
        index = _pick("index", {each: each for each in engine().run_list.indexes()})
        order = _pick_one("order", say("runs.order"), {each: say(f"order.{each}") for each in ORDERS})
    asked = {"q": words, "state": state, "why": why, "pipeline": pipeline, "index": index}
    asked["order"] = "" if order == ORDERS[0] else order
    is_same = all(RUN_LIST.value(name) == value for name, value in asked.items())
    RUN_LIST.choose(**asked, after=RUN_LIST.value("after") if is_same else "")
    filters = RunFilter(
        words=words,
        state=cast(State, state) if state else None,
        why=cast(Cause, why) if why else None,
        pipeline=pipeline or None,
        index=index or None,
    )
    return filters, cast(Order, order)


def _pick(name: str, labels: dict[str, str]) -> str:
    """Empty means any."""
    title = say(f"runs.{name}_any")
    return _pick_one(name, title, {ANY: title, **labels})


def _pick_one(name: str, title: str, labels: dict[str, str]) -> str:
    """The first is the default, also for a name in the address that there is not (any more)."""
    named = RUN_LIST.value(name)
    return pick(RUN_LIST.field(name), title, labels, named if named in labels else next(iter(labels)))


def _first(filters: RunFilter, order: Order, count: int) -> int:
    """Position of the page's first run in the list, from 0."""
    after = RUN_LIST.value("after")
    first = engine().run_list.count_through(after, filters, order) if after else 0
    return first if first < count else 0


def _table(runs: Sequence[PastRun]) -> list[str]:
    """The ids of all ticked runs, on this page and on others."""
    ids = [run.id for run in runs]
    before: tuple[str, ...] = st.session_state.get(TICKED, ())
    # The key is made of these runs in this order, so a ticked row can't become another run.
    key = fresh_key("runs") + hashlib.sha256("".join(ids).encode()).hexdigest()[:16]
    state = st.dataframe(
        **titled(_frame(runs), _columns(ids, key)),
        hide_index=True,
        height=min(HEIGHT, ROW * (len(runs) + 1) + 2),
        key=f"runs-{key}",
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": [row for row, id_ in enumerate(ids) if id_ in before]}},
        placeholder="",  # None would show an English text
        alt=say("app.runs"),
    )
    here = [ids[row] for row in state.selection.rows if row < len(ids)]
    elsewhere = engine().run_list.existing([id_ for id_ in before if id_ not in ids])
    # In the order of ticking: the columns of a comparison get the same order.
    ticked = [id_ for id_ in before if id_ in here or id_ in elsewhere]
    ticked += [id_ for id_ in here if id_ not in ticked]
    st.session_state[TICKED] = tuple(ticked)
    return ticked


def _frame(runs: Sequence[PastRun]) -> pd.DataFrame:
    votes = engine().comparisons.votes([run.id for run in runs])
    columns = {
        "open": [say("table.open")] * len(runs),
        "question": [cell(" ".join(run.question.split())) for run in runs],
        "when": pd.to_datetime([run.started_at for run in runs], unit="s", utc=True),
        "result": [[result(run.outcome or run.status)] for run in runs],
        "why": [say(f"cause.{run.why}") if run.why and run.why != "none" else "" for run in runs],
        "thumb": [thumb(run) for run in runs],
        "votes": [votes.get(run.id) for run in runs],
        "seconds": [run.seconds for run in runs],
        "tokens": [run.tokens or None for run in runs],  # services tell them at the end of a reply, if at all
        "calls": [run.model_calls for run in runs],
        "pipeline": [say(f"pipeline.{run.pipeline}") for run in runs],
        "index": [cell(run.index) for run in runs],
    }
    return pd.DataFrame(columns)


def thumb(run: PastRun) -> str:
    """The thumb, with its reason if there is one."""
    return " ".join(filter(None, ({1: "👍", -1: "👎", None: ""}[run.feedback], run.feedback_reason)))


def _columns(ids: Sequence[str], key: str) -> dict[str, Any]:
    column = st.column_config
    return {
        "open": column.ButtonColumn(
            "", width=60, type="tertiary", pinned=True, key=f"open-run-{key}", on_click=_open, args=(ids, key)
        ),
        "question": column.TextColumn(say("runs.question"), width=200),
        "when": column.DatetimeColumn(say("runs.when"), format="YYYY-MM-DD HH:mm", timezone=zone(), width=145),
        "result": column.MultiselectColumn(
            say("runs.result"), width=190, options=[*map(result, RESULTS)], color=list(RESULTS.values())
        ),
        "why": column.TextColumn(say("runs.why"), width=160),
        "thumb": column.TextColumn(say("runs.thumb"), width=65),
        "votes": column.NumberColumn(say("runs.votes"), format="★ %d", width=60),
        "seconds": column.NumberColumn(say("runs.seconds"), format="%.1f", width=75),
        "tokens": column.NumberColumn(say("runs.tokens"), format="localized", width=80),
        "calls": column.NumberColumn(say("runs.calls"), width=70),
        "pipeline": column.TextColumn(say("pipeline.label"), width=120),
        "index": column.TextColumn(say("runs.index"), width=120),
    }


def result(name: str) -> str:
    """The text of an outcome, or of a status if there is no outcome."""
    return say(f"status.{name}") if name in ("running", "stopped", "limited", "failed") else say(f"outcome.{name}")


def _open(ids: Sequence[str], key: str) -> None:
    st.session_state["opened run"] = ids[st.session_state[f"open-run-{key}"].row]


def _turn_button(sign: str, name: str, is_last: bool, turn: Callable[..., None], *args: object) -> None:
    st.button(sign, key=f"runs-{name}", help=say(f"runs.{name}"), on_click=turn, args=args, disabled=is_last)


def _turn_back(filters: RunFilter, order: Order, count: int) -> None:
    before = _first(filters, order, count) - PAGE - 1
    turn_to(engine().run_list.page(filters, order, first=before, count=1)[0].id if before >= 0 else "")


def _show_ticked(ticked: Sequence[str]) -> None:
    if LEAST_COLUMNS <= len(ticked) <= MOST_COLUMNS:
        show_link_to("compare.py", say("runs.side_by_side", count=len(ticked)), {"runs": ",".join(ticked)})
    else:
        st.caption(say("runs.ticked", count=len(ticked)))
    st.button(say("runs.untick"), key="runs-untick", type="tertiary", on_click=_untick)


def _untick() -> None:
    st.session_state[TICKED] = ()
    renew("runs")  # otherwise the table would keep its own ticks
