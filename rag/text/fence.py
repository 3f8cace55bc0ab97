"""Quoted material in prompts: text of documents, web pages and models stands between tags that it can't close.

A tag is recognised in all spellings that a model may take for one: full-width signs and letters, spaces, characters
that can't be seen. So are the tokens by which chat templates tell roles apart, such as <|im_end|>, which a server may
read as such wherever they stand.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

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
"""that quoted material may neither close nor open, whichever of them it stands in"""

_UNSEEN = (
    "[\\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e007f]*"
)
"""spaces, and characters that take no room"""
_OPEN = "<＜﹤‹〈⟨〈˂ᐸ❮"
"""that read as the beginning of a tag"""
_SLASH = "[/／⁄∕╱⧸\\\\＼]"
_ROLE = re.compile(rf"[{_OPEN}]{_UNSEEN}(?=[|｜¦│])|\[(?=/?INST\])|<(?=</?SYS>>|/?s>)")
_HARMLESS = "«"


def fenced(tag: str, text: str, **attributes: object) -> str:
    head = "".join(f' {name}="{_attribute(value)}"' for name, value in attributes.items())
    return f"<{tag}{head}>\n{quoted(text, tag)}\n</{tag}>"


def quoted(text: str, *tags: str) -> str:
    """`text` with all in it that could pass for one of our tags, or for a role of a chat, made harmless; the rest of
    it stays as it is.
    """
    return _ROLE.sub(_HARMLESS, _tag_pattern((*TAGS, *tags)).sub(_HARMLESS, text))


@cache
def _tag_pattern(tags: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(_UNSEEN.join(map(_letter, tag)) for tag in dict.fromkeys(tags))
    return re.compile(rf"[{_OPEN}](?={_UNSEEN}(?:{_SLASH}{_UNSEEN})?(?:{names})(?!\w))", re.IGNORECASE)


def _letter(letter: str) -> str:
    """It, and its full-width look-alikes."""
    if letter.isascii() and letter.isalpha():
        return f"[{letter}{letter.upper()}{chr(ord(letter) + 0xFEE0)}{chr(ord(letter.upper()) + 0xFEE0)}]"
    return re.escape(letter)


def passages_block(passages: Sequence[Citation]) -> str:
    return "\n".join(
        fenced("passage", passage.text, number=passage.number, title=place(passage), **_origin(passage))
        for passage in passages
    )


def _origin(passage: Citation) -> dict[str, str]:
    """Of what is from outside, so that a model can tell it from the documents, and how old it is."""
    if passage.origin == "documents":
        return {}
    return {"origin": passage.origin, **({"published": passage.published} if passage.published else {})}


def place(passage: Citation) -> str:
    """Where a passage stands: the document's title and the headings above it."""
    return " > ".join(dict.fromkeys((passage.title, *passage.headings)))


def _attribute(value: object) -> str:
    text = quoted(unicodedata.normalize("NFKC", str(value).replace(" > ", " › ")))
    return re.sub(r'["<>\s\u2039\u3008\u27e8]|[\u0000-\u001f]', " ", text)
