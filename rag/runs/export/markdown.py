"""A run as Markdown: question, answer, and citations as footnotes with the quoted text.

Text of people, documents and models keeps its paragraphs, lists and code. HTML, pictures and links in it are made
inactive, so that they do nothing where the text is pasted.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt

from rag.runs.run.summary import LISTED, answer_so_far, cited_so_far, not_loaded
from rag.text.citations import MARKER
from rag.text.code import code_hidden
from rag.text.language import Language
from rag.text.places import titles_above
from rag.trace.details import CutBy
from rag.trace.events import Event, RunFinished, started_of
from rag.trace.passages import Citation


@dataclass(frozen=True)
class ExportLabels:
    question: str
    answer: str
    page: str
    web: str
    removed: str
    stopped: str
    unconfirmed: str
    claims: str
    not_in_documents: str
    from_model: str
    cut: dict[CutBy, str]
    pending: str
    more: str
    """files that could not be loaded"""


EXPORT_LABELS: dict[Language, ExportLabels] = {
    "en": ExportLabels(
        question="Question",
        answer="Answer",
        page="page {page}",
        web="from the web",
        removed="This document was removed, and so was the text quoted from it.",
        stopped="Stopped. The text written so far is kept.",
        unconfirmed="The checks did not confirm this answer. Compare it with its sources.",
        claims="Not confirmed by the sources:",
        not_in_documents="The search found no answer to this question.",
        from_model="This answer comes from the model's memory, not from a document. No source confirms it.",
        cut={
            "length": "The end of this answer is missing because it reached the length limit.",
            "filter": "The end of this answer is missing because a content filter of the service stopped it.",
            "service": "The end of this answer is missing because the service stopped before it was complete.",
        },
        pending="Documents that were still being added: {count}. This answer may lack what they say.",
        more="{count} more",
    ),
    "ja": ExportLabels(
        question="質問",
        answer="回答",
        page="{page} ページ",
        web="外部(Web)",
        removed="この文書は削除されました。引用されていた内容も一緒に消えています。",
        stopped="停止しました。そこまでに書かれた内容は残っています。",
        unconfirmed="この回答は確認に合格していません。出典と照らし合わせてお読みください。",
        claims="出典で確認できなかった内容:",
        not_in_documents="検索した範囲に、この質問への答えはありませんでした。",
        from_model="この回答はモデルの記憶によるもので、文書に根拠はありません。",
        cut={
            "length": "長さの上限に達したため、回答が途中で切れています。",
            "filter": "サービスのコンテンツフィルターが止めたため、回答が途中で切れています。",
            "service": "サービスが回答の途中で止まったため、終わりの部分がありません。",
        },
        pending="まだ追加中の文書: {count} 件。その内容はこの回答に反映されていないことがあります。",
        more="ほか {count} 件",
    ),
}

_HTML = re.compile(r"<(?=[a-z/!?])", re.IGNORECASE)
_PICTURE = re.compile(r"!\[(?!\^[\d-]+\])")
"""not a footnote marker after an exclamation mark"""
_FORMULA = re.compile(r"\$\$[^$]++\$\$|(?<![$\d\\])\$(?![\s\d])[^$\n]++(?<!\s)\$(?![\dA-Z])")
"""between dollar signs, as pages read them: prices and cells of a sheet are none"""
_SIGN = re.compile(r"([\\`*_\[\]<>#|~$&])")


# Finds code by the rules that every Markdown reader uses. HTML is off, so that it hides no code.
_blocks = MarkdownIt("commonmark", {"html": False})


def run_as_markdown(events: Sequence[Event], language: Language, prefix: str = "") -> str:
    """`events`: of a run, from the first one; an unfinished run is shown as far as it is. `prefix`: of the names of the
    footnotes. Ends with a newline.
    """
    words = EXPORT_LABELS[language]
    started = started_of(events)
    question = started.question if started else ""
    last = events[-1] if events and isinstance(events[-1], RunFinished) else None
    answer = last.answer if last else answer_so_far(events)[0]
    citations = last.citations if last else cited_so_far(events)
    parts = [f"**{words.question}**", _inert(question), f"**{words.answer}**"]
    parts += [_with_footnotes(answer.strip(), citations, prefix), *_notes(last, events, words, language)]
    parts += [_footnote(each, words, prefix) for each in citations]
    return "\n\n".join(filter(None, parts)) + "\n"


def _notes(last: RunFinished | None, events: Sequence[Event], words: ExportLabels, language: Language) -> Iterator[str]:
    """The notes that the page shows below the answer."""
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
    if last.is_cut:
        yield f"_{words.cut[last.cut_by]}_"
    if last.pending:
        yield f"_{words.pending.format(count=last.pending)}_"
    failed = not_loaded(events)
    yield from (f"_{in_line(each.sentence(language))}_" for each in failed[:LISTED])
    if len(failed) > LISTED:
        yield f"_{words.more.format(count=len(failed) - LISTED)}_"
    if last.unconfirmed:
        yield f"_{words.claims}_"
        yield "\n".join(f"- {in_line(claim)}" for claim in last.unconfirmed)


def _with_footnotes(answer: str, citations: Sequence[Citation], prefix: str) -> str:
    """Turns markers [1] into [^1] if such a citation exists. In code and formulae there are no markers."""
    numbers = {str(each.number) for each in citations}
    hidden = _FORMULA.sub(lambda formula: " " * len(formula[0]), code_hidden(answer))
    parts, end = list[str](), 0
    for marker in MARKER.finditer(hidden):
        if marker[1] in numbers:
            parts += answer[end : marker.start()], f"[^{prefix}{marker[1]}]"
            end = marker.end()
    return _inert("".join((*parts, answer[end:])))


def _footnote(citation: Citation, words: ExportLabels, prefix: str) -> str:
    place = " › ".join(map(in_line, titles_above(citation.title, citation.headings)))
    parts = [f"**{place}**", words.page.format(page=citation.page) if citation.page else ""]
    is_address = citation.source.startswith(("http://", "https://")) and not re.search(r"[\s<>]", citation.source)
    parts.append(f"<{citation.source}>" if is_address else in_line(citation.source))
    if citation.origin == "web":
        parts += [words.web, in_line(citation.published or "")]
    start, end = citation.found
    quoted = f"_{words.removed}_" if citation.removed else _inert(citation.as_read[start:end].strip())
    quote = "\n".join(f"    > {line}".rstrip() for line in quoted.splitlines())
    return f"[^{prefix}{citation.number}]: {' · '.join(filter(None, parts))}\n\n{quote}".rstrip()


def in_line(text: str) -> str:
    """On one line, with every Markdown character escaped."""
    return _SIGN.sub(r"\\\1", " ".join(text.split()))


def _inert(text: str) -> str:
    return _outside_code(text, _dead)


def _dead(text: str) -> str:
    """Without anything that becomes HTML, a picture or a link. It uses entities, because a backslash may itself be
    escaped.
    """
    return _PICTURE.sub("!&#91;", _HTML.sub("&lt;", text)).replace("](", "]&#40;").replace("]:", "]&#58;")


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    """Applies `change` to all of `text` that may not be code; in doubt too, as inside a list.

    If a reader took unchanged text for prose, a picture in it would become active. An open fence, as in an answer that
    was cut, is closed: otherwise it would swallow the text after it.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    code: set[int] = set()
    for token in _blocks.parse("\n".join(lines)):
        if token.type == "fence" and token.map and token.level == 0:
            start, stop = token.map
            code.update(range(start, stop))
            is_closed = stop - start > 1 and lines[stop - 1].strip().startswith(token.markup)
            if stop == len(lines) and not is_closed:
                code.add(stop)
                lines.append(token.markup)
    return "\n".join(line if at in code else _outside_spans(line, change) for at, line in enumerate(lines))


def _outside_spans(line: str, change: Callable[[str], str]) -> str:
    """The same for a line outside fences. A code span ends with as many backticks as it begins with."""
    pieces = re.split(r"(`+|\|)", line)
    closes: dict[int, int] = {}
    latest: dict[str, int] = {}
    for at in range(len(pieces) - 2, 0, -2):
        if pieces[at] == "|":  # a span does not cross table cells
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
