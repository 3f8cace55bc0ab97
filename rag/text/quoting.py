"""Quoted material in prompts: text of documents, web pages and models stands between tags that it can't close.

A tag is recognised in every spelling that a model may read as a tag: full-width signs and letters, spaces, invisible
characters. So are the tokens for roles in chat templates, such as <|im_end|>, because a server may obey them anywhere.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache

from rag.text.namesakes import told_apart
from rag.text.places import place, places, with_copies
from rag.trace.passages import Citation

TAGS = (
    "passage",
    "answer",
    "rejected",
    "turn",
    "unsupported",
    "found",
    "reason",
    "system",
    "user",
    "assistant",
    "instructions",
)
"""tags that quoted material may neither open nor close, anywhere"""

_UNSEEN = (
    "[\\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e007f]*"
)
"""spaces and invisible characters"""
_OPEN = "<＜﹤‹〈⟨〈˂ᐸ❮"
"""characters that look like the start of a tag"""
_SLASH = "[/／⁄∕╱⧸\\\\＼]"
_BAR = "[|｜¦│]"
_ROLE = re.compile(
    rf"[{_OPEN}](?={_UNSEEN}{_BAR}(?:\S|{_UNSEEN}\w+{_UNSEEN}{_BAR}{_UNSEEN}[>＞﹥›〉⟩]))"
    r"|\[(?=/?INST\])|<(?=</?SYS>>|/?s>)"
)
"""not the sign in a cell of a table: | < | less |"""
HARMLESS = "«"
"""stands for the first character of what looks like a tag"""


def in_tags(tag: str, text: str, **attributes: object) -> str:
    head = "".join(f' {name}="{_attribute(value)}"' for name, value in attributes.items())
    return f"<{tag}{head}>\n{quoted(text, tag)}\n</{tag}>"


def quoted(text: str, *tags: str) -> str:
    """`text`, in which everything that looks like our tags or a chat role is made harmless. The rest is unchanged."""
    return _ROLE.sub(HARMLESS, _tag_pattern((*TAGS, *tags)).sub(HARMLESS, text))


@cache
def _tag_pattern(tags: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(_UNSEEN.join(map(_letter, tag)) for tag in dict.fromkeys(tags))
    return re.compile(rf"[{_OPEN}](?={_UNSEEN}(?:{_SLASH}{_UNSEEN})?(?:{names})(?!\w))", re.IGNORECASE)


def _letter(letter: str) -> str:
    """The letter, and its full-width forms."""
    if letter.isascii() and letter.isalpha():
        return f"[{letter}{letter.upper()}{chr(ord(letter) + 0xFEE0)}{chr(ord(letter.upper()) + 0xFEE0)}]"
    return re.escape(letter)


def passages_block(passages: Sequence[Citation]) -> str:
    apart = told_apart(each for passage in passages for each in with_copies(passage))
    return "\n".join(
        in_tags(
            "passage",
            passage.as_read,
            number=passage.number,
            title=place(passage, apart),
            **_also(passage, apart),
            **_origin(passage),
        )
        for passage in passages
    )


def _also(passage: Citation, apart: Mapping[str, str]) -> dict[str, str]:
    _, *others = places(passage, apart)
    return {"also": "; ".join(others)} if others else {}


def _origin(passage: Citation) -> dict[str, str]:
    """For text from outside, so that a model can distinguish it from the documents and see its date."""
    if passage.origin == "documents":
        return {}
    return {"origin": passage.origin, **({"published": passage.published} if passage.published else {})}


def _attribute(value: object) -> str:
    text = quoted(unicodedata.normalize("NFKC", str(value).replace(" > ", " › ")))
    return re.sub(r'["<>\s\u2039\u3008\u27e8]|[\u0000-\u001f]', " ", text)
