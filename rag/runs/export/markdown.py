"""A run as Markdown to be pasted elsewhere: question, answer, and its citations as footnotes with what they quote.

What documents and models wrote stays as it is, but neither HTML nor a picture in it comes alive where it is pasted.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rag.runs.summary import answer_so_far, cited_so_far
from rag.text.citations import MARKER
from rag.text.language import Language
from rag.trace.events import Event, RunFinished, RunStarted
from rag.trace.passages import Citation


@dataclass(frozen=True)
class Words:
    question: str
    answer: str
    page: str
    web: str
    removed: str
    stopped: str
    unconfirmed: str
    not_in_documents: str
    from_model: str


WORDS: dict[Language, Words] = {
    "en": Words(
        question="Question",
        answer="Answer",
        page="page {page}",
        web="from the web",
        removed="This document was removed, and what was quoted from it with it.",
        stopped="Stopped: this is what had been written until then.",
        unconfirmed="The checks did not confirm this answer.",
        not_in_documents="Nothing that was searched answers this.",
        from_model="From what the model remembers: no source confirms it.",
    ),
    "ja": Words(
        question="質問",
        answer="回答",
        page="{page} ページ",
        web="Web から",
        removed="この文書は削除され、引用した箇所も残っていません。",
        stopped="停止されました。それまでに書かれた分です。",
        unconfirmed="この回答は検証で確認できませんでした。",
        not_in_documents="検索した範囲に答えはありませんでした。",
        from_model="モデルの記憶による回答で、裏付ける文書はありません。",
    ),
}

_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})(.*)")
_ALIVE = re.compile(r"(?=<[A-Za-z/!?])|(?<=!)(?=\[(?!\^\d+\]))")
"""before what begins HTML, and within the sign of a picture"""
_SIGN = re.compile(r"([\\`*_\[\]<>#|~$])")


def run_as_markdown(events: Sequence[Event], language: Language) -> str:
    """`events`: of a run, from its first on; one that goes on is told as far as it is there. Ends with a newline."""
    words = WORDS[language]
    question = next((each.question for each in events if isinstance(each, RunStarted)), "")
    last = events[-1] if events and isinstance(events[-1], RunFinished) else None
    answer = last.answer if last else answer_so_far(events)[0]
    citations = last.citations if last else cited_so_far(events)
    parts = [f"**{words.question}**", _inert(question), f"**{words.answer}**"]
    parts += [_with_footnotes(answer.strip(), citations), *_notes(last, words, language)]
    parts += [_footnote(each, words) for each in citations]
    return "\n\n".join(filter(None, parts)) + "\n"


def _notes(last: RunFinished | None, words: Words, language: Language) -> Iterator[str]:
    """What the page says below the answer."""
    if last is None:
        return
    if last.error:
        yield f"_{in_line(last.error.sentence(language))}_"
    elif last.status == "stopped":
        yield f"_{words.stopped}_"
    elif last.outcome == "unconfirmed":
        yield f"_{words.unconfirmed}_"
    elif last.outcome == "not_in_documents":
        yield f"_{words.not_in_documents}_"
    elif last.outcome == "from_model":
        yield f"_{words.from_model}_"


def _with_footnotes(answer: str, citations: Sequence[Citation]) -> str:
    """Its markers [1] as [^1], where there is such a citation."""
    numbers = {str(each.number) for each in citations}

    def changed(text: str) -> str:
        return _dead(MARKER.sub(lambda marker: f"[^{marker[1]}]" if marker[1] in numbers else marker[0], text))

    return _outside_code(answer, changed)


def _footnote(citation: Citation, words: Words) -> str:
    place = " › ".join(map(in_line, dict.fromkeys((citation.title, *citation.headings))))
    parts = [f"**{place}**", words.page.format(page=citation.page) if citation.page else ""]
    is_address = citation.source.startswith(("http://", "https://")) and not re.search(r"[\s<>]", citation.source)
    parts.append(f"<{citation.source}>" if is_address else in_line(citation.source))
    if citation.origin == "web":
        parts += [words.web, in_line(citation.published or "")]
    start, end = citation.found
    quoted = f"_{words.removed}_" if citation.removed else _inert(citation.text[start:end].strip())
    quote = "\n".join(f"    > {line}".rstrip() for line in quoted.splitlines())
    return f"[^{citation.number}]: {' · '.join(filter(None, parts))}\n\n{quote}".rstrip()


def in_line(text: str) -> str:
    """On one line, every character as it is read: nothing in it that Markdown would read."""
    return _SIGN.sub(r"\\\1", " ".join(text.split()))


def _inert(text: str) -> str:
    return _outside_code(text, _dead)


def _dead(text: str) -> str:
    return _ALIVE.sub(r"\\", text)


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    """`text` with `change` made to all that may not be code: in doubt, as within a list, it is made.

    A reader that took for prose what was left alone here would bring a picture in it to life.
    """
    parts: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[2].startswith(fence) and not mark[3].strip():
                fence = ""
        elif mark and not mark[1] and not (mark[2][0] == "`" and "`" in mark[3]):
            fence = mark[2]
        else:
            line = _outside_spans(line, change)
        parts.append(line)
    return "".join(parts)


def _outside_spans(line: str, change: Callable[[str], str]) -> str:
    """The same of a line that is within no fence: a span ends with as many backticks as it begins with."""
    pieces = re.split(r"(`+|\|)", line)
    closes: dict[int, int] = {}
    latest: dict[str, int] = {}
    for at in range(len(pieces) - 2, 0, -2):
        if pieces[at] == "|":  # between two cells there is no span
            latest.clear()
            continue
        if pieces[at] in latest and not pieces[at - 1].endswith("\\"):
            closes[at] = latest[pieces[at]]
        latest[pieces[at]] = at
    changed: list[str] = []
    at = 0
    while at < len(pieces):
        end = closes.get(at, at)
        code = pieces[at : end + 1]
        changed += code if at % 2 else map(change, code)
        at = end + 1
    return "".join(changed)
