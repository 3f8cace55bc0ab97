"""For admins: usage per person and index, and the limits of groups."""

import math
from collections.abc import Callable

import pandas as pd  # type: ignore[import-untyped]  # its stubs are another package
import streamlit as st

from index_store.access.limits import GroupLimits
from index_store.access.people.person import names_of
from index_store.base.errors import PlainError
from index_store.base.settings.settings import MEGABYTE
from pages.server.process import engine
from pages.widgets.controls.errors import run_as_callback, run_or_show_error, show_error
from pages.widgets.controls.picker import fresh_key, renew
from pages.widgets.controls.table import cell
from pages.words.names import about, plain
from pages.words.say import say

ROW, HEIGHT = 35, 500  # pixels
MOST = 1_000_000_000
NUMBERS = {"runs_today", "tokens_today", "runs", "tokens", "files", "size"}
LIMITS = tuple(GroupLimits.model_fields)


def people_names() -> dict[str, str]:
    """The names of all people, by id."""
    return {"local": say("usage.local"), **names_of(engine().store.access.people.all())}


def show_people(named: dict[str, str]) -> None:
    used = engine().usage.by_person()
    st.subheader(say("usage.people"), anchor=False)
    if not used:
        st.caption(say("usage.nothing"))
        return
    show_counts(
        "people",
        {
            "who": [cell(named.get(each.person_id, say("usage.erased"))) for each in used],
            "runs_today": [each.runs_today for each in used],
            "tokens_today": [each.tokens_today for each in used],
            "runs": [each.runs for each in used],
            "tokens": [each.tokens for each in used],
        },
    )


def show_indexes(named: dict[str, str]) -> None:
    index_sizes = engine().store.index_sizes()
    st.subheader(say("usage.indexes"), anchor=False)
    if not index_sizes:
        st.caption(say("usage.no_index"))
        return
    show_counts(
        "indexes",
        {
            "index": [cell(each.name) for each in index_sizes],
            "owner": [
                cell(named.get(each.owner, each.owner)) if each.owner else say("usage.nobody") for each in index_sizes
            ],
            "files": [each.files for each in index_sizes],
            "size": [math.ceil(each.size / MEGABYTE * 100) / 100 for each in index_sizes],
        },
    )


def show_counts(name: str, columns: dict[str, list[str] | list[int] | list[float]]) -> None:
    """Its file has the names of the columns, not `column_config`."""
    rows = len(next(iter(columns.values())))
    # Not Streamlit's "bytes": in Japanese, that is 4.2万B.
    formats = {
        say(f"usage.{each}"): "%.2f MB" if each == "size" else "localized" for each in columns if each in NUMBERS
    }
    st.dataframe(
        pd.DataFrame({say(f"usage.{each}"): values for each, values in columns.items()}),
        column_config={name: st.column_config.NumberColumn(format=each) for name, each in formats.items()},
        hide_index=True,
        height=min(HEIGHT, ROW * (rows + 1) + 2),
        placeholder="",
        alt=say(f"usage.{name}"),
        key=f"usage {name}",
    )


def show_limits() -> None:
    settings = engine().settings
    st.subheader(say("usage.limits"), anchor=False)
    st.caption(say("usage.limits_about"))
    usual = GroupLimits(
        runs_at_once=settings.runs_per_person, tokens_a_day=settings.tokens_a_day,
        files=settings.files_per_index, megabytes=settings.megabytes_per_index,
    )  # fmt: skip
    st.markdown(f"**{say('usage.everybody')}** · {limits_text(usual)}")
    for group, limits in engine().store.access.limits.all().items():
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            st.markdown(f"**{plain(group)}** · {limits_text(limits)}", width="stretch")
            label = about(say("usage.take"), group)
            st.button(label, key=f"take-{group}", on_click=run_as_callback, args=(set_limits, group, GroupLimits()))
    with st.popover(say("usage.set"), key=fresh_key("set limits")), st.form(fresh_key("limits"), border=False):
        group = st.text_input(say("usage.group"), max_chars=200, key=f"{fresh_key('limits')} group")
        st.caption(say("usage.set_help"))
        given = {each: number(each) for each in LIMITS}
        is_asked = st.form_submit_button(say("usage.set_really"))
        if is_asked and run_or_show_error(set_limits, group, GroupLimits(**given)):
            renew("set limits")
            renew("limits")
            st.rerun()


def number(name: str) -> int | None:
    value = st.number_input(say(f"usage.{name}"), 0, MOST, None, 1, key=f"{fresh_key('limits')} {name}")
    return None if value is None else int(value)


def limits_text(limits: GroupLimits) -> str:
    said = {name: value for name, value in limits.model_dump().items() if value is not None}
    parts = [
        f"{say(f'usage.{name}')}: {say('usage.unlimited') if value == 0 else f'{value:,}'}"
        for name, value in said.items()
    ]
    return plain(" · ".join(parts))


def set_limits(group: str, limits: GroupLimits) -> None:
    engine().store.access.limits.set(group, limits)


def show_parts(*parts: Callable[[], None]) -> None:
    try:
        for part in parts:
            part()
    except PlainError as error:
        show_error(error)


with st.container(key="usage-page"):
    st.header(say("app.usage"), anchor=False)
    show_parts(lambda: show_people(people_names()), lambda: show_indexes(people_names()), show_limits)
