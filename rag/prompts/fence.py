"""Quoted material in prompts: what documents, web pages and models wrote stands between tags, and can't close them."""

import re
from collections.abc import Sequence

from rag.trace import Passage


def fenced(tag: str, text: str, **attributes: object) -> str:
    inner = re.sub(rf"<(?=\s*/?\s*{tag}\b)", "‹", text, flags=re.IGNORECASE)
    head = "".join(f' {name}="{_attribute(value)}"' for name, value in attributes.items())
    return f"<{tag}{head}>\n{inner}\n</{tag}>"


def passages_block(passages: Sequence[Passage]) -> str:
    return "\n".join(
        fenced("passage", passage.text, number=passage.number, title=place(passage)) for passage in passages
    )


def place(passage: Passage) -> str:
    """Where a passage stands: the document's title and the headings above it."""
    return " > ".join(dict.fromkeys((passage.title, *passage.headings)))


def _attribute(value: object) -> str:
    return re.sub(r'["<>\n]', " ", str(value).replace(" > ", " › "))
