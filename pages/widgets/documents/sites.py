"""The crawled sites of an index."""

from collections import Counter
from html import escape

import streamlit as st

from index_store.catalogue.records import DocumentStatus, Index, Site
from index_store.ingestion.sources import SiteSource
from pages.server.process import engine
from pages.widgets.controls.errors import run_as_callback, run_or_show_error
from pages.widgets.controls.picker import fresh_key, renew
from pages.widgets.index.rights import may_add_to
from pages.words.amounts import when
from pages.words.names import readable
from pages.words.say import counted, say


def show_sites(index: Index) -> None:
    sites = engine().store.sites(index.name)
    if not sites:
        return
    st.subheader(say("site.title"), anchor=False)
    may_change = may_add_to(index.name)
    documents = engine().store.documents(index.name)
    fetched = Counter(each.parent for each in documents)
    pages = Counter(each.parent for each in documents if each.status != DocumentStatus.FAILED)
    for site in sites:
        # Keys name the site: a press must not reach another one if this one was removed in another tab.
        name = f"{index.name} {site.options.url}"
        with st.container(border=True, key=f"site-{name}"):
            facts, again, remove = st.columns([6, 3, 2], gap="small", vertical_alignment="center")
            facts.html(_facts(site, pages[site.options.url], fetched[site.options.url] >= site.options.limit))
            if not may_change:
                continue
            again.button(
                say("site.again"),
                key=f"site-again-{name}",
                on_click=run_as_callback,
                args=(_crawl_again, site),
                width="stretch",
            )
            with remove.popover(say("site.remove"), key=fresh_key(f"remove site {name}"), width="stretch"):
                st.write(counted("site.remove_help", pages[site.options.url]))
                if st.button(say("site.remove_really"), type="primary", key=f"danger-remove-site-{name}"):
                    _remove(site, name)


def _crawl_again(site: Site) -> None:
    engine().store.right(site.index)  # raises UnknownIndex; `ingest` would create the index
    engine().store.ingest(site.index, [SiteSource(site.options)])


def _facts(site: Site, pages: int, may_have_more: bool) -> str:
    """`may_have_more`: than its limit of pages."""
    options = site.options
    reach = say("site.reach", depth=options.depth, pages=counted("site.pages", options.limit))
    facts = [counted("site.pages", pages), reach]
    facts.append(say("site.crawled", when=when(site.crawled_at)) if site.crawled_at else say("site.not_crawled"))
    if may_have_more and options.depth:  # else it is about one page
        facts.append(say("site.limit_reached"))
    patterns = [f"+ {each}" for each in options.include] + [f"− {each}" for each in options.exclude]
    told = escape(" · ".join([*facts, *patterns]))
    return f'<div class="site"><b>{escape(readable(options.url))}</b><br><small>{told}</small></div>'


def _remove(site: Site, name: str) -> None:
    if run_or_show_error(engine().store.remove, site.index, site.options.url):
        renew(f"remove site {name}")
        st.rerun()
