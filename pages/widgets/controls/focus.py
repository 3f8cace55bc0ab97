"""Puts the focus into a field that has just appeared: the button that was pressed for it is gone."""

from html import escape

import streamlit as st

FOCUS = """<script>
(async () => {
  const key = [...document.querySelectorAll("[data-focus]")].at(-1).dataset.focus;
  for (let looks = 0; looks < 20; looks++) {
    const field = document.querySelector(`.st-key-${key} :is(input, textarea)`);
    if (field) return field.focus();
    await new Promise(resolve => setTimeout(resolve, 50));
  }
})();
</script>"""
"""Runs when its element is added. The field may come a moment later."""


def focus(key: str) -> None:
    """`key`: of the field."""
    with st.container(key="focus"):
        st.html(f'<i data-focus="{escape(key)}"></i>{FOCUS}', unsafe_allow_javascript=True)
