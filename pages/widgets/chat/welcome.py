"""What the chat shows in place of a new conversation: how to begin, and sample questions."""

from collections.abc import Mapping

import streamlit as st

from index_store.catalogue.records import Index
from pages import samples
from pages.widgets.chat.ask import Picked, ask
from pages.widgets.controls.errors import run_or_show_error
from pages.widgets.documents.add_form import show_samples_button
from pages.widgets.index.rights import may_add_to, nothing_here
from pages.words.reader import language
from pages.words.say import say
from rag.pipelines import PIPELINES


def show_welcome(indexes: Mapping[str, Index], *, are_coming: bool) -> None:
    """`are_coming`: whether documents are being added."""
    st.header(say("empty.title"), anchor=False)
    if not any(index.documents for index in indexes.values()):
        if are_coming:
            st.info(say("empty.adding"))
            return
        st.write(nothing_here("empty.no_documents"))
        if may_add_to(samples.INDEX) and show_samples_button():
            st.rerun()
        return
    st.write(say("empty.ask"))
    # Not before all samples are ready: a question whose document is missing would be answered from another.
    if samples.INDEX in indexes and indexes[samples.INDEX].documents and not are_coming:
        _show_suggestions()


def _show_suggestions() -> None:
    st.caption(say("empty.try"))
    shown = [each for each in samples.questions() if each.pipeline in PIPELINES]
    shown.sort(key=lambda each: each.language != language())
    with st.container(key="suggestions", gap="xsmall"):
        for number, each in enumerate(shown):
            about = f"{say(f'pipeline.{each.pipeline}')} · {each.shows(language())}"
            if st.button(f"{each.text}  \n:small[:gray[{about}]]", key=f"suggestion-{number}", width="stretch"):
                run_or_show_error(ask, each.text, Picked(samples.INDEX, each.pipeline))
