"""Numbered headings that are typed as plain lines: 1. 目的, ２　対象者, 一、概要, 3.1 The form,
(1) 申請の方法, 1) 申請の方法, 第１　趣旨, A. Purpose, 1.0 Purpose

Many notices and instructions have no styles for headings. A numbered line is a heading if it is short and no sentence,
if its number is the next one, and if text stands below it. The lines of a list are sentences, or stand together.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from index_store.parsing.loaders.document import Heading, Page, fence_mark, with_headings
from index_store.parsing.loaders.markdown.list_number import list_number
from index_store.parsing.loaders.markdown.plain_headings.divisions import provisions_below

FEWEST = 3
"""headings of a text that has such headings; two lines with a 1 and a 2 may be anything"""
FEWEST_BELOW = 2
"""the same below a heading"""
TEXT = 40
"""characters for each heading, on average; a text with less is better read as a whole"""
WITH_TEXT = 0.75
"""share of the headings that have text directly below them; the others have smaller headings"""
MOST = 10_000
"""numbered lines; a text with more is a list"""
LENGTH, LATIN_LENGTH = 30, 80
"""characters of a heading in Japanese, and in Latin letters; the first line of a long sentence has more"""

WRAPPED = 40
"""narrow characters of a full line of a text with hard line ends, at least"""
RAGGED = 4
"""narrow characters by which full lines differ: a comma or a bracket may not begin a line"""

_IN_LETTERS = {
    list_number(number, kind): number for kind in ("upperRoman", "japaneseCounting") for number in range(1, 40)
}
_LINE = re.compile(
    # After NFKC: １．is 1. and （１）is (1). Neither 1.5倍 nor 10:30 nor 2026.4.1.
    r"(?:(?P<parts>\d{1,2}(?:[.-]\d{1,2}){1,2})\.?(?:\s+|(?=[^\x00-\x7f]))"
    r"|(?P<marked>\d{1,2})[.、](?!\d)\s*|(?P<plain>\d{1,2})\s+|\((?P<enclosed>\d{1,2})\)\s*"
    r"|(?P<closed>\d{1,2})\)\s*|第\s?(?P<ordinal>\d{1,2}|[一二三四五六七八九十]{1,3})\s+"
    r"|(?P<letters>[IVX]{1,7}|[一二三四五六七八九十]{1,3})(?:[.、]\s*|\s+)|(?P<letter>[A-Z])\.\s+)(?P<text>\S.*)"
)
_FORMS = ("parts", "marked", "plain", "enclosed", "closed", "ordinal", "letters", "letter")
_THIRD = re.compile(r"^[\s*]{0,9}(?:[(（]|第\s?)?(?:[3３]|III|Ⅲ|三|C\.\s)", re.MULTILINE)
"""Most texts count no lines up to FEWEST: they need not be taken apart."""
_NO_HEADING = re.compile(r"。|[.．、,;:；：…]$|^[^(]*\)$|\.\s|\t|[.…‥・]{3}")
"""a sentence, a row of a table, or a line of a table of contents; but a heading may end in brackets: 費用（税込）"""
_BEGINS_NAME = re.compile(r"[^\W\d_]|[「『“\"(【]|(?:19|20)\d\d(?:年(?!\d{1,2}月\d)|\s[^\W\d_])|\d{1,2}月(?!\d)")
"""a letter, a quotation mark or a bracket, or a year or a month (2027年度の予算, 10月の売上), which is no date: others
that begin with a number are values
"""
_PAGE = re.compile(r"\s+\d{1,3}$")
_JAPANESE = re.compile(r"[ぁ-ヿ一-鿿]")
_LIST_TEXT = re.compile(r" {2,}|\t")


@dataclass(slots=True)
class _Place:
    at: int
    """lines with text before it"""
    length: int
    """characters before it"""


@dataclass(slots=True)
class _Numbered(_Place):
    form: str
    numbers: tuple[int, ...]
    page: int
    heading: Heading
    """its level is known only at the end"""
    is_above_text: bool = False


def with_numbers(pages: Sequence[Page]) -> list[Page]:
    """The same pages if their text has headings of its own, others than the titles above it, or blocks of code."""
    if not any(_THIRD.search(page.markdown) for page in pages):
        return list(pages)
    numbered, titles, end = _read(pages)
    found = _headings(numbered, end, FEWEST, ())
    if not found or len(numbered) > MOST:
        return list(pages)
    first, _ = found[0]
    if any((first.page, first.heading.line) < (page, title.line) for page, title in titles):
        return list(pages)
    if any(page.headings is None and any(fence_mark(line, "") for line in page.markdown.split("\n")) for page in pages):
        return list(pages)
    top = min((title.level for _, title in titles), default=0)
    headings: list[list[Heading]] = [[] for _ in pages]
    for page, title in titles:
        headings[page].append(title)
    for each, level in found:
        headings[each.page].append(each.heading.model_copy(update={"level": top + level}))
    last, _ = found[-1]
    for page, provisions in provisions_below(pages, last.page, last.heading.line):
        headings[page].append(provisions.model_copy(update={"level": top + 1}))
    return with_headings(pages, headings)


def _read(pages: Sequence[Page]) -> tuple[list[_Numbered], list[tuple[int, Heading]], _Place]:
    """The numbered lines, the headings that the text already has with their pages, and the end of the text."""
    numbered: list[_Numbered] = []
    titles: list[tuple[int, Heading]] = []
    at = length = 0
    above: list[tuple[int, int]] = []
    """number and width of the last two lines"""
    letter = 0
    """number of the last letter: 1 for A"""
    for at_page, page in enumerate(pages):
        for number, (line, level, title) in enumerate(page.lines()):
            text = line.strip().replace("**", "")
            if not text:
                continue
            if level:
                titles.append((at_page, Heading(line=number, level=level, text=title)))
            elif numbered and numbered[-1].at == at - 1:
                # Indented lines of Markdown belong to a list; a small letter goes on with a sentence.
                is_in_list = page.headings is None and _LIST_TEXT.match(line)
                numbered[-1].is_above_text = not is_in_list and not text[0].islower()
            elif numbered and numbered[-1].at == at - 2:
                numbered[-1].is_above_text &= not _is_wrapped(above, number)
            above = [*above[-1:], (number, _width(line))]
            if not level and len(numbered) <= MOST and (found := _numbers(text, letter)):
                letter = found[1][0] if found[0] == "letter" else letter
                numbered.append(_Numbered(at, length, *found, at_page, Heading(line=number, level=1, text=text)))
            at += 1
            length += len(text)
    for each, next_ in zip(numbered[-2::-1], numbered[:0:-1], strict=True):
        if next_.at == each.at + 1 and next_.form != each.form:
            each.is_above_text |= next_.is_above_text  # a smaller heading stands between
    return _without_contents(numbered), titles, _Place(at, length)


def _is_wrapped(above: Sequence[tuple[int, int]], number: int) -> bool:
    """Whether the two lines above this one are the first of a paragraph with hard line ends: both are full. A heading
    is seldom as wide as the text below it.
    """
    (first, width), (second, full) = above
    return (first, second) == (number - 2, number - 1) and full >= WRAPPED and abs(width - full) <= RAGGED


def _width(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(each) in "WFA" else 1 for each in line.rstrip())


def _without_contents(numbered: Sequence[_Numbered]) -> list[_Numbered]:
    """Without the lines of a table of contents: they stand together and, without their page, again above their text."""
    names = [_PAGE.sub("", each.heading.text) for each in numbered]
    ahead = Counter(names)
    left: list[_Numbered] = []
    at_contents = -1
    """place of the last such line"""
    for name, each, next_ in zip_longest(names, numbered, numbered[1:]):
        ahead[name] -= 1
        stands_together = at_contents == each.at - 1 or (next_ is not None and next_.at == each.at + 1)
        if stands_together and ahead[name]:
            at_contents = each.at
        else:
            left.append(each)
    return left


def _numbers(line: str, letter: int) -> tuple[str, tuple[int, ...]] | None:
    """The form and the numbers of a line that may be a heading. `letter`: of the last line that has a letter."""
    found = _LINE.fullmatch(unicodedata.normalize("NFKC", line)) if len(line) <= 2 * LATIN_LENGTH else None
    if found is None or not _is_heading(found["text"]):
        return None
    form = next(form for form in _FORMS if found[form])
    # An I. behind H. is a letter, not a Roman number.
    if form == "letter" or (found[0].startswith(f"{chr(ord('A') + letter)}.") and letter):
        return "letter", (ord(found[form]) - ord("A") + 1,)
    if found[form][0].isdigit() and found[form].isascii():
        numbers = tuple(int(each) for each in re.split("[.-]", found[form]))
        # 1.0, 2.0 stand above 1.1, 1.2.
        return ("whole", numbers[:1]) if numbers[1:] == (0,) else (form, numbers)
    number = _IN_LETTERS.get(found[form])
    return (f"{form} {found[form].isascii()}", (number,)) if number else None


def _is_heading(text: str) -> bool:
    most = LENGTH if _JAPANESE.search(text) else LATIN_LENGTH
    return len(text) <= most and bool(_BEGINS_NAME.match(text)) and not _NO_HEADING.search(text)


def _headings(
    numbered: Sequence[_Numbered], end: _Place, fewest: int, above: tuple[int, ...]
) -> list[tuple[_Numbered, int]]:
    """In order, with levels from 1: those of the first form that is used for headings, and below them those of others.

    `above`: the numbers of the heading above them, with which 3.1 has to begin.
    """
    for form in dict.fromkeys(each.form for each in numbered):
        found = _without_lists(each for each in numbered if each.form == form)
        if not _are_headings(found, end, fewest, above):
            continue
        others = [each for each in numbered if each.form != form or form == "parts"]
        headings: list[tuple[_Numbered, int]] = []
        for each, next_ in zip(found, [*found[1:], end], strict=True):
            below = _headings(_between(others, each, next_), next_, FEWEST_BELOW, each.numbers)
            headings += [(each, 1), *((inner, level + 1) for inner, level in below)]
        return headings
    return []


def _between(numbered: Sequence[_Numbered], start: _Place, end: _Place) -> Sequence[_Numbered]:
    first, last = (bisect_left(numbered, place, key=lambda each: each.at) for place in (start.at + 1, end.at))
    return numbered[first:last]


def _without_lists(numbered: Iterable[_Numbered]) -> list[_Numbered]:
    """Without lines that stand together and count from 1: those of a list."""
    blocks: list[list[_Numbered]] = []
    for each in numbered:
        last = blocks[-1][-1] if blocks else None
        if last and each.at == last.at + 1 and each.numbers == (*last.numbers[:-1], last.numbers[-1] + 1):
            blocks[-1].append(each)
        else:
            blocks.append([each])
    return [each for block in blocks if len(block) == 1 or block[0].numbers[-1] != 1 for each in block]


def _are_headings(found: Sequence[_Numbered], end: _Place, fewest: int, above: tuple[int, ...]) -> bool:
    if len(found) < fewest or not _count_up([each.numbers for each in found], above):
        return False
    with_text = sum(
        each.is_above_text and each.at + 1 < next_.at for each, next_ in zip(found, [*found[1:], end], strict=True)
    )
    return with_text >= WITH_TEXT * len(found) and end.length - found[0].length >= TEXT * len(found)


def _count_up(numbers: Iterable[tuple[int, ...]], above: tuple[int, ...]) -> bool:
    """Whether they are 1, 2, 3, …; or 3.1, 3.2, 3.3, … below a heading 3."""
    return all(each == (count,) or (len(each) > 1 and each == (*above, count)) for count, each in enumerate(numbers, 1))
