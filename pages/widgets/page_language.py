"""Tells the browser the language of the page: screen readers, hyphenation and the choice of glyphs depend on it."""

import streamlit as st

from pages.words import language

TELL_LANGUAGE = """<script>
document.documentElement.lang = document.querySelector("[data-page-language]").dataset.pageLanguage;
</script>"""
"""Streamlit's page says that it is English. The script runs whenever its element changes, so with each language."""


def tell_language() -> None:
    with st.container(key="page-language"):
        st.html(f'<i data-page-language="{language()}"></i>{TELL_LANGUAGE}', unsafe_allow_javascript=True)
