"""The notes of a fork: the step of another run that it continues from, and its changes."""

from html import escape

from pages.widgets.trace.graph import attempt_text
from pages.widgets.trace.views.word_diff import rewrite_html
from pages.words.say import say
from rag.trace.events import Change, Origin, RunStarted

VERDICTS = ("grade", "grounding", "usefulness", "need")


def origin_html(started: RunStarted) -> str:
    """Empty for a run that is not a fork."""
    origin = started.origin
    if not origin or not started.is_fork:
        return ""
    changes = "".join(f"<li>{_change_html(each)}</li>" for each in origin.changes)
    return f'<div class="detail origin"><p>{escape(_origin_text(origin))}</p><ul>{changes}</ul></div>'


def origin_lines(origin: Origin) -> list[str]:
    """The same as lines of text, the first one about the step. Of a changed prompt only that it was changed.

    `origin`: of a fork.
    """
    return [_origin_text(origin), *map(_change_text, origin.changes)]


def _origin_text(origin: Origin) -> str:
    step = f"{say(f'step.{origin.step}')} {attempt_text(origin.attempt or 1)}".rstrip()
    return say("change.origin", step=step)


def _change_text(change: Change) -> str:
    if change.what == "query":
        return f"{say('change.query')}: {change.before} → {change.after}"
    return say("change.prompt") if change.what == "prompt" else _in_words(change)


def _change_html(change: Change) -> str:
    if change.what == "query":
        return escape(say("change.query")) + rewrite_html(change.before, change.after)
    if change.what == "prompt":
        prompt = change.after or say("chat.removed")
        return f"<details><summary>{escape(say('change.prompt'))}</summary><pre>{escape(prompt)}</pre></details>"
    return escape(_in_words(change))


def _in_words(change: Change) -> str:
    before, after = change.before, change.after
    if change.what in VERDICTS:
        before, after = (say(f"detail.{each}") for each in (before, after))
    elif change.what in ("mode", "unit"):
        before, after = (say(f"search.{each}") for each in (before, after))
    return say(f"change.{change.what}", before=before, after=after, passage=change.passage)
