"""Citations for a model that does not cite: each sentence gets the passage with which it shares most words."""

import re
from collections.abc import Sequence

from rag.models.embedded.text.names import shared_names
from rag.text.citations import FULL_STOP, LOOKED_BACK_AT
from rag.text.language import language_of
from rag.text.overlap import overlap
from rag.trace.passages import Passage

_SENTENCE_END = re.compile(rf"[。！？!?]|{FULL_STOP}|\|(?=[^\S\n]*+\n)|\n")
"""with the bar that ends a row: behind it, a number would be one more cell, and the table none"""
_OPEN_POINT = re.compile(r"[.|][^\S\n]*+\Z")
"""the next text shows whether it ends the sentence"""
_STOPS = frozenset("。！？")
"""which end no sentence within brackets, as in 社員（役員を除く。）は"""
_OPENING, _CLOSING = "（「『", "）」』"
_FENCE = "```"

LEAST_OVERLAP = 0.35
"""share of a sentence's words that its source must contain; with a lower one, even "not found" gets a source"""
LEAST_SHARED_NAMES = 0.5
"""the same for its numbers and names, if passage and sentence are in different languages"""
QUESTION_WEIGHT = 0.2
"""a short answer ("2,500 yen") may be in several passages; then the question's words decide"""


class AttributedText:
    """Takes an answer in pieces while it streams, and returns it with [n] after each sentence that has a source."""

    def __init__(self, question: str, passages: Sequence[Passage]) -> None:
        self.cited: list[int] = []
        self._question = question
        self._passages = passages
        # Lists, because joining with each piece would take time quadratic in the length of the answer.
        self._shown: list[str] = []
        self._sentence: list[str] = []
        self._held: list[str] = []
        self._before = ""
        self._depth = 0
        """brackets of the sentence that are open"""
        self._code: list[str] | None = None
        """the lines of the block of code in which the text is"""

    @property
    def text(self) -> str:
        """The text returned so far."""
        return "".join(self._shown)

    def feed(self, piece: str) -> str:
        self._held.append(piece)
        if len(self._held) > 1 and "\n" not in piece and not piece.strip():
            return ""  # spaces after a point decide nothing yet
        text, start, shown = self._before + "".join(self._held), len(self._before), list[str]()
        at = start
        for end in _SENTENCE_END.finditer(text, start):
            self._depth += _opened(text[at : end.start()])
            at = end.end()
            if end[0] in _STOPS and self._depth > 0:
                continue
            shown += self._close(text[start : end.start()]), end[0]
            start, self._depth = at, 0
        point = _OPEN_POINT.search(text, start)
        stop = point.start() if point else len(text)
        self._held = [point[0]] if point else []
        self._before = text[max(0, stop - LOOKED_BACK_AT) : stop]
        self._depth += _opened(text[at:stop])
        self._sentence.append(text[start:stop])
        shown.append(text[start:stop])
        self._shown += shown
        return "".join(shown)

    def end(self) -> str:
        shown = self._close("") + "".join(self._held)
        self._held = []
        self._shown.append(shown)
        return shown

    def _close(self, rest: str) -> str:
        sentence = "".join((*self._sentence, rest))
        self._sentence = []
        if self._code is not None or _FENCE in sentence:
            return rest + self._read_code(sentence)
        number = source_of(sentence, self._question, self._passages) if sentence.strip() else None
        if number is None:
            return rest
        if number not in self.cited:
            self.cited.append(number)
        return f"{rest}[{number}]"

    def _read_code(self, line: str) -> str:
        """The number of a block of code, on the line below it: in it, a number would be a part of a command."""
        if line.count(_FENCE) % 2 == 0:
            if self._code is not None:
                self._code.append(line)
            return ""
        code, self._code = self._code, [] if self._code is None else None
        number = source_of("\n".join(code), self._question, self._passages) if code else None
        if number is None or number in self.cited:
            return ""
        self.cited.append(number)
        return f"\n[{number}]"


def _opened(text: str) -> int:
    return sum(map(text.count, _OPENING)) - sum(map(text.count, _CLOSING))


def source_of(sentence: str, question: str, passages: Sequence[Passage]) -> int | None:
    """The number of the passage from which the sentence comes, or None."""

    def likeness(passage: Passage) -> float:
        place = " ".join((passage.title, *passage.headings))
        return _share(sentence, question, passage) + QUESTION_WEIGHT * overlap(question, f"{place} {passage.as_read}")

    sources = [passage for passage in passages if _share(sentence, question, passage)]
    return max(sources, key=likeness).number if sources else None


def _share(sentence: str, question: str, passage: Passage) -> float:
    """0 if it is too little for a source."""
    if (share := overlap(sentence, passage.as_read)) >= LEAST_OVERLAP:
        return share
    if language_of(sentence) == language_of(passage.text):
        return 0.0
    share = shared_names(sentence, passage.as_read, known=question)
    return share if share >= LEAST_SHARED_NAMES else 0.0
