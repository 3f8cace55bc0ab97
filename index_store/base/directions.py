"""Signs that turn the direction of the text after them. With one in its title, a web page shows a false host behind it;
with one in a document, its numbers are read from right to left.

The signs for a single character (U+200E, U+200F) stay: they turn no other text.
"""

import re

_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def without_turns(text: str) -> str:
    return _TURNS.sub("", text)
