"""What is said of a document that is read only in part."""

import re

from pages.words.say import say

_NUMBERS = re.compile(r"[\d, -]+…?")


def told_without_text(pages: str) -> str:
    """A sentence with what to do. `pages`: numbers of pages or slides, or names of a mail's attachments, as a loader
    tells them.
    """
    is_of_pages = _NUMBERS.fullmatch(pages)
    return say("document.pages_without_text" if is_of_pages else "document.attachments_without_text", pages=pages)
