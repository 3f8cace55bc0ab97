"""The rights to an index, for people who manage it."""

import streamlit as st

from index_store.access.grants import EVERYONE, Grant, Grantee, IndexAccess
from index_store.access.people.typed_names import typed_address
from index_store.access.rights import GranteeKind, Right
from pages.server.process import engine
from pages.widgets.controls.errors import run_as_callback, run_or_show_error
from pages.widgets.controls.picker import fresh_key, pick, renew
from pages.words.names import plain
from pages.words.say import say

KINDS = (GranteeKind.ACCOUNT, GranteeKind.GROUP, GranteeKind.EVERYONE)


def show_access(index: str) -> None:
    access = engine().store.access.grants.of(index)
    owner = access.names.get(access.owner or "")
    st.markdown(plain(say("access.owner", name=owner) if owner else say("access.nobodys")))
    for number, grant in enumerate(access.grants):
        _show_grant(access, grant, number)
    _show_giving(index)


def _show_giving(index: str) -> None:
    form = fresh_key(f"grant {index}")
    kinds: dict[str, str] = {each: say(f"access.{each}") for each in KINDS}
    kind = pick(f"{form} whom", say("access.whom"), kinds, GranteeKind.ACCOUNT, "visible")
    # Not in the form: what is chosen there is known only once the form is sent, so after a switch of language.
    rights = {each.name: _named(each) for each in Right}
    right = Right[pick(f"{form} right", say("access.right"), rights, Right.READ.name, "visible")]
    with st.form(form, border=False):
        grantee = EVERYONE
        if kind != GranteeKind.EVERYONE:
            is_group = kind == GranteeKind.GROUP
            called = say("access.group_name" if is_group else "access.account_name")
            told = None if is_group else say("access.name_help")
            name = st.text_input(called, max_chars=200, help=told, key=f"{form} {kind}")
            grantee = Grantee(GranteeKind(kind), name if is_group else typed_address(name))
        wanted = st.form_submit_button(say("access.give"), type="primary")
        if wanted and run_or_show_error(engine().store.access.grants.give, index, grantee, right):
            renew(f"grant {index}")
            st.rerun()


def _show_grant(access: IndexAccess, grant: Grant, number: int) -> None:
    grantee = grant.grantee
    name = access.names.get(grantee.name, grantee.name)
    shown = say("access.everyone") if grantee == EVERYONE else f"{say(f'access.{grantee.kind}')}: {name}"
    key = f"right of {access.index} {grantee.kind} {grantee.name}"
    if st.session_state.get(key) != grant.right:  # at first, if it was changed elsewhere, or if a change was refused
        st.session_state[key] = grant.right
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"granted-{number}"):
        st.markdown(plain(shown), width="stretch")
        st.selectbox(
            say("access.right"), list(Right), format_func=_named, key=key,
            label_visibility="collapsed", width=180, on_change=_give, args=(access.index, grantee, key),
        )  # fmt: skip
        take = (engine().store.access.grants.take, access.index, grantee)
        st.button(say("access.take"), key=f"take {key}", on_click=run_as_callback, args=take)


def _give(index: str, grantee: Grantee, key: str) -> None:
    run_as_callback(engine().store.access.grants.give, index, grantee, st.session_state[key])


def _named(right: Right) -> str:
    return say(f"access.{right.name.lower()}")
