"""The sidebar on a telephone, where it covers the page: it closes once a page or a conversation is chosen in it."""

import streamlit as st

CLOSE_ON_CHOICE = """<script>
if (!window.sidebarCloses) {
  window.sidebarCloses = true;
  const chosen = ".st-key-pages a, .st-key-new-chat button, [class*='st-key-open-'] button";
  document.addEventListener("click", event => {
    if (event.target.closest(chosen) && matchMedia("(max-width: 768px)").matches)
      setTimeout(() => document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click());
  }, { capture: true });
}
</script>"""
"""768 pixels: up to that width Streamlit lays the sidebar over the page. It listens before Streamlit does, which may
take what was pressed out of the page.
"""


def show_script() -> None:
    st.html(CLOSE_ON_CHOICE, unsafe_allow_javascript=True)
