"""Goes to another page after a press."""

from typing import NoReturn

import streamlit as st

from pages.words import language


def switch_to(page: str, **address: str) -> NoReturn:
    """`address`: parameters for the page, besides those of the page that is left.

    Streamlit changes the parameters first and the page after that, each as a step in the history of the browser. Back
    leads to the step between: with its own parameters too, the page that is left shows there what it showed.
    """
    st.switch_page(page, query_params={**st.query_params.to_dict(), **address, "lang": language()})
