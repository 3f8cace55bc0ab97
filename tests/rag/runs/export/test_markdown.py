"""A run as Markdown: its content, and that nothing in it becomes HTML or a picture where it is pasted."""

import pytest
from markdown_it import MarkdownIt

from index_store.base.errors import EmptyDocument
from index_store.ingestion.results import IngestResult, IngestStatus
from rag.errors import Interrupted
from rag.runs.export.markdown import EXPORT_LABELS, in_line, run_as_markdown
from rag.trace.details import DocumentsDetail
from rag.trace.events import Event, RunFinished, RunStarted, Token, Totals
from rag.trace.passages import Citation
from tests.rag.trace.steps import finished

each_language = pytest.mark.parametrize("language", ["ja", "en"])


def citation(number: int = 1, **changes: object) -> Citation:
    text = "日当は1日2,500円です。\n\n宿泊しないときは半額です。"
    return Citation(
        number=number, document_id="d", section_id="s", source="travel.pdf", title="出張旅費規程",
        headings=("出張旅費規程", "日当"), page=3, text=text, start=0, end=len(text),
    ).model_copy(update=changes)  # fmt: skip


def run(answer: str, *citations: Citation, question: str = "日当は?", **changes: object) -> list[Event]:
    started = RunStarted(
        run_id="r", conversation_id="c", question=question, index="i", pipeline="naive", model="m", at=1.0
    )
    last = RunFinished(status="finished", answer=answer, outcome="answered", citations=citations, totals=Totals())
    return [started, last.model_copy(update=changes)]


def html(events: list[Event]) -> str:
    """Rendered by a Markdown reader that accepts HTML and does not know footnotes."""
    return MarkdownIt("commonmark").enable("table").render(run_as_markdown(events, "en"))


def test_question_answer_and_footnotes_with_place_file_and_quote():
    assert run_as_markdown(run("1日2,500円です[1]。", citation()), "ja") == (
        "**質問**\n\n日当は?\n\n**回答**\n\n1日2,500円です[^1]。\n\n"
        "[^1]: **出張旅費規程 › 日当** · 3 ページ · travel.pdf\n\n"
        "    > 日当は1日2,500円です。\n    >\n    > 宿泊しないときは半額です。\n"
    )


def test_of_a_section_that_was_read_whole_the_stretch_that_was_found_is_quoted():
    text = run_as_markdown(run("半額です[1]。", citation(best_start=15, best_end=29)), "ja")
    assert "    > 宿泊しないときは半額です。\n" in text
    assert "2,500円" not in text


def test_a_passage_of_the_web_comes_with_its_address_and_date():
    web = citation(source="https://rates.example/yen?a=1&b=2", origin="web", published="2026-11-20", page=None)
    text = run_as_markdown(run("150円です[1]。", web), "en")
    assert "**出張旅費規程 › 日当** · <https://rates.example/yen?a=1&b=2> · from the web · 2026-11-20" in text


def test_an_address_that_is_none_is_no_link():
    web = citation(source="https://rates.example/> <script>alert(1)</script>", origin="web")
    assert "<script" not in html(run("150円です[1]。", web))


def test_a_number_without_a_citation_and_numbers_in_code_stay_what_they_are():
    text = run_as_markdown(run("Yes![1][7].\n\n```\na[1]\n```\n\n`b[1]` and ``c` [1]``, [1] `", citation()), "en")
    assert "Yes![^1][7]." in text
    assert "a[1]\n" in text
    assert "`b[1]` and ``c` [1]``, [^1] `" in text


def test_footnotes_stay_where_the_model_lists_its_sources_below():
    text = run_as_markdown(run("So [1].\n\n[1]: travel.md", citation()), "en")
    assert "So [^1].\n\n[^1]&#58; travel.md\n" in text
    assert text.count("[^1]: ") == 1


def test_tables_formulae_and_prices_stay():
    answer = "| a | b |\n|---|---|\n| $5 | $x^2$ |\n\n$$\n\\frac{a}{b}\n$$"
    assert answer in run_as_markdown(run(answer), "en")


