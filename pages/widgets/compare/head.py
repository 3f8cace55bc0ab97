"""The head of each column: a letter, its pipeline, and other options."""

from html import escape

from pages.widgets.trace.fork.origin import origin_html
from pages.widgets.trace.option_labels import picked_labels
from pages.words.say import say
from rag.trace.events import RunStarted

LETTERS = "ABCD"


def letter_html(number: int) -> str:
    """`number`: number of the column, from 0."""
    return f'<b class="letter column-{number}">{LETTERS[number]}</b>'


def head_html(number: int, started: RunStarted | None = None, *, index: str = "") -> str:
    """`index`: the index that the run asked, if its name is to be shown."""
    if not started:
        return f'<div class="column-head">{letter_html(number)}</div>'
    picked = [*picked_labels(started), *filter(None, (started.model, index))]
    return (
        f'<div class="column-head">{letter_html(number)} <b>{escape(say(f"pipeline.{started.pipeline}"))}</b>'
        f"<small>{escape(' · '.join(picked))}</small></div>{origin_html(started)}"
    )


def question_html(text: str) -> str:
    return f'<div class="question compared">{escape(text)}</div>'
