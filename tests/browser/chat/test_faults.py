"""Faults around a run in a real browser: connection, server, a second tab, changed documents, very long answers."""

import shutil
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from index_store.access.principal import LOCAL
from rag.errors import Interrupted
from rag.runs.history.history import History
from rag.trace.details import AnswerCheckDetail, GenerationDetail, GradesDetail, RetrievalDetail, RewriteDetail
from rag.trace.events import Decision, Event, RunFinished, RunStarted, StepFinished, StepStarted, Totals
from rag.trace.grades import Grade, Grounding, PassageGrade, Usefulness
from rag.trace.passages import Citation, Passage
from tests.browser.app_process import App
from tests.browser.asking import ENDLESS, GONE, ask, held, requests_for, script
from tests.browser.conftest import KEY, Answered
from tests.browser.connection import Connection
from tests.browser.runs.comparing import begin, differences, new_question
from tests.browser.runs.forking import open_form
from tests.browser.visitor import LOADED, Visitor
from tests.helpers.handbook import HANDBOOK
from tests.helpers.looks import one_language, one_look
from tests.servers import Answer, OpenAIServer

ROUNDS, LONGEST_ANSWER = 40, 50_000
END = "This is where it ends."


# The connection


@pytest.mark.parametrize("seconds", [2, pytest.param(30, marks=pytest.mark.soak)])
def test_a_connection_that_is_lost_for_a_while_loses_and_doubles_no_answer(loaded_app, visit, server, seconds):
    visitor = visit()
    connection = Connection(visitor)
    answer = held()
    question = ask(visitor, server, answer)
    with connection.lost(seconds):
        answer.until.set()
    visitor.wait_for_the_end()
    assert connection.count == 2
    expect(visitor.questions).to_have_text([question])
    assert visitor.answers.inner_text().count("One word") == 30
    assert len(requests_for(server, question)) == 1
    connection.forget_complaints()


# The server


FIRST = "Who approves the green car?"


@pytest.fixture
def own_app(server, data_with_answer, tmp_path) -> Iterator[tuple[App, Answered]]:
    """An app with its own server, which can be killed; with the handbook and an answer."""
    data, conversation = data_with_answer(FIRST, "A director approves it [1].", "self_rag")
    settings = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY, "EMBEDDING_MODEL": "test-embedding"}
    with App(tmp_path, DATA_DIR=str(shutil.copytree(data, tmp_path / "own")), **settings) as app:
        yield app, Answered(FIRST, f"/?c={conversation}")


@one_language("ja")
def test_while_the_app_is_away_the_browser_says_so_in_the_language_of_the_page(own_app, visit, language):
    app, answered = own_app
    chat = visit(language, app=app, path=answered.path)
    app.kill()
    dialog = chat.page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"{chat.words['label.away']}{chat.words['label.no_answer']}", timeout=LOADED)
    assert "streamlit" not in dialog.inner_text()
    app.start()
    expect(dialog).to_have_count(0, timeout=LOADED)
    chat.complaints.clear()  # of Streamlit, about the lost connection


@pytest.mark.soak  # a restart without a browser: tests/pages/test_chat.py
@one_language("ja")
def test_after_a_killed_server_the_page_reports_it_asks_again_and_keeps_the_rest(own_app, visit, server, language):
    app, answered = own_app
    question = new_question()
    answer_at_the_second_time(server, question)
    chat = visit(language, app=app, path=answered.path)
    chat.ask(question)
    expect(chat.answers.last).to_contain_text("One", timeout=LOADED)
    app.kill()
    app.start()
    interrupted = chat.page.get_by_text(Interrupted().sentence(language))
    expect(interrupted).to_be_visible(timeout=LOADED)
    expect(chat.questions).to_have_text([FIRST, question])
    expect(chat.stop).to_have_count(0)
    expect(chat.answers.first).to_contain_text("A director approves it")
    chat.settle()
    chat.answers.first.locator(".cite").click()
    expect(chat.page.locator(".passage-card:popover-open")).to_contain_text("travel.md")
    chat.page.keyboard.press("Escape")
    expect(chat.sidebar.get_by_role("button", name=FIRST)).to_be_visible()
    chat.button("chat.again").last.click()
    expect(chat.questions).to_have_text([FIRST, question, question], timeout=LOADED)
    expect(chat.answers.last).to_contain_text("A director approves the green car", timeout=LOADED)
    expect(interrupted).to_have_count(1)
    chat.complaints.clear()  # messages about the refused connection
    chat.page.close()


