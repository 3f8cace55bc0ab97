"""The scripts that our pages run in the browser, each a file in pages/assets/scripts."""

from html import escape
from pathlib import Path

import streamlit as st

SCRIPTS = {
    file.stem: f"<script>\n{file.read_text(encoding='utf-8')}</script>"
    for file in sorted((Path(__file__).parents[2] / "assets" / "scripts").glob("*.js"))
}
"""their HTML, by the names of the files; a browser runs no others (pages/server/requests/browser_rules.py)"""

ON_EVERY_PAGE = (
    "close_sidebar_on_choice",
    "copy_on_click",
    "draw_formulae",
    "ignore_enter_of_conversion",
    "ignore_second_clicks",
    "keep_focus_nearby",
    "one_history_entry_per_act",
)
"""names of scripts"""


def show_script(name: str, **data: str) -> None:
    """Runs a script when its element is added or its data change. `data`: what the script reads from attributes
    `data-…`, because its own text must stay the same.
    """
    attributes = " ".join(f'data-{key.replace("_", "-")}="{escape(value)}"' for key, value in data.items())
    marker = f"<i {attributes}></i>" if data else ""
    st.html(f"{marker}{SCRIPTS[name]}", unsafe_allow_javascript=True)
