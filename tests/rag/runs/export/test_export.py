"""Exports of conversations and runs: JSON that can be read again, Markdown, and the file name."""

import json
import re
import threading
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from markdown_it import MarkdownIt

from rag.errors import NothingFinished, NothingOfThisName, UnreadableExport
from rag.models.service.ja import JA
from rag.runs.export.export import Export, ExportedRun, export_as_markdown, file_name
from rag.runs.export.markdown import run_as_markdown
from rag.runs.run.options import RunOptions
from rag.trace.events import Decision, Event, RunFinished, RunStarted, StepFinished, Totals, UnknownEvent
from rag.trace.passages import Citation
from tests.helpers.back_doors import process_of
from tests.helpers.waiting import PATIENCE
from tests.rag.conftest import KEY
from tests.rag.documents import ANSWER, INDEX, QUESTION
from tests.rag.verdicts import YES
from tests.servers.chat import ChatRequest

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![picture](https://elsewhere.example/x.png)",
    "![picture][1]\n\n[1]: https://elsewhere.example/x.png",
    "[go](javascript:alert(1))",
    "[go][here]\n\n[here]: javascript:alert(1)",
    "<javascript:alert(1)>",
    "\\<img src=x onerror=alert(1)>",
    "\\\\<img src=x onerror=alert(1)>",
    "\\![x](https://elsewhere.example)",
    "- ```\n  ```\n<img src=x onerror=alert(1)>",
    "[a]: /b\n    <img src=x onerror=alert(1)>",
    "    code\n\n<img src=x onerror=alert(1)>",
    "```\rcode\r```\r<img src=x onerror=alert(1)>",
    "```\nnever closed",
    "> ```\n<img src=x onerror=alert(1)>",
    "<!-- <img src=x onerror=alert(1)> -->",
    "&lt;img src=x onerror=alert(1)&gt;",
    "<details open ontoggle=alert(1)>",
    "| a |\n|---|\n| <img src=x onerror=alert(1)> |",
)


def events(question: str = QUESTION, answer: str = ANSWER, title: str = "出張旅費規程") -> tuple[Event, ...]:
    citation = Citation(
        number=1, document_id="d", section_id="s", source="travel.md", title=title, headings=("日当",), page=3,
        text="日当は1日2,500円です。", start=0, end=14,
    )  # fmt: skip
    return (
        RunStarted(run_id="r", conversation_id="c", question=question, index=INDEX, pipeline="naive", model="m", at=1),
        StepFinished(
            step="generate", attempt=1, start=0, milliseconds=900, model_calls=1, tokens_in=9, tokens_out=3,
            role="answers", verdict="yes",
        ),
        Decision(from_step="generate", to="__end__", why="confirmed"),
        RunFinished(
            status="finished", answer=answer, outcome="answered", citations=(citation,), totals=Totals(seconds=1)
        ),
    )  # fmt: skip


def export(*runs: tuple[Event, ...], title: str = QUESTION) -> Export:
    exported = tuple(ExportedRun(feedback=None, events=each, calls=()) for each in runs)
    return Export(exported_at=1763899200, title=title, runs=exported)


@pytest.fixture
def ask(open_engine, server):
    server.default = lambda request: YES if "JSON" in request.prompt else ANSWER
    engine = open_engine(server=server)

    def ask(question: str = QUESTION, conversation_id: str | None = None, **options: str):
        run = engine.ask(question, index=INDEX, pipeline_name="self_rag", conversation_id=conversation_id, **options)
        run.result()
        return engine, run

    return ask


def test_a_conversation_is_read_again_as_it_was_written_with_its_calls_and_without_the_key(ask):
    engine, first = ask()
    _, second = ask("宿泊費はいくらですか?", first.conversation_id)
    engine.history.rate(first.id, -1)
    written = engine.exports.gather(first.conversation_id, "json")
    text = written.as_json()
    assert Export.from_json(text) == written
    assert [run.started.run_id for run in written.runs] == [first.id, second.id]
    assert list(written.runs[0].events) == engine.history.events(first.id)
    assert written.runs[0].feedback == -1
    step = next(each for each in written.runs[0].events if isinstance(each, StepFinished) and each.step == "generate")
    assert written.runs[0].calls_of(step) == engine.history.calls.of_step(first.id, "generate", 1)
    assert written.runs[0].calls
    assert KEY not in text


@pytest.mark.soak
def test_the_file_of_an_answer_to_a_pasted_mail_is_headed_by_its_beginning(ask):
    mail = "Dear team,\n" + "the train was late again. " * 40 + "Who approves the green car?"
    engine, run = ask(mail)
    written = engine.exports.gather(run.id, "markdown")
    assert written.title.startswith("Dear team, the train was late")
    assert len(written.title) < 100
    assert "Who approves the green car?" in export_as_markdown(written, "en")


def test_tokens_that_no_service_told_are_not_called_none():
    assert "tokens" not in export_as_markdown(export(events()), "en")


