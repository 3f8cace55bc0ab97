"""Options for retrieval and for the style of answers, kept until changed."""

import streamlit as st

from index_store.search.searcher import MODES, UNITS
from pages.server.process import engine
from pages.widgets.controls.picker import pick, pick_number
from pages.widgets.trace.option_labels import retrieval_label, style_label
from pages.words.say import say
from rag.pipelines import PIPELINES
from rag.runs.run.options import LEAST_HITS, LENGTHS, MOST_HITS, TONES, style
from rag.trace.events import Style
from rag.trace.passages import Retrieval

AS_IT_IS = ""
"""the pipeline's own value"""


def choose_options(pipeline: str, of: str = "") -> tuple[Retrieval | None, Style]:
    """The retrieval is None if nothing differs from the pipeline's. `of`: separates several option forms on a page."""
    with st.popover(say("options.title"), key=f"options{of}", width="stretch"):
        retrieval = _choose_retrieval(pipeline, of)
        st.divider()
        return retrieval, _choose_style(of)


def show_picked(retrieval: Retrieval | None, style: Style) -> None:
    """Shows what differs from the defaults."""
    told = [say("options.picked", retrieval=retrieval_label(retrieval))] if retrieval else []
    if style != engine().settings.style:
        told.append(say("options.style_picked", style=style_label(style)))
    if told:
        st.caption("  \n".join(told))


def _choose_style(of: str) -> Style:
    usual = engine().settings.style
    st.caption(say("options.style_help"))
    columns = st.columns(3, gap="small")
    with columns[0]:
        length = _pick_style("length", LENGTHS, usual.length, of)
    with columns[1]:
        tone = _pick_style("tone", TONES, usual.tone, of)
    with columns[2]:
        temperature = pick_number(
            f"temperature{of}",
            say("options.temperature"),
            (0.0, 2.0),
            step=0.1,
            usual=f"{usual.temperature:g}",
            help_text=say("options.temperature_help"),
        )
    return style(length, tone, usual.temperature if temperature is None else temperature)


def _pick_style(name: str, values: tuple[str, ...], usual: str, of: str) -> str:
    labels = {each: say(f"manner.{each}") for each in values}
    return pick(f"{name}{of}", say(f"options.{name}"), labels, usual, label_visibility="visible")


def _choose_retrieval(pipeline: str, of: str) -> Retrieval | None:
    has = PIPELINES[pipeline].retrieval
    st.caption(say("options.help", pipeline=say(f"pipeline.{pipeline}")))
    mode = _pick("mode", {each: say(f"search.{each}") for each in MODES}, has.mode, of)
    unit = _pick("unit", {each: say(f"search.{each}") for each in UNITS}, has.unit, of)
    k = _pick("k", {str(each): str(each) for each in range(LEAST_HITS, MOST_HITS + 1)}, str(has.k), of)
    picked = {"mode": mode, "unit": unit, "k": k and int(k)}
    changes = {name: value for name, value in picked.items() if value != AS_IT_IS}
    return has.model_copy(update=changes) if changes else None


def _pick(name: str, values: dict[str, str], has: str, of: str) -> str:
    labels = {AS_IT_IS: say("options.as_it_is", value=values[has]), **values}
    return pick(f"{name}{of}", say(f"options.{name}"), labels, AS_IT_IS, label_visibility="visible")
