"""Removes the tokens that end a reply, and further turns behind them, which the model writes for others. A server whose
chat template does not fit its model sends them as text.
"""

import re

TOKENS = (
    "</s>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eot|>", "<|end_of_text|>", "<end_of_turn>", "<eos>",
    "<turn|>", "<|end|>", "<|return|>", "<|END_OF_TURN_TOKEN|>", "<|end_of_turn|>", "<｜end▁of▁sentence｜>",
)  # fmt: skip
"""of Mistral, Qwen, Llama 3 and 4, Gemma, Gemma 4, Phi, gpt-oss, Command R, OpenChat and DeepSeek"""

TURNS = ("<|im_start|>", "<|start_header_id|>", "<start_of_turn>", "<|turn>", "<|start|>", "<|user|>")
"""begin another turn"""

_TOKEN = re.compile(f"({'|'.join(map(re.escape, (*TOKENS, *TURNS)))})")


class EndTokenFilter:
    """Takes a reply in pieces, and returns it without the tokens at its end. Elsewhere they are part of a text about
    them, or close a tag of HTML.
    """

    def __init__(self) -> None:
        self._held = ""
        """tokens and the spaces behind them, which may be the end of the reply"""
        self._begun = ""
        """what may become a token"""
        self._shows_turns = False
        """it is about the form of prompts"""
        self._is_over = False
        """another turn has begun"""

    def feed(self, piece: str) -> str:
        if self._is_over:
            return ""
        text, shown = self._begun + piece, ""
        last = text[text.rfind("<") :] if "<" in text else ""
        self._begun = last if any(each.startswith(last) and each != last for each in (*TOKENS, *TURNS)) else ""
        for part in _TOKEN.split(text.removesuffix(self._begun)):
            if part in TURNS and self._held and not self._shows_turns:
                self._is_over = True
                break
            self._shows_turns |= part in TURNS
            if part in TOKENS or (self._held and not part.strip()):
                self._held += part
            elif part:
                shown += self._held + part
                self._held = ""
        return shown

    def end(self) -> str:
        return self._held + self._begun if self._begun and not self._is_over else ""
