"""Streams an answer with citations: all markers get the same form, and markers without a passage are dropped."""

import re
from collections.abc import Sequence

from rag.models.chat_model import Answer
from rag.models.service.no_answer import NoAnswerFilter
from rag.trace.passages import Passage

# Both have a limited length, because a possible marker is matched again with each new piece.
_SPACES, _NUMBERS = " {0,20}", r"[\d\s,、，]{0,60}"
_MARKER = re.compile(rf"({_SPACES})[\[【［](?={_NUMBERS}[\]】］])\s*(\d+(?:\s*[,、，]\s*\d+)*)\s*[\]】］]")
_OPEN_MARKER = re.compile(rf"{_SPACES}(?:[\[【［]{_NUMBERS})?\Z")
"""with the spaces before it, which are dropped with the marker"""


class CitedText:
    """Takes an answer in pieces, and returns it with [n] after each statement of passage n."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._shown: list[str] = []
        self._cited: list[int] = []
        self._numbers = {passage.number for passage in passages}
        self._no_answer = NoAnswerFilter()
        self._held = ""

    @property
    def answer(self) -> Answer:
        """The answer so far."""
        token = self._no_answer
        is_no_answer = token.stands_first or (token.was_written and not self._cited)
        return Answer("".join(self._shown), tuple(self._cited), is_no_answer)

    def feed(self, piece: str) -> str:
        text = self._held + self._no_answer.feed(piece)
        # The pattern also matches the empty string at the end of any text.
        split = next(_OPEN_MARKER.finditer(text)).start()
        self._held = text[split:]
        return self._pass_on(text[:split])

    def end(self) -> str:
        text, self._held = self._held + self._no_answer.end(), ""
        return self._pass_on(text)

    def _pass_on(self, text: str) -> str:
        shown = _MARKER.sub(self._checked, text)
        self._shown.append(shown)
        return shown

    def _checked(self, marker: re.Match[str]) -> str:
        space, written = marker.groups()
        numbers = [int(number) for number in re.findall(r"\d+", written)]
        kept = [number for number in numbers if number in self._numbers]
        self._cited += [number for number in kept if number not in self._cited]
        return space + "".join(f"[{number}]" for number in kept) if kept else ""