def test_a_run_is_exported_alone_and_what_there_is_not_is_refused(ask):
    engine, first = ask()
    ask("宿泊費はいくらですか?", first.conversation_id)
    written = engine.exports.gather(first.id, "json")
    assert [run.started.run_id for run in written.runs] == [first.id]
    assert written.title == QUESTION
    with pytest.raises(NothingOfThisName):
        engine.exports.gather("nothing", "json")


def test_what_has_no_finished_answer_yet_is_refused_and_else_what_is_finished_is_written(open_engine, server):
    held = threading.Event()
    server.default = ANSWER

    def late(request: ChatRequest) -> str:
        held.wait(PATIENCE)
        return ANSWER

    server.answer_when(lambda request: "まだですか" in request.prompt, late)
    engine = open_engine(server=server)
    where = {"index": INDEX, "pipeline_name": "naive"}
    first = engine.ask(QUESTION, **where)
    first.result()
    second = engine.ask("宿泊費はまだですか?", conversation_id=first.conversation_id, **where)
    alone = engine.ask("日当はまだですか?", **where)
    for nothing in (second.id, alone.id, alone.conversation_id):
        with pytest.raises(NothingFinished):
            engine.exports.gather(nothing, "markdown")
    written = engine.exports.gather(first.conversation_id, "json")
    assert [run.started.run_id for run in written.runs] == [first.id]
    held.set()
    alone.result()
    assert engine.exports.gather(alone.id, "json").runs


def test_a_file_of_one_answer_has_nothing_that_was_said_before_it(engine, chat):
    chat.default = ANSWER
    first = engine.ask("パスワードは hunter2 ですが使えますか?", index=INDEX, pipeline_name="naive")
    first.result()
    chat.answer_when(JA.standalone, answer="宿泊費は誰が承認しますか?")
    again = {"index": INDEX, "pipeline_name": "naive", "conversation_id": first.conversation_id}
    second = engine.ask("それは誰が承認しますか?", **again)
    second.result()
    whole = engine.exports.gather(first.conversation_id, "json").runs[-1]
    one = engine.exports.gather(second.id, "json").runs[-1]
    assert "hunter2" in whole.model_dump_json()
    assert "hunter2" not in one.model_dump_json()
    assert "宿泊費は誰が承認しますか?" in one.model_dump_json()
    assert len(one.calls) == len(whole.calls) - 1 > 0


def test_a_file_of_a_conversation_has_one_branch_and_not_the_questions_that_were_edited_away(ask):
    engine, first = ask()
    _, edited_away = ask("パスワードは hunter2 ですが使えますか?", first.conversation_id)
    _, edited = ask("パスワードは使えますか?", first.conversation_id, edits=edited_away.id)
    latest = engine.exports.gather(first.conversation_id, "json")
    assert [run.started.run_id for run in latest.runs] == [first.id, edited.id]
    assert "hunter2" not in latest.as_json() + export_as_markdown(latest, "ja")
    earlier = engine.exports.gather(first.conversation_id, "json", through=edited_away.id)
    assert [run.started.run_id for run in earlier.runs] == [first.id, edited_away.id]


@pytest.mark.soak
def test_a_file_of_a_comparison_has_all_its_columns(ask):
    engine, _ = ask()
    compared = engine.comparisons.begin(QUESTION, INDEX, (RunOptions(pipeline="naive"), RunOptions(pipeline="hybrid")))
    for run_id in compared.run_ids:
        engine.run(run_id).result()
    written = engine.exports.gather(compared.id, "json")
    assert [run.started.run_id for run in written.runs] == list(compared.run_ids)


def test_a_file_of_a_comparison_has_the_columns_that_the_page_shows_in_their_order(ask):
    engine, first = ask()
    _, second = ask()
    kept = engine.comparisons.keep([second.id, first.id])
    assert _run_ids(engine.exports.gather(kept.id, "json")) == [second.id, first.id]
    beside = engine.comparisons.begin(QUESTION, INDEX, [RunOptions(pipeline="naive")], beside=first.id)
    engine.run(beside.run_ids[1]).result()
    again = engine.comparisons.begin_again(beside.id, beside.run_ids[1])
    again.result()
    assert _run_ids(engine.exports.gather(beside.id, "json")) == [first.id, again.id]


def _run_ids(export: Export) -> list[str]:
    return [each.started.run_id for each in export.runs]


def test_of_a_document_that_was_removed_no_export_holds_the_text(ask):
    engine, run = ask()
    passage = next(each for each in engine.history.events(run.id) if isinstance(each, RunFinished)).citations[0]
    assert set(texts_of(passage.document_id, json.loads(engine.exports.gather(run.id, "json").as_json()))) != {""}
    assert process_of(engine).history.redaction.redact([passage.document_id])
    after = engine.exports.gather(run.id, "json")
    assert set(texts_of(passage.document_id, json.loads(after.as_json()))) == {""}
    assert after.runs[0].calls == ()


def texts_of(document_id: str, value: Any) -> Iterator[str]:
    """All texts that are quoted from the document."""
    if isinstance(value, dict) and value.get("document_id") == document_id:
        yield value["text"]
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_of(document_id, each)


