"""Sharing and saving: a link to a conversation or an answer for others to read, and both as files."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import streamlit as st

from index_store.base.errors import PlainError
from pages.server.process import engine
from pages.widgets.controls.errors import run_as_callback
from pages.widgets.controls.other_page import show_link_to
from pages.widgets.export.html import as_html
from pages.widgets.trace.fork.origin import origin_lines
from pages.words.amounts import when
from pages.words.reader import Reader, language, reader, written_for, zone
from pages.words.say import say
from rag.runs.export.export import Export, export_as_markdown, file_name
from rag.runs.export.exports import ExportFormat
from rag.runs.history.for_people.shares import Share

LOOK = 3.0
"""seconds between two checks whether the run or conversation still exists, while the popover is open"""

LINKS = "links that were made"
"""in the session: the token of each share that this tab has made; it is stored nowhere else"""


def show_share(of: str, title: str, help_key: str, *, through: str | None = None) -> None:
    """A popover that is drawn while it is open. `of`: id of a conversation or run. `help_key`: key of the text that
    says what its link shows. `through`: of a conversation, the last run of the branch on the page.
    """
    popover = st.popover(f"↗ {say('share.title')}", key=f"share-{of}", type="tertiary", on_change="rerun")
    if not popover.open:
        return
    with popover, st.container(gap="xsmall", key=f"sharing-{of}"):
        st.caption(say(help_key))
        # A callback runs before the page is drawn, so the list below has the new link.
        st.button(
            say("share.make"), key=f"link-{of}", on_click=run_as_callback, args=(_make, of, through), width="stretch"
        )
        _show_links(of)
        st.caption(say("export.title"))
        with st.container(horizontal=True, gap="small"):
            _show_files(of, title, through)
        _watch(of)


def revoke(share: Share) -> None:
    """Raises NotSaved."""
    engine().shares.revoke(share.id)


def told_of(share: Share) -> str:
    """When it was made and when it was last opened."""
    opened = say("share.opened", when=_moment(share.opened_at)) if share.opened_at else say("share.never_opened")
    return f"{say('share.made', when=_moment(share.created_at))} · {opened}"


def _make(of: str, through: str | None) -> None:
    made = engine().shares.add(of, through=through)
    st.session_state.setdefault(LINKS, {})[made.share.id] = made.token


def _show_links(of: str) -> None:
    """The shares that are not revoked."""
    links = [each for each in engine().shares.listed(of) if each.revoked_at is None]
    tokens = st.session_state.get(LINKS, {})
    if any(each.id in tokens for each in links):
        st.caption(say("share.copy_now"))
    for each in links:
        if each.id in tokens:
            st.code(link(tokens[each.id]), language=None, wrap_lines=True)
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.caption(told_of(each))
            st.button(say("share.revoke"), key=f"revoke-{each.id}", on_click=run_as_callback, args=(revoke, each))
    show_link_to("personal/shares.py", say("share.all"))


def link(token: str) -> str:
    """The whole address, with the host name that this browser uses for the app. It has no language: the reader chooses
    that.
    """
    # Every browser sends Origin. From the end of `st.context.url`, Streamlit cuts names of pages, also off a host name.
    return f"{st.context.headers['Origin']}/shared?{urlencode({'share': token})}"


def _show_files(of: str, title: str, through: str | None) -> None:
    """Each file is made outside the page when its button is pressed: for the present reader."""
    kinds: tuple[tuple[ExportFormat, str, str, str, str, Callable[[Export], str]], ...] = (
        ("html", say("export.html"), ".html", "text/html", "export.help_html", as_html),
        (
            "markdown",
            "Markdown",
            ".md",
            "text/markdown",
            "export.help_md",
            lambda export: export_as_markdown(export, language(), say, origin_lines, when),
        ),
        ("json", "JSON", ".json", "application/json", "export.help_json", Export.as_json),
    )
    today = datetime.now(ZoneInfo(zone())).date()
    for form, label, suffix, mime, help_key, write in kinds:
        st.download_button(
            label,
            partial(_file, partial(engine().exports.gather, of, form, through=through), write, reader()),
            file_name(title, today, suffix),
            mime,
            key=f"file-{of}{suffix}",
            help=say(help_key),
            on_click="ignore",
        )


def _file(gather: Callable[[], Export], write: Callable[[Export], str], reader: Reader) -> bytes:
    """The content of the file. If it can't be made, for example because the run or conversation was just deleted, the
    file says why: for an error raised here, Streamlit shows a sentence in English only.
    """
    with written_for(reader):
        try:
            return write(gather()).encode()
        except PlainError as error:
            return error.sentence(language()).encode()


@st.fragment(run_every=LOOK)
def _watch(of: str) -> None:
    """Draws the page again if the run or conversation was deleted, for example in another tab."""
    history = engine().history
    if not (history.run(of) or history.conversations.exists(of)):
        st.rerun()


def _moment(seconds: float) -> str:
    return when(datetime.fromtimestamp(seconds, UTC))
