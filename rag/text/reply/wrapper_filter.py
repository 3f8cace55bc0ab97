"""Takes off what some models write around a whole reply: the tags <answer> of those that are trained to close their
reasoning with them, such as Hunyuan, the role of Llama 3 where a server hides only the tokens around it, and a label
such as 回答： or **Answer:**.
"""

import re

CLOSING = "</answer>"
_LABELS = tuple(
    label
    for name in ("回答", "答え", "answer")
    for colon in (":", "：")
    for label in (f"{name}{colon}", f"**{name}{colon}**", f"**{name}**{colon}")
)
_OPENINGS = ("<answer>", "assistant\n\n", "【回答】", *_LABELS)
_OPENING = re.compile(rf"\s{{0,20}}+(?:{'|'.join(map(re.escape, _OPENINGS))})\s{{0,5}}+", re.IGNORECASE)
_LONGEST_OPENING = 40
"""characters with blanks; a longer beginning is text"""


class WrapperFilter:
    """Takes a reply in pieces, and returns it without its wrapper. Tags elsewhere stay."""

    def __init__(self) -> None:
        self._held = ""
        """what may be a tag, or a part of it"""
        self._has_begun = False
        self._is_tagged = False

    def feed(self, piece: str) -> str:
        text, self._held = self._held + piece, ""
        if not self._has_begun:
            if _may_be_opening(text):
                self._held = text
                return ""
            self._has_begun = True
            if opening := _OPENING.match(text):
                self._is_tagged = "<" in opening[0]
                text = text[opening.end() :]
        if not self._is_tagged:
            return text
        text = text.replace(CLOSING, "")
        last = text[text.rfind("<") :] if "<" in text else ""
        self._held = last if last and CLOSING.startswith(last) else ""
        return text.removesuffix(self._held)

    def end(self) -> str:
        return "" if _OPENING.fullmatch(self._held) else self._held


def _may_be_opening(text: str) -> bool:
    """Whether more of the text is needed to know it, or where it ends."""
    begun = text.lstrip().lower()
    is_possible = any(each.startswith(begun) for each in _OPENINGS) or _OPENING.fullmatch(text)
    return len(text) < _LONGEST_OPENING and bool(is_possible)
