"""Quoted material in prompts: text of documents, web pages and models stands between tags that it can't close.

A tag is recognised in every spelling that a model may read as a tag: full-width signs and letters, spaces, invisible
characters. So are the tokens for roles in chat templates, such as <|im_end|>, because a server may obey them anywhere.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby

from index_store.search.hits import TextLocation
from rag.text.namesakes import told_apart
from rag.trace.passages import Citation, Passage

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
_ROLE = re.compile(rf"[{_OPEN}]{_UNSEEN}(?=[|｜¦│])|\[(?=/?INST\])|<(?=</?SYS>>|/?s>)")
_HARMLESS = "«"


def fenced(tag: str, text: str, **attributes: object) -> str:
    head = "".join(f' {name}="{_attribute(value)}"' for name, value in attributes.items())
    return f"<{tag}{head}>\n{quoted(text, tag)}\n</{tag}>"


def quoted(text: str, *tags: str) -> str:
    """`text`, in which everything that looks like our tags or a chat role is made harmless. The rest is unchanged."""
    return _ROLE.sub(_HARMLESS, _tag_pattern((*TAGS, *tags)).sub(_HARMLESS, text))


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
    apart = told_apart(each for passage in passages for each in _with_copies(passage))
    return "\n".join(
        fenced(
            "passage",
            passage.as_read,
            number=passage.number,
            title=place(passage, apart),
            **_also(passage, apart),
            **_origin(passage),
        )
        for passage in passages
    )


MOST_ALSO = 2
"""further places of a passage that a model is told"""


def _also(passage: Citation, apart: Mapping[str, str]) -> dict[str, str]:
    _, *others = places(passage, apart)
    return {"also": "; ".join(others)} if others else {}


def _origin(passage: Citation) -> dict[str, str]:
    """For text from outside, so that a model can distinguish it from the documents and see its date."""
    if passage.origin == "documents":
        return {}
    return {"origin": passage.origin, **({"published": passage.published} if passage.published else {})}


_NO_NAMESAKES: Mapping[str, str] = {}

LONGEST_PLACE = 200
"""characters; whoever wrote a document chose its headings, and a prompt must not be full of them"""


def place(passage: Citation | TextLocation, apart: Mapping[str, str] = _NO_NAMESAKES) -> str:
    """The place of a passage: the document's title and the headings above it, without the middle if that is too long.
    `apart`: from `told_apart`.
    """
    whole = " > ".join(filter(None, (apart.get(passage.source), *titles_above(passage.title, passage.headings))))
    half = LONGEST_PLACE // 2
    return whole if len(whole) <= LONGEST_PLACE else f"{whole[:half]}…{whole[-half + 1 :]}"


def titles_above(title: str, headings: Sequence[str]) -> list[str]:
    """Title and headings, without those that only repeat the one above them."""
    return [part for part, _ in groupby((title, *headings))]


def places(passage: Citation, apart: Mapping[str, str] = _NO_NAMESAKES) -> list[str]:
    """Its place, and some where almost the same text stands: two headings may have the same rule."""
    named = (place(each, apart) for each in _with_copies(passage))
    return list(dict.fromkeys(named))[: 1 + MOST_ALSO]


def _with_copies(passage: Citation) -> tuple[Citation | TextLocation, ...]:
    return (passage, *passage.copies) if isinstance(passage, Passage) else (passage,)


def _attribute(value: object) -> str:
    text = quoted(unicodedata.normalize("NFKC", str(value).replace(" > ", " › ")))
    return re.sub(r'["<>\s\u2039\u3008\u27e8]|[\u0000-\u001f]', " ", text)
