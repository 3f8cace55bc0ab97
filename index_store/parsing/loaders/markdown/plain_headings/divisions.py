"""Headings of rules and contracts that are typed as plain lines: 第1章 総則, 第2条（定義）, Article 3. Term

Most rules of Japanese companies have no styles for headings. A line that names a division, and nothing else, is its
heading. An article whose text stands in the same line has its number and caption as heading, wherever the caption is:
第1条（目的）この規程は、… or （目的） above 第1条 この規程は、…
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import inf

from index_store.parsing.loaders.document import Heading, Page, with_headings

FEWEST = 2
"""divisions of a text that has such headings; a single one may be a quotation"""

_JAPANESE = "編章節款条"
_NAMES = ("編", "part"), ("章", "chapter"), ("節",), ("款",), ("条", "article"), ("section",)
"""from the largest to the smallest; a contract may have each article in both languages, one below the other"""
_SIZES = {name: size for size, names in enumerate(_NAMES) for name in names}
_NUMERAL = r"[\d〇一二三四五六七八九十百千]{1,9}"
_ARTICLE = rf"第\s?{_NUMERAL}\s?条(?:の\s?{_NUMERAL}){{0,3}}"
_CAPTION = r"[（(【](?:[^（）()【】。]|[（(][^（）()【】。]{1,30}[）)]){1,60}[）)】]"
_DIVISION = re.compile(
    # 第1章総則, but not 第1章の規定.
    rf"(?P<ja>第\s?{_NUMERAL}\s?[編章節款])(?:\s*(?![のはをにがでとも、])[^\s。、][^。]{{0,60}})?"
    rf"|(?P<article>{_ARTICLE})(?:\s*{_CAPTION}|\s+[^\s。、][^。、]{{0,40}})?"
    rf"|(?P<annex>[附付]\s*則|別\s?[表紙](?:第?\s?{_NUMERAL})?)(?:\s*{_CAPTION}|\s+[^\s。、][^。、]{{0,40}})?"
    r"|(?:(?P<en>(?i:part|chapter|article|section))\s+(?:\d{1,3}|[IVXLC]{1,7})"
    r"|(?P<schedule>(?i:schedule|appendix|annex|exhibit))\s+(?:\d{1,3}|[IVXLC]{1,7}|[A-Z]))"
    r"\b(?:[.:\s–-]+(?=[A-Z(])[^.;]{1,80})?[.:]?"
)
_CAPTIONED = re.compile(rf"{_ARTICLE}\s*{_CAPTION}")
_OPENED = re.compile(
    # 第1条（目的）この規程は, but neither 第1条（目的）の規定 nor 第1条 第2項.
    rf"(?P<captioned>{_CAPTIONED.pattern})(?:\s|(?![のはをにがでともやか及又並若第、。，,]))"
    rf"|(?P<bare>{_ARTICLE})\s+(?!第\s?{_NUMERAL}\s?[項号])"
    rf"|(?P<annex>[附付]\s*則(?:\s*{_CAPTION})?)\s+(?!第\s?{_NUMERAL}\s?[項号])"
)
"""begins an article, or the provisions behind the last, with text in the same line"""
_BARE = re.compile(_ARTICLE)
_FIRST = re.compile(r"第\s?[1１一]\s?条(?!の)")
"""begins other rules"""
_TABLE = re.compile(r"別\s?[表紙]")
_BEHIND = re.compile(r"[附付]\s*則|(?i:schedule|appendix|annex|exhibit)\s")
"""begins provisions behind the last article; 別紙 may be a line in a list of what is attached"""
_ABOVE = re.compile(_CAPTION)
_NAMED = re.compile(rf"第\s?{_NUMERAL}\s?[{_JAPANESE}]|^\s{{0,20}}(?i:part|chapter|article|section)\s", re.MULTILINE)
"""Most texts name no division: they need not be taken apart into lines."""
_LISTED = re.compile(
    # 12, (12), - 12 -, p. 12, 12頁 or （第1条～第3条）
    r"[\s(（-]{0,3}(?:[pP]\.?\s?)?(?<!\d)\d{1,4}(?:頁|ページ)?[\s)）-]{0,3}$|[（(]第[^（）()]{1,25}条[^（）()]{0,5}[）)]$"
)
"""the page or the articles behind a division in a table of contents; but a heading may end so, too"""
_LISTED_LENGTH = 40
"""characters of a line, from its end, that are searched for these"""
_UNFINISHED = re.compile(r"^(?=.{30}).*[a-z,]$")
"""the end of a line of text, not of a title"""
_LEADERS = " \u3000\t.…‥・"


@dataclass(frozen=True)
class _Division:
    size: int
    """0 for the largest"""
    heading: str
    is_opened: bool = False
    """whether its text begins in the same line"""


def with_divisions(pages: Sequence[Page]) -> list[Page]:
    """The same pages if their text has headings of its own, others than divisions and the titles above them."""
    if not any(_NAMED.search(page.markdown) for page in pages):
        return list(pages)
    places = [(at, *line) for at, page in enumerate(pages) for line in enumerate(page.lines())]
    divisions = _divisions([text or line.strip() for _, _, (line, _, text) in places])
    titles = {
        index: Heading(line=number, level=level, text=text)
        for index, (_, number, (_, level, text)) in enumerate(places)
        if level and index not in divisions
    }
    top = min((title.level for title in titles.values()), default=0)
    first = min(divisions, default=0)
    is_headed = any(title.level > top for index, title in titles.items() if index > first)
    if len(divisions) < FEWEST or len(divisions) <= len(titles) or is_headed:
        return list(pages)
    levels = {size: level for level, size in enumerate(sorted({each.size for each in divisions.values()}), top + 1)}
    headings: list[list[Heading]] = [[] for _ in pages]
    for index, (at, number, _) in enumerate(places):
        if index in titles:
            headings[at].append(titles[index])
        elif division := divisions.get(index):
            headings[at].append(Heading(line=number, level=levels[division.size], text=division.heading))
    return with_headings(pages, headings)


def provisions_below(pages: Sequence[Page], page: int, line: int) -> list[tuple[int, Heading]]:
    """Page and heading, of level 1, of the provisions behind the last article, such as 附則, that are below a line."""
    places = [
        (at, number, text.strip())
        for at, each in enumerate(pages)
        for number, (text, _, _) in enumerate(each.lines())
        if (at, number) > (page, line)
    ]
    found = sorted(_divisions([text for _, _, text in places]).items())
    below = [(*places[index][:2], division.heading) for index, division in found if _BEHIND.match(division.heading)]
    return [(at, Heading(line=number, level=1, text=heading)) for at, number, heading in below]


def is_division(line: str) -> bool:
    """Whether the line names a division, and nothing else."""
    return bool(_DIVISION.fullmatch(line.strip()))


def is_captioned(line: str) -> bool:
    """Whether the line is the heading of an article, and is whole: 第2条（定義）"""
    return bool(_CAPTIONED.fullmatch(line.strip()))


def _divisions(lines: Sequence[str]) -> dict[int, _Division]:
    """Number of a line -> its division. The lines of a table of contents, which have no text below them, are none."""
    found: dict[int, _Division] = {}
    names = set[str]()
    below = -1.0
    """size of the division that stands directly below: infinite if it is text, negative at the end"""
    bare: int | None = None
    """the article without caption that stands directly below"""
    following: _Division | None = None
    """the next one below"""
    for number, line in reversed(list(enumerate(lines))):
        if not line or _is_listed(line, names) or _is_in_sentence(lines, number):
            continue
        if bare is not None and _ABOVE.fullmatch(line):
            article = found.pop(bare)
            found[number] = _Division(article.size, article.heading + line)
            names.add(_name(found[number].heading))
            bare = None
            continue
        bare = None
        division = _division(line)
        if division is None:
            below = inf
        elif division.is_opened or below > division.size:
            if following and _TABLE.match(division.heading) and _goes_on(following):
                division = replace(division, size=following.size)
            found[number] = following = division
            names.add(_name(division.heading))
            below = division.size
            bare = number if _BARE.fullmatch(division.heading) else None
    return found


def _is_in_sentence(lines: Sequence[str], number: int) -> bool:
    """Whether the line is inside a sentence with hard line ends: … payment under⏎Article 3 (Fees) survive the end of
    this⏎agreement.
    """
    if not number or not _UNFINISHED.search(lines[number - 1][-_LISTED_LENGTH:]):
        return False
    below = lines[number + 1] if number + 1 < len(lines) else ""
    return lines[number].endswith(".") or below[:1].islower()


def _goes_on(division: _Division) -> bool:
    """Whether the rules above it go on with it: a table that stands there belongs to the article above, not to all."""
    return division.size == _SIZES["条"] and not _FIRST.match(division.heading)


def _is_listed(line: str, names: Collection[str]) -> bool:
    """Whether it is a line of a table of contents. `names`: of the divisions below it."""
    listed = _LISTED.search(line[-_LISTED_LENGTH:])
    if listed is None:
        return False
    led = line.removesuffix(listed[0])
    named = led.rstrip(_LEADERS)
    leader = "".join(unicodedata.normalize("NFKC", led[len(named) :]).split())
    return bool(_DIVISION.fullmatch(named)) and (len(leader) > 1 or _name(named) in names)


def _name(division: str) -> str:
    """The same for a division and its line in a table of contents."""
    return re.sub(r"[\s()【】]", "", unicodedata.normalize("NFKC", division))


def _division(line: str) -> _Division | None:
    """None if the line names none."""
    named = _DIVISION.fullmatch(line)
    if named is None:
        opened = _OPENED.match(line)
        if opened is None:
            return None
        if opened["annex"]:
            return _Division(_SIZES["章"], opened["annex"], is_opened=True)
        return _Division(_SIZES["条"], opened["captioned"] or opened["bare"], is_opened=True)
    if named["annex"]:
        return _Division(_SIZES["章"], line)
    if named["schedule"]:
        return _Division(_SIZES["chapter"], line)
    if named["en"]:
        return _Division(_SIZES[named["en"].lower()], line)
    return _Division(_SIZES[(named["ja"] or "条")[-1]], line)
