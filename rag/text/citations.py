"""The markers [n] of an answer: what they cite, and the claims that they support. A [n] in code is no marker."""

import re
from collections.abc import Iterable, Iterator

from rag.text.code import code_hidden
from rag.text.no_answer import NEAREST, NEAREST_ONE
from rag.trace.details import Claim
from rag.trace.passages import Citation, Passage

# Possessive quantifiers (++), and a run of spaces matches only from its start. Otherwise a text of only spaces or
# newlines would take quadratic time.
MARKER = re.compile(r"\[([1-9]\d{0,2})\]")
"""of up to three digits, for there are no more passages: the [0] of a range and ISO [9001] are text"""
_BRACKETED = rf"[(（]{MARKER.pattern}(?: ?[,、;；] ?{MARKER.pattern}){{0,9}}[)）]"
_SPACED_MARKER = rf"(?:(?<!\s)\s++)?(?:{MARKER.pattern}|{_BRACKETED})"
"""also several in brackets: ([1], [2])"""
_MARKERS = rf"{MARKER.pattern}(?: {MARKER.pattern}){{0,9}}"
_NAMES_PASSAGES = "|".join(
    _MARKERS.join(map(re.escape, each.split("{markers}"))) for each in {*NEAREST.values(), *NEAREST_ONE.values()}
)
_LEFT_OUT = re.compile(rf"{_NAMES_PASSAGES}|{_SPACED_MARKER}")
"""without its markers, the sentence that names passages would have a gap"""
_ABBREVIATIONS = (
    *("Dr", "Mr", "Mrs", "Ms", "Prof", "Sr", "Jr", "Asst", "Dept", "St", "Mt", "No", "Sec", "Art", "Fig", "vs", "cf"),
    *("incl", "excl", "approx", "Approx", "Inc", "Ltd", "Co", "Corp"),
)
"""those that a name may follow"""
_BEFORE_LIST_NUMBER = ("", *(" " * depth for depth in range(1, 9)), "- ", "* ", "# ", "## ", "### ", "#### ")
_NO_STOP = (
    r"[A-Za-z]\.[A-Za-z]",
    *(rf"\b{each}" for each in _ABBREVIATIONS),
    *(rf"(?m:^){re.escape(each)}\d{digits}" for each in _BEFORE_LIST_NUMBER for digits in ("{1}", "{2}")),
)
LOOKED_BACK_AT = 12
"""characters before a point that show whether it is a full stop: more than those of the longest in `_NO_STOP`"""
FULL_STOP = r"\.(?=\n|\s++[^a-z\d])" + "".join(rf"(?<!{before}\.)" for before in _NO_STOP)
"""a full stop that may end a sentence: not those in 'e.g. this', 'ext. 2499', 'Dr. Sato', nor of a list's number"""
_CLOSING = "[)）」』】]"
WITHIN_BRACKETS = rf"{_CLOSING}|[^(（「『【)）」』】\n]{{0,80}}[）」』】]"
"""what follows a stop that ends no sentence"""
_STOP = rf"[。！？!?](?!{WITHIN_BRACKETS})|(?<=[。！？!?]){_CLOSING}++(?=\s*+\[\d)"
"""not one within brackets, as in 社員（役員を除く。以下同じ。）は, unless markers follow them: （役員を除く。）[1]"""
_CLAIM_END = re.compile(rf"(?:{_STOP}|{FULL_STOP}|\.(?=\[|\s*+$)|\n\s*+)(?:\s*+{MARKER.pattern})*")
"""includes markers after a full stop: they belong to the sentence before it"""
_FIRST = rf"(?:{MARKER.pattern}[^\w\n\[]*+)+"
_MARKER_FIRST = re.compile(rf"^[^\w\n\[]*+(?:\d{{1,2}}[.)][ \t]++)?{_FIRST}(?=\w)[^\n]*+", re.MULTILINE)
"""a line in which markers stand before their sentences: [1] It is so. [2] It is not."""
_MARKERS_AND_WORD = re.compile(rf"{_FIRST}(?P<word>\w?)")
_STATES_NOTHING = re.compile(
    r"^(?:[ \t>]*+(?:`{3}|~{3})[^\n]*+|[^\w\n]++$"
    r"|[^\n|]*+\|[^\n]*+(?=\n[ \t>]*+\|?+[ \t]*+:?+-++:?+[ \t]*+\|[ \t|:-]*+$))",
    re.MULTILINE,
)
"""the lines around code, lines without a word, and the names of a table's columns"""


def without_markers(text: str) -> str:
    return _without_markers(text, code_hidden(text))


def _without_markers(text: str, hidden: str) -> str:
    """`hidden`: the same text with its code hidden."""
    ends = [0, *(at for marker in _LEFT_OUT.finditer(hidden) for at in marker.span()), len(text)]
    return "".join(text[start:stop] for start, stop in zip(ends[::2], ends[1::2], strict=True))


def markers_of(text: str) -> tuple[int, ...]:
    """The numbers of the markers, each once."""
    return _markers_of(code_hidden(text))


def _markers_of(hidden: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(number) for number in MARKER.findall(hidden)))


def claims(answer: str) -> Iterator[Claim]:
    """The sentences of an answer, each with the numbers that it cites."""
    answer, whole = (_STATES_NOTHING.sub(_blank, text) for text in (answer, code_hidden(answer)))
    ended = _MARKER_FIRST.sub(_with_next, whole)
    start = 0
    for stop in [*(end.end() for end in _CLAIM_END.finditer(ended)), len(answer)]:
        sentence, hidden, start = answer[start:stop], whole[start:stop], stop
        if text := _without_markers(sentence, hidden).strip():
            yield Claim(text=text, sources=_markers_of(hidden))


def _with_next(line: re.Match[str]) -> str:
    """The line, in which the markers before a sentence are none that could end the one before it."""
    return _MARKERS_AND_WORD.sub(lambda each: each[0].replace("]", ")") if each["word"] else each[0], line[0])


def _blank(line: re.Match[str]) -> str:
    return " " * len(line[0])


def cited_passages(numbers: Iterable[int], passages: Iterable[Passage]) -> tuple[Citation, ...]:
    """The passages with these numbers. Numbers without a passage are ignored: a model may invent a [5]."""
    by_number = {passage.number: passage for passage in passages}
    return tuple(
        Citation(**by_number[number].model_dump(include=set(Citation.model_fields)))
        for number in sorted(by_number.keys() & set(numbers))
    )
