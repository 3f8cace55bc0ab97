"""The first word of an answer or a query, made whole.

The model writes 宅勤務 for the question's 在宅勤務: 在 alone is a word of Chinese, which it takes for a preposition.
"""

import re
from collections.abc import Sequence

from rag.trace.passages import Passage

_WORD = re.compile(r"[\u3400-\u9fff々]+")
_UNFINISHED = re.compile(r"\s*[\u3400-\u9fff々]*\Z")

LONGEST = 20
"""characters that are held back at most, until the word ends"""
LEAST = 2
"""characters that the answer must share with the question's word"""
NEGATIONS = frozenset("不非無未")
"""an answer may leave them out on purpose: to 不要, necessary or not, the answer may be 要"""


class FirstWord:
    """Takes an answer in pieces while it streams, and returns it with the character that its first word lacks."""

    def __init__(self, question: str, passages: Sequence[Passage]) -> None:
        self._question = question
        self._passages = passages
        self._held = ""
        self._is_over = False

    def feed(self, piece: str) -> str:
        if self._is_over:
            return piece
        self._held += piece
        if _UNFINISHED.match(self._held) and len(self._held) < LONGEST:
            return ""
        return self.end()

    def end(self) -> str:
        """What is still held back."""
        held, self._held, self._is_over = self._held, "", True
        word = _WORD.match(held)
        return held if word is None else self._lacking(word[0]) + held

    def _lacking(self, word: str) -> str:
        """The first character of the question's word whose rest the answer begins with, or nothing.

        If the rest is a word of its own somewhere (社員 of 全社員), nothing is lacking.
        """
        asked = set(_WORD.findall(self._question))
        lacking = {whole[0]: shared for whole in asked if (shared := _shared(word, whole[1:]))}
        if len(lacking) != 1:
            return ""
        [(first, shared)] = lacking.items()
        read = {found for passage in self._passages for found in _WORD.findall(passage.as_read)}
        is_a_word = any(found.startswith(shared) for found in asked | read)
        return "" if is_a_word or first in NEGATIONS else first


def with_first_word_whole(question: str, query: str) -> str:
    """The same for a query that the model wrote for the question."""
    first = FirstWord(question, [])
    return first.feed(query) + first.end()


def _shared(word: str, rest: str) -> str:
    """The beginning that both share, if it is the whole of one of them; else nothing."""
    shared = min(word, rest, key=len)
    return shared if len(shared) >= LEAST and word.startswith(shared) and rest.startswith(shared) else ""
