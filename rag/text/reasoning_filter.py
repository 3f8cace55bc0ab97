"""Removes the reasoning at the start of a reply. Reasoning models such as Qwen3 or DeepSeek-R1 send it if their server
has no reasoning parser: in `<think>`, or only with the end `</think>` if their template puts the start into the prompt.
"""

import re
from typing import Literal

OPENING, CLOSING = "<think>", "</think>"

_SIGN = re.compile("`|</?think>")
_BROKEN_TAG = re.compile(r"(?:</?(?:t(?:h(?:i(?:nk?)?)?)?)?)?\Z")


class ReasoningFilter:
    """Takes a reply in pieces, and returns it without its reasoning."""

    def __init__(self) -> None:
        self.is_void = False
        """the latest piece showed that all before it, which was returned as the reply, is reasoning"""
        self._held = ""
        self._at: Literal["beginning", "reasoning", "unsure", "behind", "reply"] = "beginning"
        """unsure: the reply, or reasoning whose start is in the prompt"""
        self._is_code = False

    def feed(self, piece: str) -> str:
        self.is_void = False
        if self._at == "reply":
            return piece
        self._held += piece
        if self._at == "beginning":
            self._held = piece = self._held.lstrip()
            if OPENING.startswith(self._held):
                return ""
            self._at = "reasoning" if self._held.startswith(OPENING) else "unsure"
        if self._at == "unsure":
            self._look_for_end()
            if not self.is_void:
                return piece
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

    def _look_for_end(self) -> None:
        """A tag between backticks is part of a text about tags."""
        for sign in _SIGN.finditer(self._held):
            if sign[0] == "`":
                self._is_code = not self._is_code
            elif not self._is_code:
                self.is_void = sign[0] == CLOSING
                self._at, self._held = ("behind", self._held[sign.end() :]) if self.is_void else ("reply", "")
                return
        self._held = next(_BROKEN_TAG.finditer(self._held))[0]

    def end(self) -> str:
        """The rest; nothing if the reasoning has no end."""
        held, self._held = self._held, ""
        return "" if self._at in ("reasoning", "unsure") else held
