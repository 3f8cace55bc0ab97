"""Removes the reasoning at the start of a reply. Reasoning models such as Qwen3 or Magistral send it if their server
has no reasoning parser: between tags, or only with the end `</think>` if their template puts the start into the prompt.
gpt-oss sends it in channels before the final one, Gemma 4 in one, which is empty where it was told not to reason.
"""

import re
from typing import Literal

OPENING, CLOSING = "<think>", "</think>"
_CHANNELS = {
    "<|start|>": "assistant",
    "<|channel|>analysis": "<|end|>",
    "<|channel|>commentary": "<|end|>",
    "<|channel|>final": "<|message|>",
}
"""of gpt-oss: each part but the text of the final channel"""

_WORDS = ("think", "thinking", "thought", "reasoning", "seed:think")
"""thought: Gemini and EXAONE; reasoning: Reka; seed:think: Seed-OSS"""

TAGS = {
    **{f"<{word}>": f"</{word}>" for word in _WORDS},
    "[THINK]": "[/THINK]",
    "<|channel>": "<channel|>",
    **_CHANNELS,
}
"""the start of reasoning, and its end"""

_DATA = ("{", "```")
"""beginnings of a reply that is no prose: a closing tag in it is quoted, for example from a passage"""

_SPACES = re.compile(r"\s*+")
_SIGN = re.compile(f"`|{OPENING}|[\n。.!?！？]{CLOSING}")
"""DeepSeek-R1 and Qwen3 write the end at the start of a line, others directly behind a sentence. Elsewhere it is part
of a text about tags, or of an attack: a document may have it, and a reply may quote that."""
_BROKEN_SIGN = re.compile(r"[\n。.!?！？]?(?:</?(?:t(?:h(?:i(?:nk?)?)?)?)?)?\Z")


class ReasoningFilter:
    """Takes a reply in pieces, and returns it without its reasoning."""

    def __init__(self) -> None:
        self.is_void = False
        """the latest piece showed that all before it, which was returned as the reply, is reasoning"""
        self._held = ""
        self._at: Literal["beginning", "unsure", "reply"] = "beginning"
        """beginning: of the reply, or of what follows reasoning; unsure: the reply, or reasoning whose start is in the
        prompt"""
        self._closing = ""
        """ends the reasoning that the reply is in; empty if it is in none"""
        self._has_reasoned = False
        self._is_code = False

    def feed(self, piece: str) -> str:
        self.is_void = False
        if self._at == "reply":
            return piece
        self._held += piece
        return self._read_beginning() if self._at == "beginning" else self._look_for_end(piece)

    def end(self) -> str:
        """The rest; nothing if the reasoning has no end."""
        return "" if self._closing or self._at == "unsure" else self._take_held()

    def _read_beginning(self) -> str:
        self._skip_reasoning()
        if self._closing or any(each.startswith(self._held) for each in (*TAGS, *_DATA)):
            return ""
        if self._has_reasoned or self._held.startswith(_DATA):
            self._at = "reply"
            return self._take_held()
        self._at = "unsure"
        begun, self._held = self._held, f"\n{self._held}"
        return self._look_for_end(begun)

    def _skip_reasoning(self) -> None:
        """Some models reason twice."""
        at = 0
        while True:
            if self._closing:
                end = self._held.find(self._closing, at)
                if end == -1:
                    self._held = self._held[max(at, len(self._held) - len(self._closing)) :]
                    return
                at = end + len(self._closing)
            if spaces := _SPACES.match(self._held, at):
                at = spaces.end()
            opening = next((each for each in TAGS if self._held.startswith(each, at)), "")
            self._closing = TAGS.get(opening, "")
            if not opening:
                self._held = self._held[at:]
                return
            self._has_reasoned = True
            at += len(opening)

    def _look_for_end(self, piece: str) -> str:
        """`piece` if the reply goes on. A tag between backticks is part of a text about tags."""
        for sign in _SIGN.finditer(self._held):
            if sign[0] == "`":
                self._is_code = not self._is_code
            elif self._is_code:
                continue
            elif sign[0] == OPENING:
                self._at, self._held = "reply", ""
                return piece
            else:
                self.is_void = self._has_reasoned = True
                self._at, self._held = "beginning", self._held[sign.end() :]
                return self._read_beginning()
        self._held = next(_BROKEN_SIGN.finditer(self._held))[0]
        return piece

    def _take_held(self) -> str:
        held, self._held = self._held, ""
        return held