@pytest.mark.soak  # without a browser: tests/pages/test_compare.py
@pytest.mark.parametrize("is_open", [True, False], ids=["open meanwhile", "opened afterwards"])
def test_after_a_killed_server_a_comparison_reports_it_and_asks_again(own_app, visit, server, is_open):
    app, _ = own_app
    visitor, question = visit(app=app, path="/compare"), new_question()
    answer_at_the_second_time(server, question, columns=2)
    begin(visitor, question)
    expect(visitor.answers).to_contain_text(["One", "One"], timeout=LOADED)  # each has its endless answer
    address = f"/compare?{visitor.page.url.partition('?')[2]}"
    if not is_open:
        visitor.page.close()
    app.kill()
    app.start()
    if not is_open:
        visitor = visit(app=app, path=address)
    interrupted = visitor.page.get_by_text(Interrupted().sentence(visitor.language))
    expect(interrupted).to_have_count(2, timeout=LOADED)
    for left in (1, 0):
        # A click on a button that is just being drawn again is lost.
        expect(visitor.button("compare.again")).to_have_count(left + 1)
        visitor.settle()
        visitor.button("compare.again").first.click()
        expect(interrupted).to_have_count(left, timeout=LOADED)
    expect(differences(visitor)).to_be_visible(timeout=LOADED)
    expect(visitor.answers).to_have_count(2)
    visitor.complaints.clear()  # messages about the refused connection
    visitor.page.close()


def answer_at_the_second_time(server: OpenAIServer, question: str, columns: int = 1) -> None:
    """The first answer, of each column, never ends."""
    script(server, question, "A director approves the green car [1].")
    server.answer_when(lambda request: request.schema is None and question in request.prompt, ENDLESS, times=columns)


# Two tabs


@pytest.mark.soak  # without a browser: tests/pages/widgets/chat/conversation/test_shown.py
def test_what_two_tabs_ask_in_one_conversation_is_all_there_in_the_order_in_which_it_was_asked(answered, visit, server):
    asked = [FIRST, "Who approves it in the first tab?", "Who approves it in the second?"]
    path = answered(FIRST, "A director approves it [1].").path
    for question in asked[1:]:
        script(server, question, "A director [1].")
    one, other = visit(path=path), visit(path=path)
    expect(other.questions).to_have_text(asked[:1], timeout=LOADED)
    for visitor, count in ((one, 2), (other, 3)):
        visitor.ask(asked[count - 1])
        expect(visitor.button("chat.again")).to_have_count(count, timeout=LOADED)
        expect(visitor.questions).to_have_text(asked[:count])
    one.page.reload()
    expect(one.questions).to_have_text(asked, timeout=LOADED)


@pytest.mark.soak
def test_a_conversation_that_another_tab_deletes_goes_with_its_run_and_what_is_asked_then_begins_a_new_one(
    loaded, visit, server
):
    question = ask(loaded, server, ENDLESS)
    other = visit(path=f"/?{loaded.page.url.partition('?')[2]}")
    expect(other.questions).to_have_text([question], timeout=LOADED)
    loaded.delete_conversation()
    for visitor in (loaded, other):
        expect(visitor.text("empty.title")).to_be_visible(timeout=LOADED)
    script(server, "And who approves a hotel?", "A director [1].")
    other.ask("And who approves a hotel?")
    other.wait_for_the_end()
    expect(other.questions).to_have_text(["And who approves a hotel?"])
    assert requests_for(server, question)[0].disconnected.wait(GONE)


