"""For admins: the audit log, filtered by person, action, index and time."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

import pandas as pd  # type: ignore[import-untyped]  # its stubs are another package
import streamlit as st

from index_store.access.audit.audit import EntryFilter
from index_store.access.audit.entry import Action, Entry
from index_store.access.limits import GroupLimits
from index_store.access.people.person import names_of
from index_store.access.rights import GranteeKind
from index_store.access.user_people import UserAudit
from index_store.base.errors import PlainError
from pages.server.process import engine
from pages.widgets.controls.errors import show_error
from pages.widgets.controls.picker import pick
from pages.widgets.controls.table import cell, titled
from pages.words.amounts import midnight_before, when
from pages.words.reader import zone
from pages.words.say import counted, say

PAGE = 50  # entries that are drawn together
FILE = 100_000  # most entries in a file
ROW, HEIGHT = 35, 700  # pixels
ANY = ""
IDS = {"what", "share", "run", "conversation"}  # long and seldom needed, so they come last
DAYS = {"today": 1, "week": 7, "month": 30, "ever": 0}


def choose(indexes: Sequence[str]) -> EntryFilter:
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="audit-filters"):
        person = text_filter("person")
        words = text_filter("words")
        action = pick("audit action", say("audit.action_any"), actions(), ANY)
        index = pick(
            "audit index",
            say("audit.index_any"),
            {ANY: say("audit.index_any"), **{each: each for each in indexes}},
            ANY,
        )
        days = DAYS[pick("audit days", say("audit.days"), {each: say(f"audit.{each}") for each in DAYS}, "week")]
    since = midnight_before(datetime.now(UTC)) - timedelta(days=days - 1) if days else None
    return EntryFilter(person=person.strip(), action=action, index=index, words=words, since=since)


def text_filter(name: str) -> str:
    title = say(f"audit.{name}")
    # Like the choices beside it, it stays while another page is open.
    kept: str = st.session_state.get(f"kept audit {name}", "")
    text: str = st.text_input(title, kept, placeholder=title, key=f"audit {name}", label_visibility="collapsed")
    st.session_state[f"kept audit {name}"] = text
    return text


def actions() -> dict[str, str]:
    return {ANY: say("audit.action_any"), **{each: say(f"action.{each}") for each in Action}}


def show_entries(audit: UserAudit, filters: EntryFilter) -> None:
    places: list[str | None] = st.session_state.setdefault("audit places", [None])
    if st.session_state.get("audit asked") != filters:
        st.session_state.update({"audit asked": filters, "audit places": [None]})
        places = st.session_state["audit places"]
    found = audit.read(filters, latest=PAGE, before=places[-1])
    if not found.entries:
        st.info(say("audit.none_found"))
        return
    names = names_of(engine().store.access.people.all())
    column = st.column_config
    columns = {
        "when": column.DatetimeColumn(say("audit.when"), format="YYYY-MM-DD HH:mm:ss", timezone=zone(), width=160),
        "who": column.TextColumn(say("audit.who"), width=150),
        "what": column.TextColumn(say("audit.what"), width=170),
        "index": column.TextColumn(say("audit.index"), width=110),
        "details": column.TextColumn(say("audit.details"), width=600),
    }
    st.dataframe(
        **titled(frame(found.entries, names), columns),
        hide_index=True,
        height=min(HEIGHT, ROW * (len(found.entries) + 1) + 2),
        placeholder="",
        alt=say("app.audit"),
        key="audit table",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        later = {"audit places": places[:-1] or [None]}
        earlier = {"audit places": [*places, found.before]}
        page_button("later", later, is_last=len(places) == 1)
        page_button("earlier", earlier, is_last=found.before is None)
        name = f"audit-{midnight_before(datetime.now(UTC)):%Y-%m-%d}.jsonl"
        lines = partial(audit.as_lines, filters, latest=FILE)  # made when the button is pressed
        st.download_button(
            say("audit.file"), lines, name, "application/jsonl",
            key="audit-file", help=say("audit.file_help", count=f"{FILE:,}"), on_click="ignore",
        )  # fmt: skip


def page_button(name: str, places: dict[str, list[str | None]], *, is_last: bool) -> None:
    go = st.session_state.update
    st.button(say(f"audit.{name}"), key=f"audit-{name}", on_click=go, args=(places,), disabled=is_last)


def frame(entries: Sequence[Entry], people: Mapping[str, str]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "when": pd.to_datetime([each.at for each in entries], utc=True),
            "who": [cell(each.name or each.person) for each in entries],
            "what": [say(f"action.{each.action}") for each in entries],
            "index": [cell(each.index or "") for each in entries],
            "details": [" · ".join(details(each, people)) for each in entries],
        }
    )


def details(entry: Entry, people: Mapping[str, str]) -> Iterator[str]:
    """`people`: names by id."""
    if entry.action == Action.OWNER_SET and "whose" not in entry.facts:
        yield f"{say('fact.whose')}: {say('usage.nobody')}"
    for name, value in sorted(entry.facts.items(), key=lambda each: each[0] in IDS):
        if value == []:
            continue
        title = say(f"usage.{name}") if name in GroupLimits.model_fields else say(f"fact.{name}")
        yield f"{title}: {fact(name, value, people)}"


def fact(name: str, value: object, people: Mapping[str, str]) -> str:
    if isinstance(value, bool):
        return say("fact.yes" if value else "fact.no")
    if name in GroupLimits.model_fields and value == 0:
        return say("usage.unlimited")
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    match name:
        case "since":
            return when(datetime.fromisoformat(str(value)))
        case "whose":
            return people.get(str(value), str(value))
        case "pipeline":
            return say(f"pipeline.{value}")
        case "status":
            return say(f"status.{value}")
        case "role":
            return say(f"people.{value}")
        case "right":
            return say(f"access.{value}")
        case "kind":
            return say(f"access.{value}") if value in list(GranteeKind) else say(f"share.{value}")
    return str(value)


def show_log(log: UserAudit) -> None:
    st.caption(say("audit.about", days=counted("time.days", engine().settings.audit_days)))
    if lost := log.lost:
        entries = counted("audit.lost_entries", lost.entries)
        st.error(say("audit.lost", entries=entries, when=when(lost.since)))
    show_entries(log, choose([each.name for each in engine().store.indexes()]))


with st.container(key="audit-page"):
    st.header(say("app.audit"), anchor=False)
    try:
        log = engine().store.access.audit
        if log.is_kept:
            show_log(log)
        else:
            st.info(say("audit.off"))
    except PlainError as error:
        show_error(error)
