"""The start of every page: language, shared parts, and navigation."""

from pathlib import Path

import streamlit as st
from streamlit import config

from index_store.access.principal import Role
from index_store.base.errors import AccessWithdrawn, DatabaseAway, PlainError, VectorServerError
from index_store.base.settings.settings import MEGABYTE
from pages.server.identity import NotSignedIn
from pages.server.process import engine, principal
from pages.server.settings import server_settings
from pages.server.upload_limit import MOST_HELD
from pages.widgets.chat.conversation.address import chat_address, follow_conversation
from pages.widgets.controls.errors import show_error
from pages.widgets.controls.other_page import show_link_to
from pages.widgets.controls.script import ON_EVERY_PAGE, show_script
from pages.widgets.controls.uploader import forget_left
from pages.widgets.frame.page_language import tell_language
from pages.widgets.frame.sign_in import show_sign_in, show_who, show_withdrawn, watch
from pages.widgets.frame.trouble import show_sent_around, show_trouble
from pages.words.names import plain
from pages.words.reader import LANGUAGES, choose_language, follow_language, language
from pages.words.say import say

HERE = Path(__file__).parent

follow_language()
PAGES = {
    "chat": st.Page(HERE / "chat.py", title=say("app.chat"), default=True),
    "documents": st.Page(HERE / "documents.py", title=say("app.documents")),
    "search": st.Page(HERE / "search.py", title=say("app.search")),
    "runs": st.Page(HERE / "runs.py", title=say("app.runs")),
    "compare": st.Page(HERE / "compare.py", title=say("app.compare")),
}
SHARED = st.Page(HERE / "personal" / "shared.py", title=say("share.title"))
SHARES = st.Page(HERE / "personal" / "shares.py", title=say("share.all"))
FOR_ADMINS = {
    name: st.Page(HERE / "admin" / f"{name}.py", title=say(f"app.{name}")) for name in ("people", "usage", "audit")
}
MY_DATA = st.Page(HERE / "personal" / "my_data.py", title=say("app.my_data"))
page = st.navigation([*PAGES.values(), SHARED, SHARES, *FOR_ADMINS.values(), MY_DATA], position="hidden")

st.set_page_config(
    page_title=f"{page.title} · {say('app.name')}",
    page_icon=str(HERE / "assets" / "icon.svg"),
    layout="centered" if page in (PAGES["chat"], SHARED, SHARES, MY_DATA) else "wide",
)
tell_language()


def tell_uploader() -> None:
    """Streamlit's own texts in the uploader are English. The style sheet shows ours instead."""
    each = min(engine().settings.max_file_mb, config.get_option("server.maxUploadSize"))
    limit = say("sidebar.limit", each=f"{each:g}", together=MOST_HELD // MEGABYTE)
    st.html(f"<style>:root {{ --upload: '{say('sidebar.upload')}'; --limit: '{limit}'; }}</style>")


def show_language() -> None:
    if st.session_state.get("chosen_language") != language():  # the browser went back to an address with another one
        st.session_state.chosen_language = language()
    st.segmented_control(
        say("app.language"),
        list(LANGUAGES),
        default=language(),
        format_func=LANGUAGES.__getitem__,
        key="chosen_language",
        label_visibility="collapsed",
        required=True,
        on_change=lambda: choose_language(st.session_state.chosen_language),
    )


try:
    who = principal()
    set_aside = engine().history.set_aside
    engine().preload.begin()
    tell_uploader()
except NotSignedIn:
    show_sent_around()
    with st.container(key="signing-in"):
        show_sign_in()
        show_language()
    st.stop()
except AccessWithdrawn as error:
    show_withdrawn(error)
    st.stop()
except PlainError as error:
    show_error(error)
    st.stop()
watch()
show_sent_around()

if set_aside and "history warning read" not in st.session_state:
    # Not a toast: it cuts a sentence after three lines and offers the rest in English.
    st.warning(say("app.history_set_aside", file=plain(set_aside.name)))
    read = {"history warning read": True}
    st.button(say("documents.dismiss"), key="read", on_click=st.session_state.update, args=(read,))

if st.session_state.get("drawn page", page.url_path) != page.url_path:
    forget_left()
st.session_state["drawn page"] = page.url_path
follow_conversation(is_chat=page == PAGES["chat"])
with st.sidebar, st.container(gap=None, key="pages"):
    for name, each in PAGES.items() if page != SHARED else ():  # a reader of a shared page needs nothing else
        # A link clears the address, including the language.
        address = chat_address() if name == "chat" else {"lang": language()}
        st.page_link(each, label=say(f"app.{name}"), query_params=address, width="stretch")
    if server_settings().auth != "none" and page != SHARED:
        for name, each in {**(FOR_ADMINS if who.role is Role.ADMIN else {}), "my_data": MY_DATA}.items():
            show_link_to(each, say(f"app.{name}"), width="stretch")
    for script in ON_EVERY_PAGE:
        show_script(script)

try:
    if page != SHARED:
        show_trouble()
    page.run()
except (DatabaseAway, VectorServerError) as error:
    show_error(error)

with st.sidebar:
    show_who()
    show_language()
