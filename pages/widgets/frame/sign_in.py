"""Signing in and out, as people see it."""

from typing import Literal

import streamlit as st

from index_store.base.errors import AccessWithdrawn, PlainError
from pages.server.identity import NotSignedIn
from pages.server.process import principal
from pages.server.providers import provider_key
from pages.server.settings import server_settings
from pages.server.sign_in import OUTCOME
from pages.widgets.controls.errors import show_error
from pages.words.names import plain
from pages.words.say import say

LOOK = 20
"""seconds between two checks in an idle tab: a person who loses access is out within a minute"""

OUTCOMES = ("cancelled", "failed", "unreachable", "withdrawn")


def show_sign_in() -> None:
    """Shown instead of the page."""
    settings = server_settings()
    st.header(say("app.name"), anchor=False)
    if (outcome := st.query_params.get(OUTCOME)) in OUTCOMES:
        st.error(say(f"sign_in.{outcome}"))
    if settings.auth == "header":
        st.info(say("sign_in.by_proxy"))
        return
    st.caption(say("sign_in.about"), text_alignment="center")
    for number, provider in enumerate(settings.providers):
        label = say("sign_in.with", provider=plain(provider.name))
        kind: Literal["primary", "secondary"] = "primary" if len(settings.providers) == 1 else "secondary"
        st.button(
            label,
            type=kind,
            key=f"signing-in-{number}",
            width="stretch",
            on_click=st.login,
            args=(provider_key(number),),
        )


def show_withdrawn(error: AccessWithdrawn) -> None:
    """Shown instead of the page."""
    show_error(error)
    _show_sign_out()


def show_who() -> None:
    """The name of the signed-in person and a button to sign out; nothing if nobody signs in."""
    if server_settings().auth == "none":
        return
    who = principal()
    with st.container(horizontal=True, vertical_alignment="center", key="who"):
        name = plain(who.name or who.mail or say("sign_in.nameless"))
        st.caption(name, help=plain(who.mail) or None, width="stretch")
        _show_sign_out()


def _show_sign_out() -> None:
    if server_settings().auth == "oidc":  # if a proxy signs people in, it also signs them out
        st.button(say("sign_in.out"), key="signing-out", type="tertiary", on_click=st.logout)


def watch() -> None:
    """Removes the page when its reader loses access, even if nobody uses it."""
    if server_settings().auth != "none":
        _look()


@st.fragment(run_every=LOOK)
def _look() -> None:
    try:
        principal()
    except (NotSignedIn, AccessWithdrawn):
        st.rerun()
    except PlainError as error:
        show_error(error)
