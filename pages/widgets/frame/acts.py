"""What counts as an act of a person: not the Enter that ends the conversion of Japanese text, nor the second click of a
double click.
"""

import streamlit as st

ONLY_ACTS = """<script>
if (!window.onlyActsCount) {
  window.onlyActsCount = true;
  document.addEventListener("keydown", event => {
    if (event.key === "Enter" && event.keyCode === 229) event.stopPropagation();
  }, { capture: true });
  const begins = [
    "again", "begin-comparison", "crawl-into", "create-index", "follow-up", "link", "load-samples", "page-again",
    "reindex", "retry", "run-on", "site-again", "suggestion", "table-retry",
  ].map(each => `[class*="st-key-${each}"] button`).join() + ", .stFormSubmitButton button";
  document.addEventListener("click", event => {
    if (event.detail < 2 || !event.target.closest(begins)) return;
    event.preventDefault();
    event.stopPropagation();
  }, { capture: true });
}
</script>"""
"""Streamlit's fields ask only whether a text is being converted (`isComposing`). Safari ends the conversion before it
tells of the Enter that ended it, and the field would send a question that is half written. The code of that key, 229,
still says what it was for. No field needs to hear of it.

Many people click twice on everything. Both clicks would count, and a question be asked twice. This is only so for
buttons that begin something: others, such as ‹ › and + −, may be pressed as fast as one likes.
"""


def show_script() -> None:
    st.html(ONLY_ACTS, unsafe_allow_javascript=True)
