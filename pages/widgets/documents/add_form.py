"""Forms to add documents: files from this computer, and a site; and a button that adds the samples."""

from collections.abc import Sequence

import streamlit as st
from streamlit.elements.lib.mutable_tab_container import TabContainer

from index_store.crawl import CrawlOptions
from index_store.crawl.records import MAX_DEPTH, MAX_LIMIT
from index_store.ingestion.sources import SiteSource
from index_store.parsing.loaders.formats import BY_KIND
from pages import samples
from pages.server.process import engine
from pages.widgets.controls.errors import run_or_show_error
from pages.widgets.controls.fold import show_fold
from pages.widgets.controls.picker import fresh_key, renew
from pages.widgets.controls.uploader import show_uploader
from pages.widgets.index.picked_index import pick_index
from pages.words.say import counted, say


def show_adding(index: str) -> None:
    files, site = _show_tabs([say("adding.files"), say("adding.site")])
    with files:
        show_uploader(index, "page")
        st.caption(say("adding.kinds", kinds=", ".join(sorted(map(str.upper, BY_KIND)))))
    with site:
        _show_site_form(index)


def show_samples_button() -> bool:
    """Returns whether it was pressed and the samples are coming. Their index is then picked."""
    # Its key is one of those whose second click is dropped: two clicks would start two jobs.
    is_wanted = st.button(say("empty.load_samples"), type="primary", help=say("empty.samples_help"), key="load-samples")
    if not is_wanted or not run_or_show_error(samples.load, engine().store):
        return False
    pick_index(samples.INDEX)
    return True


def _show_tabs(titles: list[str]) -> Sequence[TabContainer]:
    """The open one stays open when the titles change with the language; Streamlit's own opens the first again."""
    last_titles, opened = st.session_state.get("drawn adding tabs", (titles, 0))
    if titles != last_titles:
        st.session_state["adding tab"] = titles[opened]
    tabs = st.tabs(titles, key="adding tab", on_change="rerun")
    st.session_state["drawn adding tabs"] = titles, [bool(tab.open) for tab in tabs].index(True)
    return tabs


def _show_site_form(index: str) -> None:
    with st.container(key=fresh_key("site form")):
        address, depths, limits = st.columns([6, 2, 2], gap="small")
        url = address.text_input(say("site.url"), placeholder="https://", key=fresh_key("site url"))
        depth = depths.number_input(say("site.depth"), 0, MAX_DEPTH, 2, help=say("site.depth_help"), key="site depth")
        limit = limits.number_input(say("site.limit"), 1, MAX_LIMIT, 200, step=50, key="site limit")
        with show_fold(say("site.options"), "site options"):
            include = st.text_area(say("site.include"), placeholder="/docs/*", height=80, key="site include")
            exclude = st.text_area(say("site.exclude"), placeholder="/docs/old/*", height=80, key="site exclude")
            st.caption(say("site.patterns_help"))
        pages = counted("site.pages", limit)
        st.caption(say("site.alone") if depth == 0 else say("site.fetches", depth=depth, pages=pages))
        wanted = st.button(say("site.crawl"), type="primary", key=f"crawl into {index}")
        if wanted and run_or_show_error(_crawl, index, url, depth, limit, _lines(include), _lines(exclude)):
            renew("site url")
            st.rerun()


def _crawl(index: str, url: str, depth: int, limit: int, include: tuple[str, ...], exclude: tuple[str, ...]) -> None:
    options = CrawlOptions(url=url, depth=depth, limit=limit, include=include, exclude=exclude)
    engine().store.ingest(index, [SiteSource(options)])


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