@pytest.mark.soak  # without a browser: tests/pages/changes/test_deleted_elsewhere.py
def test_a_trace_whose_run_another_tab_has_deleted_opens_to_no_empty_frame(answered, visit):
    path = answered(FIRST, "A director approves it [1].").path
    one, other = visit(path=path), visit(path=path)
    expect(other.answers).to_be_visible(timeout=LOADED)
    one.delete_conversation()
    expect(one.questions).to_have_count(0)
    other.settle()
    other.traces.click()  # not `open`, which waits for an open fold: this one goes
    expect(other.text("empty.title")).to_be_visible(timeout=LOADED)


# Documents that a run has read


@pytest.mark.soak  # without a browser: tests/pages/widgets/trace/fork/test_fork.py
@one_look("en", 390, "light")
def test_a_fork_form_warns_of_changed_documents_and_of_a_deleted_index(
    answered, visit, server, tmp_path, language, width, scheme
):
    path = answered("Who approves the green car?", "A director approves it [1].").path
    visitor = visit(language, path=path, width=width, scheme=scheme)
    origin = visitor.page.evaluate("location.origin")
    newer = tmp_path / "newer" / "travel.md"
    newer.parent.mkdir()
    newer.write_text(f"{HANDBOOK}\nThe rest is new.\n", encoding="utf-8")
    other = visit(language)
    other.upload(newer)

    def warned(key: str) -> None:
        warning = visitor.page.get_by_test_id("stAlert").filter(has_text=visitor.words[key].partition("{")[0].strip())
        expect(warning.locator("visible=true").first).to_be_visible(timeout=LOADED)

    visitor.page.reload()
    open_form(visitor, "generate")
    warned("change.newer")
    other.page.goto(f"{origin}/documents")
    other.settle()
    other.button("index.delete").click()
    other.page.get_by_test_id("stPopoverBody").get_by_role("button").click()
    expect(other.table).to_have_count(0, timeout=LOADED)
    visitor.page.reload()
    expect(visitor.answers).to_contain_text("A director approves it", timeout=LOADED)
    open_form(visitor, "generate")
    warned("change.gone")
    visitor.button("change.run_on").locator("visible=true").click()
    expect(visitor.page.get_by_test_id("stAlertContentError").first).to_be_visible(timeout=LOADED)
    assert visitor.width <= width


# Very long runs and answers


PASSAGES = tuple(
    Passage(
        number=number, rank=number, score=0.9, document_id="d", section_id=f"s{number}", source="travel.md",
        title="Travel", headings=("Trains",), page=None, text="The green car needs the approval of a director. " * 12,
        start=0, end=576,
    )
    for number in range(1, 9)
)  # fmt: skip
CITED = Citation(**PASSAGES[0].model_dump(include=set(Citation.model_fields) - {"removed"}))
GRADE = Grade(verdict="yes", score=0.9, reason="It says so.")


def long_run(run_id: str, conversation_id: str, answer: str) -> Iterator[Event]:
    """The events of a run with five steps per round."""
    yield RunStarted(
        run_id=run_id, conversation_id=conversation_id, question="Who approves the green car?", index="handbook",
        pipeline="self_rag", model="m", at=1_800_000_000,
    )  # fmt: skip
    graded = tuple(PassageGrade(passage=each, grade=GRADE) for each in PASSAGES)
    grounded, useless = Grounding(verdict="yes", score=1, level="fully"), Usefulness(verdict="no", score=0, rating=1)
    checked = AnswerCheckDetail(grounding=grounded, usefulness=useless)
    for attempt in range(1, ROUNDS + 1):
        done = (
            ("retrieve", RetrievalDetail(query="?", mode="vector", unit="chunk", passages=PASSAGES), None),
            ("grade_documents", GradesDetail(question="?", grades=graded), ("generate", "relevant")),
            ("generate", GenerationDetail(passages=(1,), text=f"Answer {attempt}.", cited=(1,)), None),
            ("check_answer", checked, ("rewrite_question", "not_useful")),
            ("rewrite_question", RewriteDetail(before="?", after=f"Question {attempt}?"), None),
        )
        for place, (step, detail, branch) in enumerate(done):
            start = (attempt - 1) * 5.0 + place
            yield StepStarted(step=step, attempt=attempt, start=start)
            yield StepFinished(
                step=step, attempt=attempt, start=start, milliseconds=900, model_calls=1, tokens_in=100, tokens_out=5,
                detail=detail,
            )  # fmt: skip
            if branch:
                yield Decision(**{"from": step}, to=branch[0], why=branch[1])
    totals = Totals(seconds=ROUNDS * 5, model_calls=ROUNDS * 5, tokens_in=20_000, tokens_out=1000, generations=ROUNDS)
    yield RunFinished(status="finished", answer=answer, outcome="answered", citations=(CITED,), totals=totals)


