"""The glossary of an index: terms that stay one word, such as names of products, screens, items."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Self

from index_store.full_text.folding import fold

LONGEST = 64
"""characters of a folded term; longer lines are no terms and are left out"""

_LATIN_END = "\u0250"
"""the first character after the Latin letters: in Latin text, a term must start and end at a word border"""

_ENDING = re.compile(r"(?<=[a-z])(?:s|(?<=[hosxz])es|['’]s)(?![a-z\d])")
"""of an English plural or genitive: reports, batches, the badge's"""

_SPACE = re.compile(r"\s")
_IN_Y = re.compile("[a-z][^\\Waeiou]y$")


class Glossary:
    """Terms are compared folded: width, case and old kanji make no difference."""

    def __init__(self, terms: Iterable[str] = ()) -> None:
        folded = {_clean(term) for term in terms}
        self.terms = tuple(sorted(term for term in folded if 0 < len(term) <= LONGEST))
        self._by_first: dict[str, list[str]] = {}
        for term in sorted(self.terms, key=len, reverse=True):
            self._by_first.setdefault(term[0], []).append(term)

    @classmethod
    def of_lines(cls, text: str) -> Self:
        """Reads one term per line and skips blank lines."""
        return cls(text.splitlines())

    @property
    def id(self) -> str:
        """The same for the same terms."""
        return hashlib.sha256("\n".join(self.terms).encode()).hexdigest()[:16]

    def find(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Spans of folded text that are terms, and the terms: from left to right, the longest first, without overlaps.
        An English plural or genitive is its term.
        """
        at = 0
        text = _SPACE.sub(" ", text)  # a text may be wrapped within a term
        while self._by_first and at < len(text):
            term, end = next(self._beginning_at(text, at), ("", at + 1))
            if term:
                yield at, end, term
            at = end

    def _beginning_at(self, text: str, at: int) -> Iterator[tuple[str, int]]:
        """Terms, and where they end."""
        terms = self._by_first.get(text[at])
        if terms and not _is_inside_a_word(text, at):
            for term in terms:
                for form in _forms(term):
                    end = at + len(form)
                    if text.startswith(form, at):
                        end = _behind_ending(text, end)
                        if not _is_inside_a_word(text, end):
                            yield term, end


def _clean(term: str) -> str:
    return " ".join("".join(each if each.isprintable() else " " for each in fold(term).text).split())


def _forms(term: str) -> tuple[str, ...]:
    """With the plural of one in y: policy, policies."""
    return (term, f"{term[:-1]}ies") if _IN_Y.search(term) else (term,)


def _behind_ending(text: str, at: int) -> int:
    ending = _ENDING.match(text, at)
    return ending.end() if ending else at


def _is_inside_a_word(text: str, at: int) -> bool:
    """Whether Latin letters or digits are on both sides: art is not a term in party, nor X1 in X10."""
    sides = text[at - 1 : at + 1] if at else ""
    return len(sides) == 2 and all(side.isalnum() and side < _LATIN_END for side in sides)
