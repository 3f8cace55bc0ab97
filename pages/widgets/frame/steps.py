"""The steps of the browser's history: one for each act of a person."""

import streamlit as st

ONE_STEP = """<script>
if (!window.actsAreSteps) {
  window.actsAreSteps = true;
  const push = history.pushState;
  let hasActed = true;
  const act = event => { hasActed ||= event.isTrusted; };
  for (const each of ["click", "keydown"]) addEventListener(each, act, { capture: true });
  history.pushState = (...address) => {
    (hasActed ? push : history.replaceState).apply(history, address);
    hasActed = false;
  };
}
</script>"""
"""When another page is opened, Streamlit first gives the page that is left the parameters of the other, which is a step
of its own. Back led there, and showed the wrong page: the chat without its conversation, or the same page once more.
"""


def show_script() -> None:
    st.html(ONE_STEP, unsafe_allow_javascript=True)
