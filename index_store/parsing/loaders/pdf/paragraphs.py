"""Lines of a PDF's page, put together again as paragraphs."""

import re
import statistics
from itertools import pairwise

from index_store.parsing.loaders.markdown.plain_headings.divisions import is_captioned, is_division
from index_store.parsing.loaders.pdf.characters import HYPHENS, WIDE
from index_store.parsing.loaders.pdf.line import SAME_LINE, Line
from index_store.parsing.loaders.sheet import is_data

PARAGRAPH_GAP = 1.35
"""times the usual distance of lines; a larger distance begins a new paragraph"""
WIDEST = 2.5
"""times the size of the type: the largest distance of lines in a paragraph, for pages with too few lines to compare"""
OTHER_SIZE = 1.3
"""times the size of the type: a line in type that is so much larger or smaller is no part of the same paragraph"""
INDENT = 0.7
"""share of a line's height; a first line that starts further to the right is indented"""
NARROWEST = 8.0
"""times the size of the type: the width of a column of text at least; a narrower one is the label of a box"""
NEIGHBOURS = 6
"""lines before and after that show the width of the column, and whether it has sentences"""

FULL_LINES, SAME_END = 3, 0.5
"""so many lines whose ends differ by less than this share of their height show the width of the column"""
BLOCK_INDENT = 2.5
"""times a line's height; a line that begins further to the right than the next one is no first line of a paragraph"""

BULLET = re.compile(
    r"[•‣▪◦●○■□◆◇★☆※・*‐–—-]\s?\S|\(?[\dA-Za-z]{1,3}[.)]\s|[（(][\d一-十ア-ン]{1,3}[)）]|[①-⑳]"
    r"|\d+(\.\d+)+\s|第\s?[\d〇一二三四五六七八九十百]+\s?[編章節款条項]|[附付]\s*則(?:\s|$)"
)
_CLAUSE = re.compile(r"(?:(?:article|clause|section)\s)?\d{1,3}(?:\.\d{1,3})*\.?$", re.I)
_ASKED = re.compile(
    r"[【[(（［]?(?:[QAＱＡ](?:\d{1,3}[\s.．:：、)）】\]］-]|\s?[.．:：])|(?:問|答|質問|回答)\s?\d{0,3}[\s.．:：、)）】\]］])"
)
"""begins a paragraph below a sentence: a question, or its answer"""
_SENTENCE_END = re.compile(r"[。．.!?！？:：]['\"”’」』）)]*$")
_IN_SENTENCE = re.compile("[、。]")
_LISTED = re.compile(r"\s*(?:[^\w\s〒「『（(]|[①-⑳]|[（(]?\d{1,2}[.)．）、])")
_BELOW_SENTENCE = re.compile(r"（[^（）]{1,60}）$|\d{1,2}\s")
"""begins a paragraph there: the caption above an article, or the number of a paragraph of it"""
_LABELLED = re.compile(r"[^、。，,:：]{0,30}[^\d\s、。，,:：]\s?[:：](?!//)\s?\S")
"""支払条件：月末締め, but not 9:00"""
_HAS_HYPHEN = re.compile(rf"\w[-\u2010{HYPHENS}]\w+.$")
"""the part of a word before its last hyphen has another"""
LONGEST_WORD = 40
"""characters before the end of a line in which that hyphen is looked for"""
_LED = re.compile(r" … \S{1,12}$")


def paragraphs(lines: list[Line], start: int, end: int) -> str:
    """The text of some of a page's lines, with a blank line between paragraphs; wrapped lines are joined."""
    steps = [second.across - first.across for first, second in pairwise(lines)]
    usual = statistics.median([step for step in steps if step > 0] or [0])
    middle = (min(line.begin for line in lines) + max(line.end for line in lines)) / 2
    text = lines[start].text.rstrip()
    for at in range(start + 1, end):
        line, following = lines[at - 1], lines[at]
        near = [
            other
            for other in lines[max(0, at - NEIGHBOURS) : at + NEIGHBOURS]
            if other.begin < line.end and line.begin < other.end
        ]
        near = _column(line, near) or near
        step = following.across - line.across
        is_last_of_box = step < 0 and line.end - line.begin < NARROWEST * line.size
        if following.slanted:
            text += "\n\n" + following.text
        elif abs(step) < SAME_LINE * min(line.height, following.height) and following.begin >= line.end - line.height:
            text += " " + following.text.strip()
        elif is_last_of_box or (step > PARAGRAPH_GAP * min(usual, WIDEST * line.size or usual) and step > line.height):
            text += "\n\n" + following.text.rstrip()
        elif _ends_here(line, following, near) or _is_in_block(lines, at, middle):
            text += "\n" + following.text.rstrip()
        else:
            text = joined(text, following.text.strip())
    return unhyphenated(text)


