"""The data of one person, and its deletion; admins can choose the person."""

import streamlit as st

from index_store.access.people.person import names_of
from index_store.base.errors import AdminNeeded, PlainError
from pages.server.process import engine
from pages.widgets.controls.errors import run_as_callback, show_error
from pages.words.names import plain
from pages.words.say import counted, say
from rag.runs.retention.personal_data import PersonalDataSummary

ME = ""
WHOSE = "whose data"  # in the session, while the page is open: who is picked


def text_of(key: str, name: str | None, **parts: object) -> str:
    """`name`: of the person, unless it is the reader."""
    text = say(f"my_data.{key}", **parts) if name is None else say(f"my_data.{key}_of", name=name, **parts)
    return plain(text)


def show_summary(has: PersonalDataSummary, name: str | None, *, is_deleted: bool = False) -> None:
    """`name`: as in `text_of`. `is_deleted`: whether `has` was deleted, except for the shared indexes."""
    st.markdown(plain(say("my_data.conversations", count=has.conversations)))
    if has.indexes:
        st.markdown(text_of("indexes", name, names=", ".join(has.indexes)))
    if has.shared_indexes:
        shared = ", ".join(has.shared_indexes)
        text = plain(say("my_data.kept", names=shared)) if is_deleted else text_of("shared_indexes", name, names=shared)
        st.markdown(text)


def whose() -> tuple[str | None, str | None]:
    """Id and name of another person, if an admin picked one. Forgotten with the page, so that nobody deletes the data
    of a person whom they picked long ago.
    """
    try:
        people = engine().store.access.people.all()
    except AdminNeeded:
        return None, None
    names = names_of(people, taken=[say("my_data.mine")])
    if st.session_state.get(WHOSE, ME) not in {ME, *names}:
        st.session_state[WHOSE] = ME
        st.warning(say("my_data.gone"))
    if not names:
        return None, None
    picked = st.selectbox(
        say("my_data.whose"), [ME, *names], format_func={ME: say("my_data.mine"), **names}.__getitem__, key=WHOSE
    )
    return picked or None, names.get(picked)


def delete(person_id: str | None, name: str | None) -> None:
    def delete_and_tell() -> None:
        st.session_state["data deleted"] = engine().personal_data.delete(person_id), name
        st.session_state[WHOSE] = ME

    run_as_callback(delete_and_tell)
    st.session_state[f"sure to delete {person_id}"] = False


def show_what_there_is() -> None:
    person_id, name = whose()
    used = engine().usage.of(person_id)
    st.caption(say("my_data.used", today=f"{used.tokens_today:,}", month=f"{used.tokens:,}"))
    show_summary(engine().personal_data.of(person_id), name)
    st.subheader(text_of("delete", name), anchor=False)
    st.caption(text_of("about", name))
    if days := engine().settings.audit_days:
        st.caption(text_of("logged", name, days=counted("time.days", days)))
    sure = st.checkbox(say("my_data.sure"), key=f"sure to delete {person_id}")
    st.button(
        say("my_data.delete_really"),
        key="delete-my-data",
        type="primary",
        disabled=not sure,
        on_click=delete,
        args=(person_id, name),
    )


with st.container(key="my-data-page"):
    st.header(say("app.my_data"), anchor=False)
    try:
        if deleted := st.session_state.pop("data deleted", None):
            st.success(say("my_data.deleted"))
            show_summary(*deleted, is_deleted=True)
        else:
            show_what_there_is()
    except PlainError as error:
        show_error(error)
