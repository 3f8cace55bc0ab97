"""The options of a run, in words: its retrieval and the style of its answer."""

from pages.words.say import say
from rag.runs.run.options import USUAL
from rag.trace.events import RunStarted, Style
from rag.trace.passages import Retrieval


def picked_labels(started: RunStarted) -> list[str]:
    """Of what was chosen for this run and is not usual."""
    picked = [retrieval_label(started.retrieval)] if started.retrieval else []
    return picked if started.style == USUAL else [*picked, style_label(started.style)]


def retrieval_label(retrieval: Retrieval) -> str:
    """Hybrid · Sections · 8"""
    return f"{say(f'search.{retrieval.mode}')} · {say(f'search.{retrieval.unit}')} · {retrieval.k}"


def style_label(style: Style) -> str:
    """Short · Polite · Temperature 0.7"""
    named = [style.length] * (style.length != USUAL.length) + [style.tone] * (style.tone != USUAL.tone)
    told = [say(f"manner.{each}") for each in named]
    if style.temperature != USUAL.temperature:
        told.append(f"{say('options.temperature')} {style.temperature:g}")
    return " · ".join(told or [say(f"manner.{style.length}")])
