"""Messages between a browser and the server: which are answered, where they go, and what they tell of a choice."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from streamlit.elements.lib import options_selector_utils
from streamlit.elements.widgets import multiselect, selectbox
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.session_manager import ActiveSessionInfo
from streamlit.runtime.state.common import RegisterWidgetResult
from streamlit.runtime.uploaded_file_manager import UploadFileUrlInfo

ASKED_BY_PAGES = {
    "rerun_script",
    "stop_script",
    "file_urls_request",
    "app_heartbeat",
    "deferred_file",
    "dataframe_chunk",
}
"""what the browser of a page asks the server; listed, so that what later versions add is closed too"""

UPLOADS_FOR = "index of the uploader"
"""in the session: the name of the index to which the uploader that was drawn last adds files"""
BEGUN_FOR = "indexes of begun uploads"
"""in the session: the same at the moment when a file was dropped, by the id of the file"""

log = logging.getLogger(__name__)

T = TypeVar("T")


def apply() -> None:
    _answer_only_pages()
    _send_to_the_latest_connection()
    _note_the_index_of_an_upload()
    _tell_the_browser_new_texts_of_what_is_chosen()


def _answer_only_pages() -> None:
    """Streamlit answers every connection, before a sign-in too, also what only the tools of developers ask. It told the
    branch of the app's checkout and the names of changed files there, by ten processes while everybody waited.
    """
    handle = AppSession.handle_backmsg

    def handle_if_asked_by_pages(session: AppSession, message: BackMsg) -> None:
        kind: str | None = message.WhichOneof("type")
        if kind == "backend_operation_request":
            kind = message.backend_operation_request.WhichOneof("payload")
        if kind in ASKED_BY_PAGES:
            handle(session, message)
        else:
            log.warning("Refused a message of a connection: no page asks for %s", kind)

    AppSession.handle_backmsg = handle_if_asked_by_pages  # type: ignore[method-assign, assignment]


def _send_to_the_latest_connection() -> None:
    """Streamlit notes the connections of all pages, then sends to one after the other. What was written for a page that
    connected again meanwhile went to its old connection and was lost: the page stood still until it was reloaded.
    """
    send = Runtime._send_message  # noqa: SLF001 - no public method knows the connections

    def send_to_latest(runtime: Runtime, noted: ActiveSessionInfo, message: ForwardMsg) -> None:
        latest = runtime._session_mgr.get_active_session_info(noted.session.id)  # noqa: SLF001
        send(runtime, latest or noted, message)

    Runtime._send_message = send_to_latest  # type: ignore[method-assign, assignment]  # noqa: SLF001


def _note_the_index_of_an_upload() -> None:
    """The browser asks for an address when a file is dropped, and tells the page of the file when all of those dropped
    have been sent: on a slow line minutes later. Another index may be picked by then, and the file went there.
    """
    make = MemoryUploadedFileManager.get_upload_urls

    def make_and_note(
        manager: MemoryUploadedFileManager, session_id: str, file_names: Sequence[str]
    ) -> list[UploadFileUrlInfo]:
        made = make(manager, session_id, file_names)
        session = Runtime.instance().get_app_session(session_id)
        if session and UPLOADS_FOR in session.session_state:
            index = session.session_state[UPLOADS_FOR]
            session.session_state[BEGUN_FOR].update(dict.fromkeys((each.file_id for each in made), index))
        return made

    MemoryUploadedFileManager.get_upload_urls = make_and_note  # type: ignore[method-assign, assignment]


def _tell_the_browser_new_texts_of_what_is_chosen() -> None:
    """In a selectbox or multiselect, the browser knows what is chosen by its text only. When the texts change, with the
    language or a count, it went on showing the old text and sent it with the next act, whatever that was. It is none of
    the options then, and Streamlit took it for a new choice: callbacks got the text itself, or the choice was lost.
    """
    resolve, serialize = options_selector_utils.resolve_value_against_options, selectbox.SelectboxSerde.serialize

    def text_as_drawn(drawn: selectbox.SelectboxSerde[T], chosen: T | str | None) -> str | None:
        """Not as `format_func` would name it now, which may be in another language."""
        if chosen in drawn.options:
            return drawn.formatted_options[drawn.options.index(chosen)]
        return serialize(drawn, chosen)

    def resolve_and_compare(
        chosen: T | None,
        options: Sequence[T],
        numbers: dict[str, int],
        default: int | None,
        key: str | int | None,
        text_of: Callable[[T], str] = str,
        sent: str | None = None,
    ) -> tuple[T | None, bool]:
        """Returns the choice and whether the browser has to be told. `sent`: the text that the browser knows."""
        chosen, is_reset = resolve(chosen, options, numbers, default, key, text_of, sent)
        has_new_text = chosen is not None and sent is not None and text_of(chosen) != sent
        return chosen, is_reset or has_new_text

    selectbox.SelectboxSerde.serialize = text_as_drawn  # type: ignore[method-assign, assignment]
    selectbox.resolve_value_against_options = resolve_and_compare  # type: ignore[attr-defined, assignment]
    _tell_the_browser_new_texts_of_several()


def _tell_the_browser_new_texts_of_several() -> None:
    register = multiselect.register_widget  # type: ignore[attr-defined]
    serialize = multiselect.MultiSelectSerde.serialize

    def texts_as_drawn(drawn: multiselect.MultiSelectSerde[T], chosen: list[T | str] | list[T]) -> list[str]:
        known, texts = [*drawn.options], drawn.formatted_options
        return [texts[known.index(each)] if each in known else serialize(drawn, [each])[0] for each in chosen or ()]

    def register_and_compare(element_id: str, **options: Any) -> RegisterWidgetResult[Any]:
        state = register(element_id, **options)
        sent = state.incoming_serialized_values
        if sent is not None and options["serializer"](state.value) != sent:
            return replace(state, value_changed=True)
        return state

    multiselect.MultiSelectSerde.serialize = texts_as_drawn  # type: ignore[method-assign, assignment]
    multiselect.register_widget = register_and_compare  # type: ignore[attr-defined]
