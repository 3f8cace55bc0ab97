"""Streams an answer with citations: all markers get the same form, and markers without a passage are dropped.

Code stays as it is: its [0] is no marker. Nor are other numbers in brackets, such as [0, 100].
"""

import re
from collections.abc import Iterable, Sequence

from rag.models.chat_model import Answer
from rag.models.service.json_answer import JsonAnswerFilter
from rag.models.service.no_answer import NoAnswerFilter, says_only_that
from rag.models.service.whole_fence import WholeFenceFilter
from rag.text.code import CodeSplitter, Part
from rag.trace.passages import Passage

MOST_IN_RANGE = 10
"""numbers; a wider range is no marker, nor is one that begins with the number of no passage, such as [2019-2021]"""

LARGEST_INVENTED = 9
"""A model may invent a [5] for four passages. A larger number, such as that of ISO [9001], is text."""

# All have a limited length, because a possible marker is matched again with each new piece.
_SPACES, _NUMBERS = " {0,20}", r"[\d\s,、，;；・&と及びおよ^~〜～‐–—−－:：資料番号出典文書参照根拠引用A-Za-z_.#-]{0,60}"
_PART = r"(?:(?:section|sec\.|article|art\.|clause|chapter|table|appendix) ?|別?[表図] ?|別紙 ?|様式 ?)(?=\d|[A-Z]\b)"
_SQUARE, _ROUND = r"\[\]【】［］", "()（）"


def _place(brackets: str) -> str:
    """A place in a passage behind its number: [1, p. 3], [1、第5条], [1, Section 5], [1、別表2], [1、3ページ] and, of
    models of OpenAI, 【1†L3-L5】 and 【2†source】.
    """
    return (
        rf"(?:†[^{brackets}\n]{{0,40}}|[,、]? ?(?:pp?\.|page|§|第|{_PART})[^{brackets}\n,、;；]{{0,20}}"
        r"|を?参照|より(?:引用)?"
        r"|[,、]? ?\d{1,4}(?:[~〜～‐–—−－-]\d{1,4})? ?(?:ページ|頁)目?)?"
    )


def _title(brackets: str) -> str:
    """What a passage is called, behind its label and number: [資料1: 旅費規程]; [1: yes, 2: no] is text of a form."""
    return rf"(?: ?[:：]| -) ?(?![\d\s])[^{brackets}\n:：]{{1,80}}"


_LABEL = (
    r"(?:資料(?:番号)?|番号|出典|文書|参照|根拠|引用|(?:passage|source|document|doc|reference|ref|cite|citation)s?)"
    r"(?:\s?(?:no\.?|number|#)|\.)?+"
)
"""cite and citation: Gemini and DeepSeek are trained to write [cite: 1] and [citation:1], whatever the prompt says"""
_NUMBER = rf"(?:{_LABEL}\s*+(?:[:：]\s*+)?){{0,2}}\d++"
"""also behind two labels: [出典: 資料1]"""
_ITEM = rf"(?:\^\d++|{_NUMBER}(?:\s*+[~〜～‐–—−－-]\s*+{_NUMBER})?)"
_AND = r"(?:\s*+(?:[,、，;；・&と]|及び|および|and\b))+\s*+"
_LEADS = r"(?:参照|根拠)\s?[:：]\s?"
_NAMED = rf"(?:{_LEADS})?(?:資料|出典|(?:passage|source)s?)"
"""what makes a marker of numbers in round brackets, （資料1）: a number alone is that of a list"""
_MARKER = re.compile(
    rf"({_SPACES})(?:\\?[\[【［](?:(?={_NUMBERS}{_place(_SQUARE)}\\?[\]】］])"
    rf"\s*+({_ITEM}(?:{_AND}{_ITEM})*)\s*+{_place(_SQUARE)}|({_LABEL}\s?\d{{1,3}}){_title(_SQUARE)})\\?[\]】］]"
    rf"|[(（](?={_NAMED})(?:({_ITEM}(?:{_AND}{_ITEM})*)\s*+{_place(_ROUND)}"
    rf"|({_LABEL}\s?\d{{1,3}}){_title(_ROUND)})[)）])",
    re.IGNORECASE,
)
_ITEMS = re.compile(_ITEM, re.IGNORECASE)
_CITED_FROM = re.compile(r"\[cite_(?:start|end)\]")
"""where Gemini begins and ends what a marker is for"""
_OPEN_NAME = (
    rf"(?:参照?|根拠?|参照\s|根拠\s)|(?:{_LEADS})?(?:資?|出?|p(?:a(?:s(?:s(?:ag?)?)?)?)?|s(?:o(?:u(?:rc?)?)?)?)"
)
"""the beginning of `_NAMED`"""
_OPEN_PAGE = r"(?:を?参?|より?引?|(?:ペー?ジ?|頁)?目?|(?:別[表図]?|[表図]|別紙|様式?) ?)"
_OPEN_MARKER = re.compile(
    rf"{_SPACES}(?:\\|\\?[\[【［]{_NUMBERS}(?:{_place(_SQUARE)}|{_title(_SQUARE)}|{_OPEN_PAGE})\\?"
    rf"|[(（](?:{_OPEN_NAME}|{_NAMED}{_NUMBERS}(?:{_place(_ROUND)}|{_title(_ROUND)}|{_OPEN_PAGE})))?\Z",
    re.IGNORECASE,
)
"""with the spaces before it, which are dropped with the marker"""


