"""Makes the text of a model valid. JSON may contain half of a character, a surrogate of UTF-16: a server that counts in
UTF-16 may split an emoji between two pieces, and a model may write an escape such as `\\ud83d` by itself. No such text
can be stored or shown.
"""

import re

_FIRST_HALF = re.compile(r"[\ud800-\udbff]\Z")


def whole_characters(text: str) -> str:
    """`text` with the halves of characters joined; a half alone becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class SurrogateFilter:
    """Takes a text in pieces, and returns it in whole characters."""

    def __init__(self) -> None:
        self._held = ""
        """the first half of a character at the end of the latest piece"""

    def feed(self, piece: str) -> str:
        text = self._held + piece
        half = _FIRST_HALF.search(text)
        self._held = half[0] if half else ""
        return whole_characters(text.removesuffix(self._held))

    def end(self) -> str:
        rest, self._held = self._held, ""
        return whole_characters(rest)
