"""HTML that the views of several details share: facts, tables, meters."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from pages.words.say import say


def facts(texts: Mapping[str, str]) -> str:
    """`texts`: by the key of the label."""
    items = "".join(f"<dt>{escape(say(key))}</dt><dd>{escape(text)}</dd>" for key, text in texts.items())
    return f"<dl>{items}</dl>"


def table(heads: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """`heads`: keys of texts."""
    head = "".join(f"<th>{escape(say(key))}</th>" for key in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def headed(key: str, html: str) -> str:
    return f"<h6>{escape(say(key))}</h6>{html}" if html else ""


def meter(score: float) -> str:
    """`score`: 0 to 1."""
    return f'<meter min="0" max="1" low="0.5" value="{score:.3f}"></meter>'


def measured(score: float) -> str:
    """A meter with its number."""
    return f'{meter(score)}<span class="score">{score:.2f}</span>'


def numbers(passages: Iterable[int]) -> str:
    """[1] [3], as answers cite them; plain text."""
    return " ".join(f"[{number}]" for number in passages)