class CitedText:
    """Takes an answer in pieces, and returns it with [n] after each statement of passage n."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._shown: list[str] = []
        self._cited: list[int] = []
        self._numbers = {passage.number for passage in passages}
        self._largest = max({LARGEST_INVENTED, *self._numbers})
        self._object = JsonAnswerFilter()
        self._fence = WholeFenceFilter()
        self._no_answer = NoAnswerFilter()
        self._code = CodeSplitter()
        self._held = ""

    @property
    def answer(self) -> Answer:
        """The answer so far."""
        token, text = self._no_answer, "".join(self._shown)
        is_said = token.was_written or (bool(self._numbers) and says_only_that(text))
        return Answer(text, tuple(self._cited), token.stands_first or (is_said and not self._cited))

    def feed(self, piece: str) -> str:
        return self._read(self._code.feed(self._no_answer.feed(self._fence.feed(self._object.feed(piece)))))

    def end(self) -> str:
        whole = self._fence.feed(self._object.end()) + self._fence.end()
        ended = self._no_answer.feed(whole) + self._no_answer.end()
        rest = self._code.feed(ended) + self._code.end()
        return self._read(rest) + self._pass_on(self._take_held())

    def _read(self, parts: Iterable[Part]) -> str:
        return "".join(map(self._pass_part, parts))

    def _pass_part(self, part: Part) -> str:
        if part.is_code:
            return self._pass_code(part.text)
        return self._pass_prose(part.new_line + part.text.lstrip(" \t") if part.new_line else part.text)

    def _pass_code(self, text: str) -> str:
        before = self._pass_on(self._take_held())
        self._shown.append(text)
        return before + text

    def _pass_prose(self, text: str) -> str:
        text = self._take_held() + text
        # The pattern also matches the empty string at the end of any text.
        split = next(_OPEN_MARKER.finditer(text)).start()
        self._held = text[split:]
        return self._pass_on(text[:split])

    def _take_held(self) -> str:
        held, self._held = self._held, ""
        return held

    def _pass_on(self, text: str) -> str:
        shown = _MARKER.sub(self._checked, _CITED_FROM.sub("", text))
        self._shown.append(shown)
        return shown

    def _checked(self, marker: re.Match[str]) -> str:
        space, written = marker[1], next(filter(None, marker.groups()[1:]))
        if not all(0 < int(number) <= self._largest for number in re.findall(r"\d+", written)):
            return marker[0]
        kept = [number for item in _ITEMS.findall(written) for number in self._cited_by(item)]
        self._cited += [number for number in kept if number not in self._cited]
        if kept:
            return space + "".join(f"[{number}]" for number in kept)
        return "" if written.strip(" ^").isdecimal() else marker[0]

    def _cited_by(self, item: str) -> list[int]:
        """The numbers of passages that a number or a range names."""
        numbers = [int(number) for number in re.findall(r"\d+", item)]
        first, last = numbers[0], numbers[-1]
        if first not in self._numbers or last - first >= MOST_IN_RANGE:
            return []
        return sorted(number for number in self._numbers if first <= number <= last)