def long_answer(characters: int = LONGEST_ANSWER) -> str:
    """An answer with paragraphs, lists and tables, and a marker in each."""
    part = (
        "## A part\n\nA director approves the green car [1]. **One word** after another, for as long as it takes.\n\n"
        "- 部長が承認します [1]\n- グリーン車の利用\n\n| Rule | Who |\n|---|---|\n| green car | a director [1] |\n\n"
    )
    return part * (characters // len(part) + 1) + END


@pytest.fixture
def long_app(app, tmp_path) -> App:
    """The app with one run of many steps and a long answer."""
    history = History(tmp_path / "long")
    conversation = history.conversations.new("Who approves the green car?", principal=LOCAL).id
    for event in long_run("long", conversation, long_answer()):
        history.save("long", event)
    history.close()
    app.renew(DATA_DIR=str(tmp_path / "long"))
    return app


def rows(visitor: Visitor):
    return visitor.page.get_by_test_id("stExpander").locator("summary").filter(has=visitor.page.locator("strong"))


@pytest.mark.soak  # shorter answers: test_run.py; a stop: test_graph.py
@pytest.mark.parametrize("characters", [5000, LONGEST_ANSWER])
def test_a_long_answer_arrives_whole_and_can_be_stopped_on_its_way(loaded_app, visit, server, characters):
    answer = long_answer(characters)
    loaded_app.renew(ANSWER_TOKENS=str(LONGEST_ANSWER), MODEL_CONTEXT=str(4 * LONGEST_ANSWER))
    loaded = visit()
    loaded.pick_pipeline("naive")
    script(server, "How long is it?", Answer(answer, token_seconds=0.0005))
    loaded.ask("How long is it?")
    loaded.wait_for_the_end()
    expect(loaded.answers).to_contain_text(END)
    expect(loaded.answers.locator("h2")).to_have_count(answer.count("## A part"))
    loaded.button("sidebar.new_chat").click()
    expect(loaded.answers).to_have_count(0)
    script(server, "Is it still as long?", Answer(answer, token_seconds=0.002, until=threading.Event()))
    loaded.ask("Is it still as long?")
    expect(loaded.answers.last).to_contain_text("A part", timeout=LOADED)
    loaded.settle()
    loaded.stop.click()
    expect(loaded.text("chat.stopped")).to_be_visible(timeout=LOADED)
    expect(loaded.answers.last).not_to_contain_text(END)


@pytest.mark.soak  # a shorter run: tests/browser/test_looks.py
@one_look("en", 390, "dark")
def test_a_run_of_200_steps_and_50000_characters_is_shown_to_its_end_and_the_page_goes_on_to_work(
    long_app, visit, language, width, scheme
):
    visitor = visit(language, path="/runs?run=long", width=width, scheme=scheme)
    expect(rows(visitor)).to_have_count(ROUNDS * 5, timeout=LOADED)
    expect(visitor.page.locator(".run-graph .node", has_text=f"×{ROUNDS}")).to_have_count(5)
    visitor.settle()
    last = rows(visitor).last
    visitor.open(last)
    expect(last.locator("xpath=..").locator(".detail")).to_contain_text(f"Question {ROUNDS}?")
    visitor.page.get_by_role("radio", name=visitor.words["graph.unrolled"], exact=True).click()
    expect(visitor.page.locator(".unrolled .node")).to_have_count(ROUNDS * 5)

    expect(visitor.answers).to_contain_text(END, timeout=LOADED)
    assert len(visitor.answers.inner_text()) > LONGEST_ANSWER // 2
    visitor.answers.locator(".cite").last.click()
    expect(visitor.page.locator(".passage-card:popover-open")).to_be_visible()
    assert visitor.width <= width
