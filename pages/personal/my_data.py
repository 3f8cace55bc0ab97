"""The data of one person, and its deletion; admins can choose the person."""

import streamlit as st

from index_store.base.errors import AdminNeeded, PlainError
from pages.process import engine
from pages.widgets.errors import run_as_callback, show_error
from pages.widgets.picker import pick
from pages.words import plain, say
from rag.runs.retention.personal_data import PersonalDataSummary

ME = ""


def show(has: PersonalDataSummary) -> None:
    st.markdown(plain(say("my_data.conversations", count=has.conversations)))
    if has.indexes:
        st.markdown(plain(say("my_data.indexes", names=", ".join(has.indexes))))
    if has.shared_indexes:
        st.markdown(plain(say("my_data.shared_indexes", names=", ".join(has.shared_indexes))))


def whose() -> str | None:
    """The id of another person, if an admin picked one."""
    try:
        people = engine().store.access.people.all()
    except AdminNeeded:
        return None
    labels = {each.id: plain(each.name or each.mail or each.subject) for each in people}
    title = say("my_data.whose")
    return pick("whose data", title, {ME: say("my_data.mine"), **labels}, ME, "visible") or None if labels else None


def delete(person_id: str | None) -> None:
    run_as_callback(lambda: st.session_state.update({"data deleted": engine().personal_data.delete(person_id)}))
    st.session_state.update({f"sure to delete {person_id}": False})


with st.container(key="my-data-page"):
    st.header(say("app.my_data"), anchor=False)
    try:
        if deleted := st.session_state.pop("data deleted", None):
            st.success(say("my_data.deleted"))
            show(deleted)
            st.stop()
        person_id = whose()
        used = engine().usage.of(person_id)
        st.caption(say("my_data.used", today=f"{used.tokens_today:,}", month=f"{used.tokens:,}"))
        show(engine().personal_data.of(person_id))
        st.subheader(say("my_data.delete"), anchor=False)
        st.caption(say("my_data.about", days=engine().settings.audit_days))
        sure = st.checkbox(say("my_data.sure"), key=f"sure to delete {person_id}")
        st.button(
            say("my_data.delete_really"),
            key="delete-my-data",
            type="primary",
            disabled=not sure,
            on_click=delete,
            args=(person_id,),
        )
    except PlainError as error:
        show_error(error)
