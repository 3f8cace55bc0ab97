"""The markers [n] of an answer: checked where a model sets them, found where it doesn't.

Both kinds take an answer in pieces, as it streams, and give it back with markers; `written` is what came out so far.
`confidence` is the mean log-probability of its tokens, once it is whole and where the model tells.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from rag.models.service.no_answer import RefusalCut
from rag.text.language import language_of
from rag.text.overlap import overlap, shared_names
from rag.trace import Citation, Claim, Passage

MARKER = re.compile(r"\[(\d+)\]")
_WRITTEN_MARKER = re.compile(r"( *)[\[【［]\s*(\d+(?:\s*[,、，]\s*\d+)*)\s*[\]】］]")
_OPEN_MARKER = re.compile(r" *(?:[\[【［][\d\s,、，]*)?$")
"""with the spaces before it, which go when all of the marker does"""
_POINT = r"(?<![a-z]\.[a-z])\.(?=\n|\s+[^\sa-z\d])"
"""one that a sentence may begin after: not those of 'e.g. this' and 'ext. 2499'"""
_SENTENCE_END = re.compile(rf"[。！？!?]|{_POINT}|\n")
_OPEN_POINT = re.compile(r"\.[^\S\n]*$")
"""whether it ends the sentence shows with what follows"""
_CLAIM_END = re.compile(rf"(?:[。！？!?]|{_POINT}|\.(?=\[|\s*$)|\n)(?:\s*\[\d+\])*")
"""with the markers that stand behind a full stop: they belong to the sentence before it"""

LEAST_OVERLAP = 0.35
"""share of a sentence's words that a passage must have to count as its source: below it a refusal finds one"""
LEAST_SHARED_NAMES = 0.5
"""the same for its numbers and names, where passage and sentence are in different languages"""
QUESTION_WEIGHT = 0.2
"""a short answer ("2,500 yen") stands in several passages: the one that also speaks of the question is meant"""


class CitedText:
    """The answer of a model that cites: markers in one form, those that point to no passage dropped."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.written = ""
        self.confidence: float | None = None
        self.cited: list[int] = []
        self._numbers = {passage.number for passage in passages}
        self._refusal = RefusalCut()
        self._held = ""

    @property
    def refuses(self) -> bool:
        """It says that the passages don't hold the answer."""
        return self._refusal.stands_first or (self._refusal.was_written and not self.cited)

    def feed(self, piece: str) -> str:
        text = self._held + self._refusal.feed(piece)
        cut = _OPEN_MARKER.search(text).start()
        self._held = text[cut:]
        return self._pass_on(text[:cut])

    def end(self) -> str:
        text, self._held = self._held + self._refusal.end(), ""
        return self._pass_on(text)

    def _pass_on(self, text: str) -> str:
        shown = _WRITTEN_MARKER.sub(self._checked, text)
        self.written += shown
        return shown

    def _checked(self, marker: re.Match[str]) -> str:
        space, written = marker.groups()
        numbers = [int(number) for number in re.findall(r"\d+", written)]
        kept = [number for number in numbers if number in self._numbers]
        self.cited += [number for number in kept if number not in self.cited]
        return space + "".join(f"[{number}]" for number in kept) if kept else ""


class AttributedText:
    """The answer of a model that does not cite: each sentence gets the passage that it is most made of."""

    refuses = False
    """it has no leave to"""

    def __init__(self, question: str, passages: Sequence[Passage]) -> None:
        self.written = ""
        self.confidence: float | None = None
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
        self.written += shown
        return shown

    def end(self) -> str:
        shown = self._close("") + self._held
        self._held = ""
        self.written += shown
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


def marked(question: str, passages: Sequence[Passage], *, model_cites: bool) -> CitedText | AttributedText:
    return CitedText(passages) if model_cites else AttributedText(question, passages)


def unmarked(text: str) -> str:
    return re.sub(rf"\s*{MARKER.pattern}", "", text)


def claims(answer: str) -> Iterator[Claim]:
    """The sentences of an answer, each with the numbers that it cites."""
    start = 0
    for stop in [*(end.end() for end in _CLAIM_END.finditer(answer)), len(answer)]:
        sentence, start = answer[start:stop], stop
        if text := unmarked(sentence).strip():
            yield Claim(text=text, sources=tuple(dict.fromkeys(int(each) for each in MARKER.findall(sentence))))


def cited_passages(numbers: Iterable[int], passages: Iterable[Passage]) -> tuple[Citation, ...]:
    by_number = {passage.number: passage for passage in passages}
    return tuple(
        Citation(**by_number[number].model_dump(include=set(Citation.model_fields))) for number in sorted(set(numbers))
    )
