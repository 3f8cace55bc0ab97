"""Tells the browser the language of the page: screen readers, hyphenation and the choice of glyphs depend on it. Also
gives Streamlit's own words in this language: labels, which screen readers read, what a list says when it is empty
or before a choice, what a field says of a number out of range or a file too large or not sent, the menus of a table,
the link past the sidebar, and what it says while a page is drawn, when the app does not answer, or there is no such
page. The field that searches in a table has no label of Streamlit's.
"""

import json

import streamlit as st

from pages.server.upload_limit import TooMuchAtOnce
from pages.widgets.controls.script import show_script
from pages.words.reader import language
from pages.words.say import say

LABELS = {
    "Sidebar": "label.sidebar",
    "Collapse sidebar": "label.collapse",
    "Expand sidebar": "label.expand",
    "Chat message from user": "label.question",
    "Chat message from assistant": "label.answer",
    "Feedback rating": "label.rating",
    "Thumbs up": "label.thumbs_up",
    "Thumbs down": "label.thumbs_down",
    "Open": "label.open",
    "file upload": "label.file",
    "Upload files": "label.files",
    "Add files": "label.add_files",
    "Cancel upload of {label}": "label.cancel_upload",
    "Remove {label}": "label.remove",
    "Send message": "label.send",
    "Show/hide columns": "label.columns",
    "Download as CSV": "label.csv",
    "Search": "label.search",
    "Fullscreen": "label.fullscreen",
    "Close fullscreen": "label.close_fullscreen",
    "Clear selection": "label.clear",
    "Clear value": "label.clear_value",
    "Clear all": "label.clear_all",
    "Selected values": "label.selected",
    "Dismiss": "label.close",
    "Close": "label.close",
    "No results": "label.no_results",
    "Choose an option": "label.choose",
    "You can only select up to {label} options. Remove an option first.": "label.most_selected",
    "Increment": "label.increment",
    "Decrement": "label.decrement",
    "Pagination": "label.pagination",
    "Previous page": "label.previous_page",
    "Next page": "label.next_page",
    "Page {label}": "label.page",
    "Help for {label}": "label.help",
    "Skip to main content": "label.skip",
    "Dataframe column menu": "label.column",
    "Sort ascending": "label.ascending",
    "Sort descending": "label.descending",
    "Autosize": "label.fit",
    "Pin column": "label.pin",
    "Unpin column": "label.unpin",
    "Hide column": "label.hide",
    "Select all": "label.select_all",
    "(index)": "label.row_number",
    "Previous Result": "label.previous_hit",
    "Next Result": "label.next_hit",
    "Close Search": "label.close_search",
    "Error": "label.error",
    "{error}: Number is outside the allowed range. Please enter a value between {least} and {most}.": "label.range",
    "File must be {label} or smaller.": "label.too_large",
    "Click to retry upload": "label.retry_upload",
    "AxiosError: {label}": "label.not_sent",
    "Only one file is allowed.": "label.one_file",
    "{label} files are not allowed.": "label.other_kind",
    "Running...": "label.drawing",
    "Stop": "label.stop_drawing",
    "Stopping...": "label.stopping_drawing",
    "Connecting": "label.connecting",
    "Connection error": "label.away",
    "Streamlit server is not responding. Are you connected to the internet?": "label.no_answer",
    "Is Streamlit still running? If you accidentally stopped Streamlit, just restart it in your "
    "terminal:": "label.no_answer",
    "Connection timed out.": "label.no_answer",
    "Connection failed with status {label}": "label.no_answer",
    "Page not found": "label.no_page",
    "You have requested page {label}": "label.no_page_note",
}
"""key of our text, by the words of Streamlit; the buttons of a table add `: ` and the name of the table"""
TOO_MUCH = f"{{label}}: Request failed with status code {TooMuchAtOnce.status}"
"""Streamlit's words for an upload that `UploadLimit` refuses; they come before those for all other failures"""
PARTS = {each: f"{{{each}}}" for each in ("label", "error", "least", "most")}
"""parts of these texts, as they stand in both"""


def tell_language() -> None:
    ours = {its: say(key, **PARTS) for its, key in LABELS.items()}
    labels = json.dumps({TOO_MUCH: TooMuchAtOnce().sentence(language()), **ours})
    with st.container(key="page-language"):
        show_script("translate_streamlit", page_language=language(), labels=labels)
