"""A run as one HTML file: complete, in the reader's language, and nothing in it runs or loads anything."""

import re
from urllib.parse import unquote

import pytest

from index_store.base.errors import EmptyDocument
from pages.server.requests.browser_rules import FILE_POLICY
from pages.texts import texts
from pages.widgets.export.html import as_html
from pages.widgets.trace.fork.origin import origin_lines
from pages.widgets.trace.panel import label, rows
from pages.words.reader import Reader, language, written_for
from pages.words.say import say
from rag.runs.export.export import Export, ExportedRun, StepCalls, export_as_markdown
from rag.text.language import Language
from rag.trace.calls import Call, Message, ShortenedText
from rag.trace.details import DocumentsDetail
from rag.trace.events import Change, Decision, Origin, RunFinished, RunStarted, StepStarted, Totals, UnknownEvent
from rag.trace.passages import Citation
from tests.pages.trace_examples import DETAILS, HOSTILE, OUTSIDE, PASSAGE, added, finished
from tests.pages.widgets.export.exported import ACTIVE, Parts

each_language = pytest.mark.parametrize("language", ["ja", "en"])
HOSTILE_ANSWER = (
    f"{HOSTILE} [1] [2] ![x](https://elsewhere.example/x.png) <https://elsewhere.example> [a](javascript:alert(1))\n\n"
    "[b]: javascript:alert(1)\n\n[b]\n\n<iframe src=https://elsewhere.example></iframe>\n\n```\n</style><script>\n```"
)


def run(question: str = "?", answer: str = "So [1].", steps: tuple = (), **parts) -> ExportedRun:
    begun = RunStarted(
        run_id="r", conversation_id="c", question=question, index="i", pipeline="self_rag", model="m", at=1
    )
    citations = tuple(
        Citation(**each.model_dump(include=set(Citation.model_fields)) | {"number": number})
        for number, each in enumerate((PASSAGE, OUTSIDE), start=1)
    )
    last = RunFinished(
        status="finished", answer=answer, outcome="unconfirmed", citations=citations, totals=Totals(seconds=9),
        unconfirmed=(HOSTILE,),
    )  # fmt: skip
    return ExportedRun(feedback=None, events=(begun, *steps, last), calls=(), **parts)


def every_step():
    for number, detail in enumerate(DETAILS, start=1):
        yield StepStarted(step="retrieve", attempt=number, start=0)
        yield finished(detail).model_copy(update={"attempt": number})
    yield Decision(from_step="retrieve", to=HOSTILE, why=HOSTILE)
    yield finished(None).model_copy(update={"step": HOSTILE})
    yield UnknownEvent(named=HOSTILE, stored=HOSTILE)


def export(*runs: ExportedRun, title: str = "?") -> Export:
    return Export(exported_at=1763899200, title=title, runs=runs)


def html(exported: Export, language: Language = "en") -> str:
    with written_for(Reader(language, "Asia/Tokyo")):
        return as_html(exported)


@each_language
def test_nothing_that_people_documents_or_models_wrote_acts_loads_or_leads_away(language):
    call = Call(
        task=HOSTILE, of=HOSTILE, model=HOSTILE, temperature=0, max_tokens=None, number=1,
        reply=ShortenedText(text=HOSTILE),
        messages=(Message(role="user", text=HOSTILE),), milliseconds=1, status="finished",
    )  # fmt: skip
    hostile = run(HOSTILE, HOSTILE_ANSWER, tuple(every_step())).model_copy(
        update={"calls": (StepCalls(step="retrieve", attempt=1, calls=(call,)),)}
    )
    parts = Parts(html(export(hostile, hostile, title=HOSTILE), language))
    assert not {tag for tag, _ in parts.tags} & ACTIVE
    attributes = {name for _, attributes in parts.tags for name in attributes}
    assert not {name for name in attributes if name.startswith("on")} | {"src", "srcset", "action"} & attributes
    assert all(address.startswith("#") for address in parts.values("href"))
    urls = [url for style in parts.values("style") for url in re.findall(r"url\((.{12})", style)]
    assert set(urls) == {'"data:image/'}
    assert [each for tag, each in parts.tags if tag == "meta" and "http-equiv" in each] == [
        {"http-equiv": "Content-Security-Policy", "content": FILE_POLICY}
    ]
    assert parts.values("lang") == [language]


@each_language
def test_it_says_how_many_documents_an_answer_may_lack(language):
    [*events, last] = run().events
    lacking = ExportedRun(feedback=None, events=(*events, last.model_copy(update={"pending": 12})), calls=())
    told = texts(language)["chat.pending"].format(count=12)
    assert told in Parts(html(export(lacking), language)).text
    assert told not in Parts(html(export(run()), language)).text


@each_language
def test_it_says_below_an_answer_which_file_of_its_question_could_not_be_loaded(language):
    (first, *others), error = run().events, EmptyDocument(name="empty.txt")
    adding = finished(DocumentsDetail(added=(added(error),)))
    exported = ExportedRun(feedback=None, events=(first, adding, *others), calls=())
    note = html(export(exported), language).split('<details class="run-trace"')[0]
    assert error.sentence(language) in Parts(note).text


