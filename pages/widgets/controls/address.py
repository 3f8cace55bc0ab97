"""The address of a page in the browser."""

import streamlit as st


def tell_address() -> None:
    """Tells the browser the address of the page that is drawn. A link from a page to the same page does not change it
    there: each later press would be sent with the address before the link.
    """
    st.query_params.from_dict({name: st.query_params.get_all(name) for name in st.query_params})
