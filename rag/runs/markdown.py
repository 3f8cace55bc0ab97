"""A run as Markdown: the question, its answer, and a footnote for each source.

Nothing in it loads or runs when it is opened: what people, documents and models wrote keeps its paragraphs, lists and
code, but no HTML, no picture and no link.
"""

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt

from rag.text.citations import MARKER
from rag.text.language import Language
from rag.trace.events import Event, RunFinished, RunStarted
from rag.trace.passages import Citation

_OUTSIDE: dict[Language, str] = {"en": "from the web", "ja": "外部(Web)"}
_PAGE: dict[Language, str] = {"en": "p. {page}", "ja": "{page}ページ"}
_NO_ANSWER: dict[Language, str] = {"en": "No answer.", "ja": "回答なし。"}

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~$&!])")
_HTML = re.compile(r"<(?=[a-z/!?])", re.IGNORECASE)

# With which lines are code it goes by the same rules as any reader of Markdown; what HTML is there stops none.
_blocks = MarkdownIt("commonmark", {"html": False})


def run_as_markdown(events: Sequence[Event], language: Language) -> str:
    """`events`: with the first and the last one of the run."""
    question = next((each.question for each in events if isinstance(each, RunStarted)), "")
    last = next((each for each in reversed(events) if isinstance(each, RunFinished)), None)
    asked = "\n".join(f"> {in_line(line)}".rstrip() for line in question.splitlines())
    if last is None:
        return f"{asked}\n"
    told = _answer(last) or _NO_ANSWER[language]
    if last.error:
        told += f"\n\n{in_line(last.error.sentence(language))}"
    sources = "\n".join(f"[^{each.number}]: {_source(each, language)}" for each in last.citations)
    return "\n\n".join(filter(None, (asked, told, sources))) + "\n"


def _answer(last: RunFinished) -> str:
    cited = {str(each.number) for each in last.citations}
    return "\n".join(
        line if is_code else MARKER.sub(lambda found: f"[^{found[1]}]" if found[1] in cited else found[0], inert(line))
        for line, is_code in _lines(last.answer.strip())
    )


def inert(line: str) -> str:
    """Of Markdown, without what becomes HTML, a picture or a link. Entities, as a backslash may itself be escaped."""
    return _HTML.sub("&lt;", line).replace("![", "!&#91;").replace("](", "]&#40;").replace("]:", "]&#58;")


def in_line(text: str) -> str:
    """On one line, every character as it is read."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _lines(text: str) -> list[tuple[str, bool]]:
    """Each with whether it is of a fenced block of code. An indented one may be none for other readers."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    code: set[int] = set()
    for token in _blocks.parse("\n".join(lines)):
        if token.type == "fence" and token.map:
            start, stop = token.map
            code.update(range(start, stop))
            is_closed = stop - start > 1 and lines[stop - 1].strip().startswith(token.markup)
            if stop == len(lines) and token.level == 0 and not is_closed:  # it was cut short
                lines.append(token.markup)
                code.add(stop)
    return [(line, at in code) for at, line in enumerate(lines)]


def _source(citation: Citation, language: Language) -> str:
    told = [" › ".join(dict.fromkeys((citation.title, *citation.headings)))]
    if citation.page:
        told.append(_PAGE[language].format(page=citation.page))
    told += [citation.source, citation.published or "", _OUTSIDE[language] if citation.origin == "web" else ""]
    return " · ".join(in_line(each) for each in told if each)
