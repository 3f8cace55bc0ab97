"""All links that let others read something: what each shows, and a button to revoke it."""

from datetime import UTC, datetime

import streamlit as st

from pages.server.process import engine
from pages.widgets.chat.turn.share import revoke, told_of
from pages.widgets.controls.errors import run_as_callback
from pages.words.amounts import when
from pages.words.names import about, plain
from pages.words.say import say
from rag.runs.history.for_people.shares import Share

LISTED, MORE = 30, 100
"""links in the list, and links that each press of the button below adds"""


def show_share(share: Share) -> None:
    kind = say("share.run" if share.kind == "run" else "share.conversation")
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        with st.container(gap=None):
            st.markdown(f"**{plain(share.title)}**")
            st.caption(f"{kind} · {told_of(share)}")
        if share.revoked_at is None:
            label = about(say("share.revoke"), f"{kind}: {share.title}")
            st.button(label, key=f"revoke-{share.id}", on_click=run_as_callback, args=(revoke, share))
        else:
            revoked = when(datetime.fromtimestamp(share.revoked_at, UTC))
            st.caption(say("share.revoked", when=revoked), width="content")


def list_more() -> None:
    st.session_state["links listed"] += MORE


listed = st.session_state.setdefault("links listed", LISTED)
shares = engine().shares.listed(latest=listed)

with st.container(key="shares-page"):
    st.header(say("share.all"), anchor=False)
    st.caption(say("share.about" if shares else "share.none"))
    for share in shares:
        show_share(share)
    if (left := engine().shares.count() - listed) > 0:
        st.button(say("share.more", count=left), key="more-links", on_click=list_more, width="stretch")
