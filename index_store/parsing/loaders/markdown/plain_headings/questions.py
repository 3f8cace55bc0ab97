"""Questions with their answers below them, typed as plain lines: Q1. …, Q：…, Question 1: …, 【質問2】…, 問3　… and
A1. …, Answer: …, 答え：…

Each question is the heading of its answer. So they stay together, and a citation names the question.
"""

import re
import unicodedata
from collections.abc import Sequence

from index_store.parsing.loaders.document import HEADING_LENGTH, Heading, Page, with_headings

FEWEST = 3
"""questions of a text that has such headings"""
ANSWERED = 0.75
"""share of the questions that have an answer below them"""
LINES = 3
"""lines of a question, before its answer"""

# After NFKC: Ｑ１． is Q1. and ： is a colon.
_END = r"\s?\d{0,3}(?:[】\])]|\s?[.:、)-]|\s|(?<=\d)(?![\d%]))\s*\S"
_END_OF_WORD = r"\s?\d{0,3}\s?[.:)-]\s*\S"
"""of a word that sentences may begin with, too: Answer all of them."""
_QUESTION = re.compile(rf"[【\[(]?(?:Q|問|質問){_END}|(?i:question){_END_OF_WORD}")
_ANSWER = re.compile(rf"[【\[(]?(?:A|答え?|回答){_END}|(?i:answer){_END_OF_WORD}")
_MARK = re.compile(r"^[\s*>【\[（(［]{0,9}(?:[QＱ]|問|質問)", re.MULTILINE)
"""Most texts have none: they need not be taken apart."""
_FIRST = frozenset("QＱ問質AＡ答回【[［(（")
_GROUP = re.compile(r"[■◆●▼◎□◇○★☆♦].{1,40}")
"""names the questions below it"""


def with_questions(pages: Sequence[Page]) -> list[Page]:
    """The same pages with questions as headings, and lines that name a group of them: ■ メール. They stand below the
    headings that the pages already have.
    """
    if sum(len(_MARK.findall(page.markdown)) for page in pages) < FEWEST:
        return list(pages)
    headings: list[list[Heading]] = [[] for _ in pages]
    asked = answered = 0
    level = depth = 0  # of the heading above, and of what stands directly above questions: that heading, or their group
    since = LINES  # lines since the last question
    above = (0, 0, "")  # page and number of the line above, and its text if it is no heading
    for at, page in enumerate(pages):
        for number, (line, own_level, title) in enumerate(page.lines()):
            text = line.strip().replace("**", "")
            mark = unicodedata.normalize("NFKC", text[:20]) if text[:1] in _FIRST else ""
            if own_level:
                level = depth = own_level
                headings[at].append(Heading(line=number, level=level, text=title))
                since = LINES
            elif _QUESTION.match(mark) and len(text) <= HEADING_LENGTH:
                if _GROUP.fullmatch(above[2]):
                    depth = min(level + 1, 5)
                    headings[above[0]].append(Heading(line=above[1], level=depth, text=above[2]))
                headings[at].append(Heading(line=number, level=min(depth + 1, 6), text=text))
                asked += 1
                since = 0
            elif text and since < LINES:
                is_answer = bool(_ANSWER.match(mark))
                answered += is_answer
                since = LINES if is_answer else since + 1
            if text:
                above = (at, number, "" if own_level else text)
    if asked < FEWEST or answered < ANSWERED * asked:
        return list(pages)
    return with_headings(pages, headings)
