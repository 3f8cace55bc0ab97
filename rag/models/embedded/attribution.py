"""An answer of a model that does not cite: each sentence gets the passage that it is most made of."""

import re
from collections.abc import Sequence

from rag.models.embedded.names import shared_names
from rag.text.citations import FULL_STOP
from rag.text.language import language_of
from rag.text.overlap import overlap
from rag.trace.passages import Passage

_SENTENCE_END = re.compile(rf"[。！？!?]|{FULL_STOP}|\n")
_OPEN_POINT = re.compile(r"\.[^\S\n]*$")
"""whether it ends the sentence shows with what follows"""

LEAST_OVERLAP = 0.35
"""share of a sentence's words that a passage must have to count as its source: below it "not found" finds one"""
LEAST_SHARED_NAMES = 0.5
"""the same for its numbers and names, where passage and sentence are in different languages"""
QUESTION_WEIGHT = 0.2
"""a short answer ("2,500 yen") stands in several passages: the one that also has the question's words is meant"""


class AttributedText:
    """Takes an answer in pieces as it streams, and gives it back with [n] behind each sentence that has a source."""

    def __init__(self, question: str, passages: Sequence[Passage]) -> None:
        self.text = ""
        """what came out so far"""
        self.cited: list[int] = []
        self._question = question
        self._passages = passages
        self._sentence = ""
        self._held = ""

    def feed(self, piece: str) -> str:
        text, shown = self._held + piece, ""
        self._held = ""
        while end := _SENTENCE_END.search(f"{self._sentence}{text}", begun := len(self._sentence)):
            shown += self._close(text[: end.start() - begun]) + end[0]
            text = text[end.end() - begun :]
        if point := _OPEN_POINT.search(text):
            text, self._held = text[: point.start()], point[0]
        self._sentence += text
        shown += text
        self.text += shown
        return shown

    def end(self) -> str:
        shown = self._close("") + self._held
        self._held = ""
        self.text += shown
        return shown

    def _close(self, rest: str) -> str:
        sentence, self._sentence = self._sentence + rest, ""
        number = source_of(sentence, self._question, self._passages)
        if number is None:
            return rest
        if number not in self.cited:
            self.cited.append(number)
        return f"{rest}[{number}]"


def source_of(sentence: str, question: str, passages: Sequence[Passage]) -> int | None:
    """The number of the passage that it is most made of, if it is of any."""

    def likeness(passage: Passage) -> float:
        place = " ".join((passage.title, *passage.headings))
        return _share(sentence, question, passage) + QUESTION_WEIGHT * overlap(question, f"{place} {passage.text}")

    sources = [passage for passage in passages if _share(sentence, question, passage)]
    return max(sources, key=likeness).number if sources else None


def _share(sentence: str, question: str, passage: Passage) -> float:
    """0 where it is too little for a source."""
    if (share := overlap(sentence, passage.text)) >= LEAST_OVERLAP:
        return share
    if language_of(sentence) == language_of(passage.text):
        return 0.0
    share = shared_names(sentence, passage.text, known=question)
    return share if share >= LEAST_SHARED_NAMES else 0.0
