"""For admins: people with their roles, when they were last seen, and their access."""

from collections.abc import Sequence

import streamlit as st

from index_store.access.people.person import Person
from index_store.access.people.typed_names import typed
from index_store.access.principal import Role
from index_store.access.user_people import UserPeople
from index_store.base.errors import PlainError
from index_store.base.text.words import has_words
from pages.server.process import engine, principal
from pages.server.settings import server_settings
from pages.widgets.controls.errors import run_as_callback, run_or_show_error, show_error
from pages.widgets.controls.picker import fresh_key, pick, renew
from pages.words.amounts import when
from pages.words.names import about, plain
from pages.words.say import say

PAGE = 20  # people that are drawn together
CLAIMED = "claimed"  # instead of a role: the role comes from the sign-in


def people() -> UserPeople:
    """Raises AdminNeeded at each call, and the errors of `principal`."""
    return engine().store.access.people


def show_add() -> None:
    form = fresh_key("person")
    with st.popover(say("people.add"), key=fresh_key("add person")):
        st.caption(say("people.add_help"))
        # Not in the form: what is chosen there is known only once the form is sent, so after a switch of language.
        role = pick(f"{form} role", say("people.role_first"), roles(), CLAIMED, "visible")
        with st.form(form, border=False):
            name = st.text_input(say("people.name"), max_chars=200, key=f"{form} name")
            is_asked = st.form_submit_button(say("people.add_really"))
        if is_asked and run_or_show_error(lambda: people().add(name, role_from_label(role))):
            renew("add person")
            renew("person")
            st.rerun()


def roles() -> dict[str, str]:
    """Their names."""
    return {each: role_name(each) for each in (CLAIMED, *Role)}


def role_name(role: str) -> str:
    return say("people.as_claimed") if role == CLAIMED else say(f"people.{role}")


def role_from_label(label: str) -> Role | None:
    return None if label == CLAIMED else Role(label)


def matching(everybody: Sequence[Person]) -> list[Person]:
    words = st.text_input(
        say("people.search"),
        placeholder=say("people.search"),
        key="people search",
        label_visibility="collapsed",
        on_change=st.session_state.update,
        args=({"people page": 0},),
    )
    sought = typed(words)
    texts = ((each, " ".join([each.name, each.mail, each.subject, *each.groups])) for each in everybody)
    return [each for each, text in texts if has_words(text, sought)]


def show_page(found: Sequence[Person]) -> None:
    if not found:
        st.info(say("people.none_found"))
        return
    last = (len(found) - 1) // PAGE
    page = min(st.session_state.get("people page", 0), last)
    here = found[page * PAGE : (page + 1) * PAGE]
    for person in here:
        show_person(person)
    with st.container(horizontal=True, vertical_alignment="center"):
        first = page * PAGE + 1
        st.caption(say("people.shown", first=first, last=first + len(here) - 1, count=len(found)), width="stretch")
        if last:
            page_button("←", "before", page - 1, page == 0)
            page_button("→", "after", page + 1, page == last)


def page_button(sign: str, name: str, page: int, is_last: bool) -> None:
    go = {"people page": page}
    st.button(
        sign,
        key=f"people-{name}",
        help=say(f"people.{name}"),
        on_click=st.session_state.update,
        args=(go,),
        disabled=is_last,
    )


def show_person(person: Person) -> None:
    with st.container(horizontal=True, vertical_alignment="center", border=True, key=f"person-{person.id}"):
        with st.container(gap=None, width="stretch"):
            st.markdown(f"**{plain(person.known_as)}**")
            st.caption(" · ".join(person_facts(person)))
        show_role(person)
        if person.disabled_at:
            label = about(say("people.enable"), person.known_as)
            st.button(label, key=f"enable-{person.id}", on_click=enable, args=(person.id,))
        else:
            label = about(say("people.disable"), person.known_as)
            st.button(label, key=f"disable-{person.id}", on_click=disable, args=(person.id,))
        show_erase(person)


def show_erase(person: Person) -> None:
    """A popover, drawn while it is open."""
    popover = st.popover(about(say("people.erase"), person.known_as), key=f"erase-{person.id}", on_change="rerun")
    if popover.open:
        with popover:
            st.write(plain(say("people.erase_help", name=person.known_as)))
            key = f"danger-erase-{person.id}"
            st.button(say("people.erase_really"), type="primary", key=key, on_click=erase, args=(person.id,))


def person_facts(person: Person) -> list[str]:
    parts = [say("people.you")] if person.id == principal().id else []
    if person.disabled_at:
        parts.append(f":red[{say('people.disabled')}]")
    if person.mail and person.mail != person.known_as:
        parts.append(plain(person.mail))
    if not person.issuer:
        parts.append(say("people.not_yet"))
    elif person.last_seen_at:
        parts.append(say("people.seen", when=when(person.last_seen_at)))
    if person.groups:
        parts.append(plain(say("people.groups", groups=", ".join(person.groups))))
    return parts


def show_role(person: Person) -> None:
    now = str(person.role) if person.role_is_given else CLAIMED
    labels = roles()
    if not person.role_is_given:
        labels[CLAIMED] = say("people.claimed", role=role_name(person.role))
    # A new field for each role: one of its texts changes with the role, which a field of the same key does not show.
    key = f"role-{person.id}-{now}"
    st.selectbox(
        say("people.role", name=person.known_as),
        list(labels),
        list(labels).index(now),
        format_func=labels.__getitem__,
        key=key,
        label_visibility="collapsed",
        width=220,
        on_change=set_role,
        args=(person.id, key, now),
    )


def set_role(person_id: str, key: str, now: str) -> None:
    role = role_from_label(st.session_state[key])
    st.session_state[key] = now  # stays if the change is refused
    run_as_callback(lambda: people().set_role(person_id, role))


def disable(person_id: str) -> None:
    run_as_callback(lambda: people().disable(person_id))


def erase(person_id: str) -> None:
    run_as_callback(lambda: engine().personal_data.erase(person_id))


def enable(person_id: str) -> None:
    run_as_callback(lambda: people().enable(person_id))


def show_everybody() -> None:
    try:
        everybody = sorted(people().all(), key=lambda person: person.known_as.casefold())
    except PlainError as error:
        show_error(error)
        return
    st.caption(say("people.about"))
    show_add()
    show_page(matching(everybody))


with st.container(key="people-page"):
    st.header(say("app.people"), anchor=False)
    if server_settings().auth == "none":
        st.info(say("people.nobody_signs_in"))
    else:
        show_everybody()
