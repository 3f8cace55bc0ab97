"""Whether words are in a text, as a search of a list compares them: whatever their case and width."""

import unicodedata

LONGEST_WORDS = 100
"""characters of a search by SQL; SQLite refuses thousands of words"""


def folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def has_words(text: str, words: str) -> bool:
    """Whether all of the words are in the text, in any order. No words are in every text."""
    text = folded(text)
    return all(word in text for word in folded(words).split())
