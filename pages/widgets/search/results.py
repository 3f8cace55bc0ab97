"""Hits of several searches side by side: shared colours, highlighted words, each opens its section."""

from collections.abc import Callable, Sequence
from html import escape

from index_store.base.errors import UnknownSection
from index_store.parsing.chunking.blocks import header_at
from index_store.search.hits import Hit
from index_store.store.user_store import UserStore
from pages.widgets.passage.location import header_html, links_to, location
from pages.widgets.search.every_mode import ModeResult, PassageRanks, passages
from pages.words.names import readable
from pages.words.reader import language
from pages.words.say import counted, say

Spans = list[tuple[int, int]]
"""(start, end) in characters, in order, without overlaps"""
Matches = Callable[[str], Spans]
"""finds the words of the question in a text"""

EXCERPT = 320
"""characters of a hit that its excerpt is made from; the style sheet cuts it after some lines"""

LEAD = 30
"""characters before the first matched word of an excerpt"""

AROUND = 600
"""characters of a section before and after the chunk that are shown without a click"""

NEAR_DUPLICATES = 3
"""near duplicates that a hit names"""

_SCORES = {"vector": "{:.3f}", "keyword": "{:.2f}", "hybrid": "{:.4f}"}


class SectionTexts:
    """Sections with their matches, each looked up once."""

    def __init__(self, store: UserStore, matches: Matches) -> None:
        self.matches = matches
        self._store = store
        self._known: dict[str, tuple[str, Spans] | None] = {}

    def section(self, hit: Hit) -> tuple[str, Spans] | None:
        """None if it was replaced since the search."""
        if hit.section_id not in self._known:
            self._known[hit.section_id] = self._read(hit.section_id)
        known = self._known[hit.section_id]
        return known if known and known[0][hit.start : hit.end] == hit.text else None

    def _read(self, section_id: str) -> tuple[str, Spans] | None:
        try:
            text = self._store.section(section_id).text
        except UnknownSection:
            return None
        return text, self.matches(text)


def results_html(results: Sequence[ModeResult], unit: str, k: int, texts: SectionTexts, nothing: dict[str, str]) -> str:
    """`nothing`: the text for a search without hits."""
    found = passages(results, unit)
    answered = [each.mode for each in results if not each.error]
    cards: dict[tuple[str, int, int], tuple[str, str]] = {}
    columns = []
    for result in results:
        entries = []
        others = [each for each in answered if each != result.mode]
        for hit in result.hits:
            key = (hit.section_id, hit.best_start, hit.best_end)
            if key not in cards:
                id_ = f"found-{len(cards)}"
                cards[key] = id_, _card(hit, id_, texts)
            passage = found[result.mode, hit.rank]
            entries.append(_entry(result.mode, hit, passage, _ranks(others, passage, k), cards[key][0], texts))
        columns.append(_column(result, "".join(entries), nothing[result.mode]))
    opened = "".join(card for _, card in cards.values())
    return f'<div class="results">{_tabs(results)}{"".join(columns)}</div>{opened}'


def _tabs(results: Sequence[ModeResult]) -> str:
    """For narrow screens, where one list is shown at a time."""
    first = next((each.mode for each in reversed(results) if each.hits), results[-1].mode)
    return "".join(
        f'<label class="tab"><input type="radio" name="search-shown" class="show-{each.mode}"'
        f"{' checked' if each.mode == first else ''}> {escape(say(f'search.{each.mode}'))} "
        f"<small>{len(each.hits) if not each.error else '!'}</small></label>"
        for each in results
    )


def _column(result: ModeResult, entries: str, nothing: str) -> str:
    mode = result.mode
    if result.error:
        body = f'<p class="failed">{escape(result.error.sentence(language()))}</p>'
    else:
        body = f"<ol>{entries}</ol>" if entries else f'<p class="nothing">{escape(nothing)}</p>'
    count = "" if result.error else f" <small>{escape(counted('search.hits', len(result.hits)))}</small>"
    return (
        f'<section class="mode-results {mode}"><header><h3>{escape(say(f"search.{mode}"))}{count}</h3>'
        f"<p>{escape(say(f'search.{mode}_help'))}</p></header>{body}</section>"
    )