@pytest.mark.parametrize("text", ["", "{}", "[]", "no JSON", '{"format":"glassbox-rag","version":2,"runs":[]}'])
def test_what_is_no_export_or_of_a_newer_version_is_refused_in_a_sentence(text):
    with pytest.raises(UnreadableExport):
        Export.from_json(text)


def test_an_event_that_only_a_newer_version_knows_stays_as_it_is():
    unknown = UnknownEvent(named="dreamt", stored='{"kind":"dreamt"}')
    written = export((*events(), unknown))
    assert Export.from_json(written.as_json()) == written
    newer = written.as_json().replace('"decision"', '"dreamt"')
    assert any(isinstance(each, UnknownEvent) for each in Export.from_json(newer).runs[0].events)


def test_markdown_has_question_answer_and_a_footnote_for_each_source():
    told = run_as_markdown(events(), "ja")
    assert told.startswith(f"**質問**\n\n{QUESTION}\n\n**回答**\n\n日当は1日2,500円です[^1]。\n\n")
    assert "[^1]: **出張旅費規程 › 日当** · 3 ページ · travel.md\n" in told


def test_the_footnotes_of_several_runs_in_one_file_have_names_of_their_own():
    told = export_as_markdown(export(events(), events()), "en")
    assert re.findall(r"\[\^([^\]]+)\](:?)", told) == [("1-1", ""), ("1-1", ":"), ("2-1", ""), ("2-1", ":")]


@pytest.mark.parametrize("kept", [
    "`[^1]`", "```\nre.sub(r'[^1]', '', text)\n```", "- an item\n  ```\n  x = a[1]\n  ```", "$$f[1]$$", "$$\nf[1]\n$$",
    "$f[1]$",
])  # fmt: skip
def test_code_and_formulae_stay_as_they_are_in_a_file_of_several_runs(kept):
    exported = export(events(f"What is {kept.splitlines()[0]} [^1]?", f"{kept}\n\nSo [1]."), events())
    told = export_as_markdown(exported, "en")
    assert kept in told
    assert f"{kept.splitlines()[0]} [^1]?" in told
    assert "So [^1-1]." in told


def test_prices_are_no_formulae_and_their_sources_stay():
    assert "$5[^1] or $6[^1] a day" in run_as_markdown(events(answer="$5[1] or $6[1] a day"), "en")


def test_the_trace_in_markdown_says_each_step_in_the_words_that_it_is_given():
    assert "- ✓ **generate** · 0.9 s\n  - ↳ confirmed → end" in export_as_markdown(export(events()), "en")
    assert "- ✓ **step.generate** · 0.9 s" in export_as_markdown(export(events()), "en", lambda key: key)


def test_seconds_calls_and_tokens_are_told_in_the_language_of_the_reader():
    told = export_as_markdown(export(events()), "ja")
    assert "- ✓ **generate** · 0.9 秒\n" in told
    assert re.search(r"[\d.]+ 秒 · モデル呼び出し \d+ 回", told)
    assert not re.search(r"\d s\b|LLM|tokens", told)


def test_a_decision_stands_under_its_own_step_where_two_end_at_once():
    begun, step, decision, last = events()
    other = step.model_copy(update={"step": "draft_answer"})
    told = export_as_markdown(export((begun, step, other, decision, last)), "en")
    assert told.index("↳ confirmed") < told.index("**draft")


def test_code_in_an_answer_stays_as_it_is_with_its_brackets():
    code = "```python\nlist[int][0]: a <b> [1](c)\n```"
    assert code in run_as_markdown(events(answer=f"So [1]:\n\n{code}"), "en")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_in_markdown_becomes_html_a_picture_or_a_link_and_nothing_swallows_the_rest(hostile):
    told = export_as_markdown(export(events(hostile, hostile, hostile), title=hostile), "en", lambda key: hostile)
    shown = list(active(told))
    assert shown == []
    assert told.count("### How it was answered") == 1
    headings = [each for each in MarkdownIt("commonmark").parse(told) if each.type == "heading_open"]
    assert len(headings) >= 2


def active(markdown: str) -> list[str]:
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)
    inner = [child for token in tokens for child in token.children or ()]
    return [each.content or each.type for each in (*tokens, *inner) if each.type in BAD]


BAD = {"html_block", "html_inline", "image", "link_open"}


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("出張の日当は?", "出張の日当は 1970-01-01.md"),
        ('a/b\\c:d*e?"f"<g>|h', "a b c d e f g h 1970-01-01.md"),
        ("..", "export 1970-01-01.md"),
        ("CON", "CON 1970-01-01.md"),
        ("x\u202egnp.exe\x00\n", "x gnp.exe 1970-01-01.md"),
        ("か\u3099", "が 1970-01-01.md"),
        ("\U0001f600" * 100, "\U0001f600" * 50 + " 1970-01-01.md"),
    ],
)
def test_a_files_name_is_one_that_every_system_takes(title, name):
    found = file_name(title, date(1970, 1, 1), ".md")
    assert found == name
    assert len(found.encode()) <= 255
