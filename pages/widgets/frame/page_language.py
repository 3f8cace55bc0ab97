"""Tells the browser the language of the page: screen readers, hyphenation and the choice of glyphs depend on it. Also
gives Streamlit's own labels, which screen readers read, in this language.
"""

import json
from html import escape

import streamlit as st

from pages.words import language, say

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
    "Send message": "label.send",
    "Show/hide columns": "label.columns",
    "Download as CSV": "label.csv",
    "Search": "label.search",
    "Fullscreen": "label.fullscreen",
    "Close fullscreen": "label.close_fullscreen",
    "Clear selection": "label.clear",
}
"""key of our text, by the label of Streamlit; the buttons of a table add `: ` and the name of the table"""

HELP = "Help for "
"""how Streamlit begins the label of the sign that explains a field"""

TELL_LANGUAGE = """<script>
{
  const told = document.querySelector("[data-page-language]").dataset;
  document.documentElement.lang = told.pageLanguage;
  const labels = new Map(Object.entries(JSON.parse(told.labels)));
  const label = each => {
    const now = each.getAttribute("aria-label");
    if (now !== each.ourLabel) each.itsLabel = now;
    const its = each.itsLabel, of = its.startsWith(told.its) && its.slice(told.its.length).trim();
    const [button] = its.split(": ", 1), what = its.slice(button.length);
    if (labels.has(button)) each.ourLabel = labels.get(button) + what;
    else each.ourLabel = of ? told.help.replace("{label}", () => of) : its;
    if (each.ourLabel !== now) each.setAttribute("aria-label", each.ourLabel);
  };
  const labelAll = part => [part, ...part.querySelectorAll("[aria-label]")]
    .filter(each => each.hasAttribute("aria-label")).forEach(label);
  window.labelled?.disconnect();
  window.labelled = new MutationObserver(changes => {
    for (const change of changes)
      for (const part of change.type === "attributes" ? [change.target] : change.addedNodes)
        if (part.nodeType === Node.ELEMENT_NODE) labelAll(part);
  });
  window.labelled.observe(document.body, { attributeFilter: ["aria-label"], childList: true, subtree: true });
  labelAll(document.body);
}
</script>"""
"""Streamlit's page and its labels are in English. The script runs whenever its element changes, so with each language.
It keeps the label that Streamlit wrote, because it may have to write that in another language.
"""


def tell_language() -> None:
    labels = json.dumps({its: say(key) for its, key in LABELS.items()})
    told = {"page-language": language(), "labels": labels, "its": HELP, "help": say("label.help", label="{label}")}
    data = " ".join(f'data-{name}="{escape(value)}"' for name, value in told.items())
    with st.container(key="page-language"):
        st.html(f"<i {data}></i>{TELL_LANGUAGE}", unsafe_allow_javascript=True)
