"""What counts as an act of a person: not the Enter that ends the conversion of a text, as in Japanese."""

import streamlit as st

ONLY_ACTS = """<script>
if (!window.onlyActsCount) {
  window.onlyActsCount = true;
  document.addEventListener("keydown", event => {
    if (event.key === "Enter" && event.keyCode === 229) event.stopPropagation();
  }, { capture: true });
}
</script>"""
"""Streamlit's fields ask only whether a text is being converted (`isComposing`). Safari ends the conversion before it
tells of the Enter that ended it, and the field would send a question that is half written. The code of that key, 229,
still says what it was for. No field needs to hear of it.
"""


def show_script() -> None:
    st.html(ONLY_ACTS, unsafe_allow_javascript=True)
