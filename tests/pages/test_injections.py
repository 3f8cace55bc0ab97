"""Prompt injections on pages and in exported files: no text runs, loads anything or links to another site.

The texts are orders in documents, and what a model writes that obeys them. Each is tried in every place where such text
can be shown.
"""

import re
from html import unescape

from markdown_it import MarkdownIt

from pages.widgets.answer.answer import answer_html
from pages.widgets.export.html import as_html
from pages.words.names import plain
from pages.words.reader import Reader, written_for
from rag.runs.export.export import Export, ExportedRun
from rag.runs.export.markdown import run_as_markdown
from rag.trace.events import RunFinished, RunStarted, Totals
from rag.trace.passages import Citation
from tests.pages.widgets.export.exported import ACTIVE, Parts
from tests.rag.carriers import CARRIERS, loaded, places
from tests.rag.injections import INJECTIONS, OUTSIDE, WRITTEN

TEXTS = WRITTEN | INJECTIONS
READER = Reader("ja", "Asia/Tokyo")


def citations(text: str, title: str | None = None) -> tuple[Citation, ...]:
    """Citations of a document and of a web page with this text, which is also their name if there is no title."""
    name = title or text
    return tuple(
        Citation(
            number=number, document_id="d", section_id="s", source=name, title=name, headings=(name,), page=None,
            text=text, start=0, end=len(text), origin=origin, published=text if origin == "web" else None,
        )
        for number, origin in ((1, "documents"), (2, "web"))
    )  # fmt: skip


def run(text: str) -> ExportedRun:
    begun = RunStarted(run_id="r", conversation_id="c", question=text, index=text, pipeline="naive", model=text, at=1)
    last = RunFinished(
        status="finished", answer=f"{text} [1][2]", outcome="unconfirmed", citations=citations(text),
        totals=Totals(seconds=9), unconfirmed=(text,),
    )  # fmt: skip
    return ExportedRun(feedback=None, events=(begun, last), calls=())


def acting(html: str) -> list[object]:
    """Everything in it that would run, load something or lead to another site."""
    parts = Parts(html)
    formulae = [Parts(unescape(each)) for each in parts.values("data-mathml")]
    tags = [tag for tag, _ in parts.tags if tag in ACTIVE | {"style"}]
    tags += [tag for each in formulae for tag, _ in each.tags if tag in ACTIVE - {"math"} | {"a", "mglyph", "style"}]
    every = [each for part in (parts, *formulae) for each in part.tags]
    names = [name for _, attributes in every for name in attributes]
    loading = [name for name in names if name.startswith("on") or name in ("src", "srcset", "action", "formaction")]
    leading = [each for part in (parts, *formulae) for each in part.values("href") if not each.startswith("#")]
    styled = [each for part in (parts, *formulae) for each in part.values("style") if OUTSIDE in each]
    return [*tags, *loading, *leading, *styled]


def test_no_answer_and_no_source_of_it_acts_loads_or_leads_outside():
    with written_for(READER):
        for name, text in TEXTS.items():
            assert acting(answer_html(f"{text}\n\n[1][2]", citations(text), None, "k")) == [], name
            assert acting(answer_html(text, (), None, "k")) == [], name


def test_hidden_text_of_a_file_is_shown_and_neither_runs_nor_links_anywhere(tmp_path):
    for name, carrier in CARRIERS.items():
        document = loaded(tmp_path, name)
        text = "\n\n".join(page.markdown for page in document.pages)
        with written_for(READER):
            html = answer_html(f"{text} [1][2]", citations(text, document.title), None, "k")
            plainly = answer_html("[1]", citations(text, document.title), None, "k")
        assert acting(html) == [], name
        assert places(plainly, carrier.read) == carrier.read, name
        assert places(html, carrier.left_out) == set(), name
        assert active(run_as_markdown(run(text).events, "ja")) == [], name


def test_no_file_of_a_run_acts_loads_or_leads_outside():
    runs = [run(text) for text in TEXTS.values()]
    with written_for(READER):
        html = as_html(Export(exported_at=1763899200, title=" ".join(WRITTEN.values()), runs=runs))
    body = html.partition("<body>")[2]
    # In the file, formulae are drawn. The first test has checked their MathML, in the attribute that pages use.
    assert set(acting(re.sub(r'url\("data:image/[^"]*"\)', "", body))) <= {"math"}
    assert body.count("<article") == len(TEXTS)


MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")
BAD = {"html_block", "html_inline", "image", "link_open"}


def active(markdown: str) -> list[str]:
    tokens = MARKDOWN.parse(markdown)
    every = [*tokens, *(child for token in tokens for child in token.children or ())]
    return [each.content or each.type for each in every if each.type in BAD]


def test_no_run_as_markdown_and_no_name_in_a_label_becomes_html_a_picture_or_a_link():
    for name, text in TEXTS.items():
        assert active(run_as_markdown(run(text).events, "ja")) == [], name
        assert active(plain(text)) == [], name
