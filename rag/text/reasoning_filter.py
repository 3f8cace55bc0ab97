"""Removes the reasoning in `<think>` at the start of a reply. Reasoning models such as Qwen3 or DeepSeek-R1 send it if
their server has no reasoning parser.
"""

from typing import Literal

OPENING, CLOSING = "<think>", "</think>"


class ReasoningFilter:
    """Takes a reply in pieces, and returns it without its reasoning."""

    def __init__(self) -> None:
        self._held = ""
        self._at: Literal["beginning", "reasoning", "behind", "reply"] = "beginning"

    def feed(self, piece: str) -> str:
        if self._at == "reply":
            return piece
        self._held += piece
        if self._at == "beginning":
            self._held = self._held.lstrip()
            if OPENING.startswith(self._held):
                return ""
            self._at = "reasoning" if self._held.startswith(OPENING) else "reply"
        if self._at == "reasoning":
            _, closing, behind = self._held.partition(CLOSING)
            self._held = behind if closing else self._held[-len(CLOSING) :]
            if not closing:
                return ""
            self._at = "behind"
        if self._at == "behind":
            self._held = self._held.lstrip()
            if not self._held:
                return ""
            self._at = "reply"
        return self.end()

    def end(self) -> str:
        """The rest; nothing if the reasoning has no end."""
        held, self._held = self._held, ""
        return "" if self._at == "reasoning" else held
