"""Removes Unicode's bidi controls, which turn the direction of the text after them.

With one in its title, a web page shows a false host behind it; with one in a document, its numbers are read from right
to left.

The marks for a single character (U+200E, U+200F) stay: they turn no other text.
"""

import re

_CONTROLS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def without_bidi_controls(text: str) -> str:
    return _CONTROLS.sub("", text)
