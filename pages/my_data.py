"""What someone has here, and all of it deleted when they want that."""

import streamlit as st

from index_store.base.errors import PlainError
from pages.process import engine
from pages.widgets.errors import run_as_callback, show_error
from pages.words import plain, say
from rag.runs.personal_data import Holdings


def show(has: Holdings) -> None:
    st.markdown(plain(say("my_data.conversations", count=has.conversations)))
    if has.indexes:
        st.markdown(plain(say("my_data.indexes", names=", ".join(has.indexes))))
    if has.shared_indexes:
        st.markdown(plain(say("my_data.shared_indexes", names=", ".join(has.shared_indexes))))


def delete() -> None:
    run_as_callback(lambda: st.session_state.update({"data deleted": engine().personal_data.delete()}))
    st.session_state.update({"delete my data": False})


with st.container(key="my-data-page"):
    st.header(say("app.my_data"), anchor=False)
    try:
        if deleted := st.session_state.pop("data deleted", None):
            st.success(say("my_data.deleted"))
            show(deleted)
            st.stop()
        used = engine().used.of()
        st.caption(say("my_data.used", today=f"{used.tokens_today:,}", month=f"{used.tokens:,}"))
        show(engine().personal_data.of())
        st.subheader(say("my_data.delete"), anchor=False)
        st.caption(say("my_data.about", days=engine().settings.audit_days))
        sure = st.checkbox(say("my_data.sure"), key="delete my data")
        st.button(
            say("my_data.delete_really"), key="delete-my-data", type="primary", disabled=not sure, on_click=delete
        )
    except PlainError as error:
        show_error(error)
