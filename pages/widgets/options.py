"""Another retrieval than the pipeline has: picked once, and kept until something else is picked."""

import streamlit as st

from index_store import MODES, UNITS
from pages.widgets.picker import pick
from pages.words import say
from rag.pipelines import PIPELINES
from rag.retrieval import LEAST_HITS, MOST_HITS
from rag.trace import Retrieval

AS_IT_IS = ""
"""as the pipeline has it"""


def choose_retrieval(pipeline: str) -> Retrieval | None:
    """None where all is as the pipeline has it."""
    has = PIPELINES[pipeline].retrieval
    with st.popover(say("options.title"), key="options", width="stretch"):
        st.caption(say("options.help", pipeline=say(f"pipeline.{pipeline}")))
        mode = _pick("mode", {each: say(f"search.{each}") for each in MODES}, has.mode)
        unit = _pick("unit", {each: say(f"search.{each}") for each in UNITS}, has.unit)
        k = _pick("k", {str(each): str(each) for each in range(LEAST_HITS, MOST_HITS + 1)}, str(has.k))
    picked = {"mode": mode, "unit": unit, "k": k and int(k)}
    changes = {name: value for name, value in picked.items() if value != AS_IT_IS}
    return has.model_copy(update=changes) if changes else None


def retrieval_label(retrieval: Retrieval) -> str:
    """Hybrid · Sections · 8"""
    return f"{say(f'search.{retrieval.mode}')} · {say(f'search.{retrieval.unit}')} · {retrieval.k}"


def _pick(name: str, values: dict[str, str], has: str) -> str:
    labels = {AS_IT_IS: say("options.as_it_is", value=values[has]), **values}
    return pick(name, say(f"options.{name}"), labels, AS_IT_IS, label_visibility="visible")
