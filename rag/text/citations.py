"""The markers [n] of an answer: what they cite, and the claims that they support."""

import re
from collections.abc import Iterable, Iterator

from rag.trace.details import Claim
from rag.trace.passages import Citation, Passage

# Possessive quantifiers (++), and a run of spaces matches only from its start. Otherwise a text of only spaces or
# newlines would take quadratic time.
MARKER = re.compile(r"\[(\d{1,6})\]")
_SPACED_MARKER = re.compile(rf"(?:(?<!\s)\s++)?+{MARKER.pattern}")
FULL_STOP = r"(?<![a-z]\.[a-z])\.(?=\n|\s++[^a-z\d])"
"""a full stop that may end a sentence: not those in 'e.g. this' and 'ext. 2499'"""
_CLAIM_END = re.compile(rf"(?:[。！？!?]|{FULL_STOP}|\.(?=\[|\s*+$)|\n\s*+)(?:\s*+{MARKER.pattern})*+")
"""includes markers after a full stop: they belong to the sentence before it"""


def without_markers(text: str) -> str:
    return _SPACED_MARKER.sub("", text)


def markers_of(text: str) -> tuple[int, ...]:
    """The numbers of the markers, each once."""
    return tuple(dict.fromkeys(int(number) for number in MARKER.findall(text)))


def claims(answer: str) -> Iterator[Claim]:
    """The sentences of an answer, each with the numbers that it cites."""
    start = 0
    for stop in [*(end.end() for end in _CLAIM_END.finditer(answer)), len(answer)]:
        sentence, start = answer[start:stop], stop
        if text := without_markers(sentence).strip():
            yield Claim(text=text, sources=markers_of(sentence))


def cited_passages(numbers: Iterable[int], passages: Iterable[Passage]) -> tuple[Citation, ...]:
    """The passages with these numbers. Numbers without a passage are ignored: a model may invent a [5]."""
    by_number = {passage.number: passage for passage in passages}
    return tuple(
        Citation(**by_number[number].model_dump(include=set(Citation.model_fields)))
        for number in sorted(by_number.keys() & set(numbers))
    )