def _ends_here(line: Line, following: Line, near: list[Line]) -> bool:
    """Whether the line ends because its paragraph ends, and not because it is full."""
    if line.text[-1] in HYPHENS:
        return False
    if _LABELLED.match(line.text.strip()) and _LABELLED.match(following.text.strip()):
        return True
    if is_row(line) or following.row or is_captioned(line.text) or _LED.search(line.text):
        return True
    smaller, larger = sorted((line.size, following.size))
    if smaller and larger >= OTHER_SIZE * smaller:
        return True
    if following.text.startswith("\u3000") or BULLET.match(following.text.lstrip()):
        return True
    if _SENTENCE_END.search(line.text.rstrip()) and (
        is_division(following.text) or _ASKED.match(following.text.strip())
    ):
        return True
    if line.text.rstrip().endswith("。") and _BELOW_SENTENCE.match(following.text.strip()):
        return True
    column_begin = min((other.begin for other in near), default=line.begin)
    column_end = max((other.end for other in near), default=line.end)
    indented = following.begin - column_begin > INDENT * following.height and following.across > line.across
    if indented and line.begin - column_begin < INDENT * line.height and _SENTENCE_END.search(line.text.rstrip()):
        return True
    return column_end - line.end > next_word(line, following) and bool(near)


def is_row(line: Line) -> bool:
    """Whether it has gaps like those of a table, and not only the one behind the number of a clause."""
    return line.row and not (len(line.cells) == 2 and _is_number(line.cells[0].text))


def _is_number(text: str) -> bool:
    return bool(BULLET.match(f"{text} x") or _CLAUSE.match(text))


def _column(line: Line, near: list[Line]) -> list[Line]:
    """Those in type of the line's size, if several end at the same place: a title above two columns is wider than one
    of them, and a line that is centred above them begins and ends further to the right.
    """
    furthest = line.begin + BLOCK_INDENT * line.height
    like = [other for other in near if abs(other.size - line.size) < 1 and other.begin < furthest]
    begin, end = min((other.begin for other in like), default=0), max((other.end for other in like), default=0)
    full = sum(end - other.end < SAME_END * line.height for other in like)
    return like if full >= FULL_LINES and end - begin >= NARROWEST * line.size else []


def _is_in_block(lines: list[Line], at: int, middle: float) -> bool:
    """Whether this line and the one above it are of a date, a sender or an address in Japanese: lines without a
    sentence on the right half of the page.
    """
    line, following = lines[at - 1], lines[at]
    if line.vertical or line.begin < middle or not WIDE.search(line.text + following.text):
        return False
    if _IN_SENTENCE.search(line.text):
        return False
    if is_data(line.text) or is_data(following.text) or line.begin - following.begin > BLOCK_INDENT * line.height:
        return True
    first, last = at - 1, at
    while first > max(0, at - NEIGHBOURS) and _goes_on(lines[first - 1], lines[first], middle):
        first -= 1
    while last < min(len(lines), at + NEIGHBOURS) and _goes_on(lines[last - 1], lines[last], middle):
        last += 1
    return last - first > 1 and not any(
        _IN_SENTENCE.search(each.text) or _LISTED.match(each.text) for each in lines[first:last]
    )


def _goes_on(line: Line, following: Line, middle: float) -> bool:
    is_below = 0 < following.across - line.across <= WIDEST * max(line.size, line.height)
    return is_below and min(line.begin, following.begin) >= middle


def next_word(line: Line, following: Line) -> float:
    """The space that the first word of the next line needs. If it had fitted, it would be on this line."""
    size = (line.end - line.begin) / max(len(line.text), 1)
    first = following.text.split(maxsplit=1)[0]
    # A Japanese line may be short by two characters, so that no stop begins the next line.
    return (2.5 if WIDE.match(first) else len(first) + 1) * size


def joined(text: str, following: str) -> str:
    """Joins two lines of one paragraph, without the hyphen of a divided word and without a space in Japanese."""
    if text and (text[-1] in HYPHENS or (re.search(r"[a-z][-\u2010]$", text) and following[:1].islower())):
        # "Lucene-BM25" keeps its hyphen wherever it is divided, and "up-to-date" has one already.
        is_divided = following[:1].islower() and not _HAS_HYPHEN.search(text[-LONGEST_WORD:])
        return (text[:-1] if is_divided else text[:-1] + "-") + following
    if text and following and WIDE.match(following[0]) and (WIDE.match(text[-1]) or _ends_with_number(text)):
        return text + following
    return f"{text} {following}"


def _ends_with_number(text: str) -> bool:
    """Of a Japanese sentence: 11 and 月 are one word, Chapter 1 and its title are not."""
    before = text[-LONGEST_WORD:].rstrip("0123456789").rstrip(" ")
    return text[-1].isdecimal() and bool(before) and bool(WIDE.match(before[-1]))


def unhyphenated(text: str) -> str:
    """Makes each hyphen that pdfium marked a plain one; those of divided words were removed by `joined`."""
    return re.sub(rf"[{HYPHENS}]", "-", text)