@pytest.mark.parametrize("hostile", ["<img src=x onerror=alert(1)>", "![p](https://elsewhere.example/p.png)", "<!-- x"])
def test_neither_html_nor_pictures_come_alive(hostile):
    events = run(f"{hostile} [1]", citation(text=hostile, title=hostile, source=hostile), question=hostile)
    page = html(events)
    assert "<img" not in page
    assert "<!--" not in page
    assert hostile in run_as_markdown(run(f"`{hostile}`"), "en")


@pytest.mark.parametrize(
    "around",
    [
        "` {}\n\n`", "`\n# {}\n`", "| ` | {} ` |\n|---|---|", "\\` {} `", "- a\n  ```\n  b\n- {}", "    ```\n\n{}",
        "> ```\n{}", "``` a`b\n{}", "` a `` {}", "~~~\n```\n~~~\n{}",
    ],
)  # fmt: skip
def test_html_and_pictures_stay_inactive_in_text_that_only_looks_like_code(around):
    assert "<img" not in html(run(around.format("![p](https://elsewhere.example/p.png)")))
    assert "<b>" not in html(run(around.format("<b>")))


def test_a_document_cannot_add_footnotes_or_leave_its_quote():
    text = run_as_markdown(run("Yes [1].", citation(text="a\n[^1]: mine\n\n# b", page=None)), "en")
    assert [line for line in text.splitlines() if line.startswith("[^")] == [
        "[^1]: **出張旅費規程 › 日当** · travel.pdf"
    ]


@each_language
def test_what_an_answer_is_worth_is_said_in_the_readers_language(language):
    words = EXPORT_LABELS[language]
    for outcome in ("unconfirmed", "not_in_documents", "from_model"):
        assert f"_{getattr(words, outcome)}_" in run_as_markdown(run("2,500円", outcome=outcome), language)
    assert f"_{words.stopped}_" in run_as_markdown(run("2,5", status="stopped", outcome=None), language)
    for why, told in words.cut.items():
        assert f"_{told}_" in run_as_markdown(run("2,5", is_cut=True, cut_by=why), language)
        assert f"_{told}_" not in run_as_markdown(run("2,5"), language)
    assert f"_{words.pending.format(count=3)}_" in run_as_markdown(run("2,5", pending=3), language)
    doubted = run_as_markdown(run("2,500円", outcome="unconfirmed", unconfirmed=("*It* is.", "So it is.")), language)
    assert doubted.endswith(f"_{words.claims}_\n\n- \\*It\\* is.\n- So it is.\n")
    failed = run("", status="failed", outcome=None, error=Interrupted().as_failure())
    assert Interrupted().sentence(language) in run_as_markdown(failed, language)
    assert words.removed in run_as_markdown(run("[1]", citation(removed=True, text="")), language)


@each_language
def test_it_says_below_an_answer_which_files_of_its_question_could_not_be_loaded(language):
    error = EmptyDocument(name="empty.txt")
    result = IngestResult(
        source="empty.txt", status=IngestStatus.FAILED, document_id=None, chunks=0, sections=0, error=error.as_failure()
    )

    def told(count: int) -> str:
        first, last = run("2,500円")
        adding = finished("add_documents", detail=DocumentsDetail(added=(result,) * count))
        return run_as_markdown([first, adding, last], language)

    sentence = f"_{in_line(error.sentence(language))}_"
    assert told(1).count(sentence) == 1
    many = told(8)
    assert many.count(sentence) == 5
    assert f"_{EXPORT_LABELS[language].more.format(count=3)}_" in many


def test_a_run_that_goes_on_is_told_as_far_as_it_is_there():
    events = [run("")[0], Token(step="generate", attempt=1, text="日当は")]
    assert run_as_markdown(events, "ja") == "**質問**\n\n日当は?\n\n**回答**\n\n日当は\n"