def _entry(mode: str, hit: Hit, passage: PassageRanks, ranks: str, card: str, texts: SectionTexts) -> str:
    shared = f' shared" style="--hue: {passage.hue}' if passage.letter else ""
    letter = f'<b class="letter">{passage.letter}</b>' if passage.letter else ""
    path = location(hit)
    opens = escape(say("search.open"))
    return (
        f'<li class="hit{shared}"><div class="rank">{letter}<b>#{hit.rank}</b> '
        f"<small>{_SCORES[mode].format(hit.score)}</small></div>"
        f'<div class="path">{marked(path, texts.matches(path), 0, len(path))}</div>'
        f'<small class="source">{escape(readable(hit.source))}</small>'
        f"{_excerpt(hit, texts)}"
        f'<small class="ranks">{escape(ranks)}</small>{_near_duplicates(hit)}'
        f'<button popovertarget="{card}">{opens}</button></li>'
    )


def _ranks(modes: Sequence[str], passage: PassageRanks, k: int) -> str:
    """#2 by vector · #1 by keyword"""
    return " · ".join(
        say(f"search.{each}_rank", rank=passage.ranks[each])
        if each in passage.ranks
        else say(f"search.{each}_unranked", k=k)
        for each in modes
    )


def _near_duplicates(hit: Hit) -> str:
    if not hit.copies:
        return ""
    named = [f"{location(each)} ({readable(each.source)})" for each in hit.copies[:NEAR_DUPLICATES]]
    if len(hit.copies) > NEAR_DUPLICATES:
        named.append(say("job.more", count=len(hit.copies) - NEAR_DUPLICATES))
    return f'<small class="near-duplicates">{escape(say("search.near_duplicates", places=" / ".join(named)))}</small>'


def _excerpt(hit: Hit, texts: SectionTexts) -> str:
    """An excerpt of the found chunk, starting at the longest match, and of several where the most words match: ZT-4083
    says more than ZT. Rows of a table are below the names of its columns, which keyword search reads too.
    """
    text, spans, start, end = _around(hit, texts)
    inside = [(a, b) for a, b in spans if start <= a and b <= end]

    def matched(begin: int) -> int:
        return sum(b - a for a, b in inside if begin <= a < begin + EXCERPT // 2)

    longest = max((b - a for a, b in inside), default=0)
    begins = (_lead(text, start, a) for a, b in inside if b - a == longest)
    begin = max(begins, key=matched, default=start)
    stop = min(end, begin + EXCERPT)
    header = header_at(text, begin) or hit.header
    columns = header.replace("\n\n", " ").partition("\n")[0]  # behind their unit
    above = f'<p class="table-header">{marked(columns, texts.matches(columns), 0, len(columns))}</p>' if columns else ""
    shown = f"{'…' if begin > start else ''}{marked(text, spans, begin, stop)}{'…' if stop < end else ''}"
    return f"{above}<p>{shown}</p>"


def _lead(text: str, start: int, at: int) -> int:
    """Where to start so that some text comes before `at`; between two words if there are spaces."""
    begin = at - LEAD
    if begin <= start:
        return start
    _, space, rest = text[begin:at].partition(" ")
    return at - len(rest) if space else begin


def _around(hit: Hit, texts: SectionTexts) -> tuple[str, Spans, int, int]:
    """The section, its matches, and start and end of the chunk in it. If the section is gone, the hit's own text."""
    if section := texts.section(hit):
        return *section, hit.best_start, hit.best_end
    return hit.text, texts.matches(hit.text), hit.best_start - hit.start, hit.best_end - hit.start


def _card(hit: Hit, id_: str, texts: SectionTexts) -> str:
    text, spans, start, end = _around(hit, texts)
    gone = "" if texts.section(hit) else f'<p class="note">{escape(say("chat.gone"))}</p>'
    begin, stop = max(0, start - AROUND), min(len(text), end + AROUND)
    return (
        f'<div popover id="{id_}" class="passage-card found">{header_html(hit)}{gone}'
        f"{_folded(text, spans, 0, begin)}<p>{marked(text, spans, begin, start)}</p>"
        f'<div class="cited">{marked(text, spans, start, end)}</div>'
        f"<p>{marked(text, spans, end, stop)}</p>{_folded(text, spans, stop, len(text))}"
        f"<footer>{links_to(hit)}</footer></div>"
    )


def _folded(text: str, spans: Spans, start: int, end: int) -> str:
    """Text far from the chunk, folded."""
    if not text[start:end].strip():
        return ""
    summary = escape(counted("search.more_text", end - start))
    return f"<details><summary>{summary}</summary><p>{marked(text, spans, start, end)}</p></details>"


def marked(text: str, spans: Spans, start: int, end: int) -> str:
    """`text[start:end]` as HTML with the spans marked."""
    parts: list[str] = []
    at = start
    for a, b in spans:
        a, b = max(a, start), min(b, end)
        if a < b:
            parts += (escape(text[at:a]), f"<mark>{escape(text[a:b])}</mark>")
            at = b
    return "".join((*parts, escape(text[at:end])))
