"""The word-by-word changes of a rewrite: removed from the old text, added to the new one."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from html import escape

from index_store.full_text.words import words_in_order
from pages.words.say import say

MOST_WORDS = 400
"""words of each text that are compared one by one: time grows with their square. A rewrite has 300
characters at most"""


def rewrite_html(before: str, after: str) -> str:
    """Both texts as a pair, each with the words marked that the other does not have."""
    removed, added = marked_html(before, after)
    return _list({"detail.before": removed, "detail.after": added})


def marked_html(before: str, after: str) -> tuple[str, str]:
    """The two texts, each with the words marked that the other does not have."""
    old, new = words_in_order(before), words_in_order(after)
    removed = added = ""
    for tag, i, j, k, m in _changes(old, new):
        removed += _marked("" if tag == "equal" else "del", old[i:j])
        added += _marked("" if tag == "equal" else "ins", new[k:m])
    return removed, added


def choice_html(question: str, words: Sequence[str], key: str) -> str:
    """A question with the words marked that were not chosen from it, and the chosen words with those marked that it
    does not have.

    `key`: key of the label.
    """
    places = {word: list(re.finditer(re.escape(word), question, re.IGNORECASE)) for word in words}
    chosen = {at for found in places.values() for each in found for at in range(*each.span())}
    left, start = "", 0
    for word in words_in_order(question):
        is_chosen = not chosen.isdisjoint(range(start, start + len(word)))
        left += _marked("" if is_chosen else "del", [word])
        start += len(word)
    named = ", ".join(_marked("" if found else "ins", [word]) for word, found in places.items())
    return _list({"detail.question": left.replace("</del><del>", ""), key: named})


def _changes(old: list[str], new: list[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """Opcodes of SequenceMatcher: `equal` or another tag, and the positions in both lists."""
    if max(len(old), len(new)) > MOST_WORDS:
        return [("equal" if old == new else "replace", 0, len(old), 0, len(new))]
    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def _marked(tag: str, words: Sequence[str]) -> str:
    text = "".join(words)
    return f"<{tag}>{escape(text)}</{tag}>" if tag and text.strip() else escape(text)


def _list(texts: dict[str, str]) -> str:
    """`texts`: HTML, by the key of its label."""
    return f"<dl>{''.join(f'<dt>{escape(say(key))}</dt><dd>{html}</dd>' for key, html in texts.items())}</dl>"