@each_language
def test_a_step_that_was_cut_off_with_its_app_is_not_said_to_be_running(language):
    cut_off = StepStarted(step="retrieve", attempt=1, start=1)
    exported = run(steps=(cut_off,))
    told, words = Parts(html(export(exported), language)).text, texts(language)
    assert words["step.running"] not in told
    assert told.count(words["summary.stopped"]) == 2  # in the line of its row, and below
    with written_for(Reader(language, "Asia/Tokyo")):
        [row] = rows(exported.events)
        assert "■" in label(row, now=2)
        assert words["summary.stopped"] in label(row, now=2)
        [row] = rows(exported.events[:-1])
        assert "◌" in label(row, now=2)
        assert words["step.running"] in label(row, now=2)


def test_no_style_of_it_asks_for_a_font_or_another_file():
    [style] = re.findall(r"<style>(.*?)</style>", html(export(run())), re.DOTALL)
    assert not re.search(r"@import|@font-face|url\(", style)


def test_every_node_of_a_graph_leads_to_its_row_and_every_marker_to_its_passage():
    parts = Parts(html(export(run(steps=tuple(every_step())), run(steps=tuple(every_step())))))
    ids = parts.values("id")
    assert len(ids) == len(set(ids))
    targets = {unquote(address[1:]) for address in parts.values("href")}
    assert targets
    assert targets <= set(ids)
    assert set(parts.values("popovertarget")) <= set(ids)


@each_language
def test_it_holds_every_step_grade_passage_and_call_in_the_readers_words(language):
    call = Call(
        task="answer", model="m", temperature=0, max_tokens=None, number=1, reply=ShortenedText(text="the reply"),
        messages=(Message(role="user", text="the prompt"),), milliseconds=1, status="finished",
    )  # fmt: skip
    exported = run("The question?", steps=tuple(every_step())).model_copy(
        update={"calls": (StepCalls(step="retrieve", attempt=1, calls=(call,)),)}
    )
    told = Parts(html(export(exported), language)).text
    words = texts(language)
    for said in (
        "The question?", words["step.retrieve"], words["detail.how"], words["summary.partly_grounded"], "the prompt",
        "the reply", words["call.reply"], words["outcome.unconfirmed_note"], PASSAGE.text, words["chat.sources"],
    ):  # fmt: skip
        assert said in told


@each_language
def test_a_fork_says_what_it_continues_what_was_changed_and_what_is_reused(language):
    change = Change(what="left_out", before="Travel > Trains", after="", passage=2)
    steps = (
        finished(None).model_copy(update={"step": "retrieve", "milliseconds": 3000, "reused": True}),
        finished(None).model_copy(update={"step": "generate", "start": 3, "milliseconds": 1000}),
    )
    begun, *events = run(steps=steps).events
    origin = Origin(kind="fork", run_id="o", step="generate", attempt=1, changes=(change,))
    last = events.pop().model_copy(update={"totals": Totals(seconds=1, reused_seconds=3)})
    forked = ExportedRun(feedback=None, events=(begun.model_copy(update={"origin": origin}), *events, last), calls=())
    words, exported = texts(language), html(export(forked), language)
    with written_for(Reader(language, "Asia/Tokyo")):
        markdown = export_as_markdown(export(forked), language, say, origin_lines)
    for told in (Parts(exported).text, markdown.replace("\\", "")):
        assert words["change.origin"].format(step=words["step.generate"]) in told
        assert words["change.left_out"].format(passage=2, before="Travel > Trains") in told
        assert told.count(f"↺ {words['step.reused']}") == told.count(f"✎ {words['step.changed']}") == 1
    assert re.findall(r'<i style="([^"]+)"', exported) == ["left: 0.0%; width: 75.0%", "left: 75.0%; width: 25.0%"]


def test_formulae_are_drawn_without_a_script():
    exported = html(export(run(answer="It is $x^2$ [1].\n\n$$\\frac{a}{b}$$\n\n`$y$`")))
    tags = [tag for tag, _ in Parts(exported).tags]
    assert [tags.count(tag) for tag in ("math", "msup", "mfrac")] == [2, 1, 1]
    assert "data-mathml" not in exported
    assert "x^2" not in exported


def test_times_are_those_of_the_readers_zone():
    assert "2025-11-23 21:00" in html(export(run()))


def test_a_conversation_folds_its_traces_and_a_single_run_shows_it():
    def is_open(exported: Export) -> list[bool]:
        found = Parts(html(exported)).tags
        return ["open" in attributes for tag, attributes in found if attributes.get("class") == "run-trace"]

    assert is_open(export(run())) == [True]
    assert is_open(export(run(), run())) == [False, False]


def test_what_is_said_outside_a_page_is_said_to_the_reader_that_was_named():
    with written_for(Reader("ja", "UTC")):
        assert language() == "ja"
    with written_for(Reader("en", "UTC")):
        assert language() == "en"
