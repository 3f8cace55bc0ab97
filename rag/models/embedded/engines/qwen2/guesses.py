"""Guesses the next tokens of a reply, because answers copy much of their passages.

The network computes eight tokens in a third more time than one, so a good guess saves most of it, and a wrong one costs
little. The reply stays the same: each token is still chosen from its own logits. This is prompt lookup decoding.
"""

from collections.abc import Sequence

SEEN = 2
"""tokens that must have been together before"""

MOST = 7
"""tokens of a guess"""


class Guesses:
    def __init__(self, tokens: Sequence[int]) -> None:
        self._tokens: list[int] = []
        self._followed: dict[tuple[int, ...], int] = {}
        """where a text goes on after SEEN tokens, the last time"""
        for token in tokens:
            self.add(token)

    def add(self, token: int) -> None:
        if len(self._tokens) >= SEEN:
            self._followed[tuple(self._tokens[-SEEN:])] = len(self._tokens)
        self._tokens.append(token)

    def next(self) -> list[int]:
        """What followed the last tokens when they were together before; empty if they were not."""
        at = self._followed.get(tuple(self._tokens[-SEEN:]))
        return [] if at is None else self._tokens[at : at + MOST]
