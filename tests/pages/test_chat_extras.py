"""The chat around an answer: conversation names, reasons for a rating, copying, follow-ups, start of the model."""

import json
import re
import threading
import time
from html import unescape

import pytest

from pages.server import process
from rag.errors import NotSaved
from rag.models.service.en import EN
from rag.models.service.ja import JA
from rag.runs.engine import Engine
from rag.runs.history.for_people.user_history import UserConversations, UserHistory
from rag.runs.history.history import LONGEST_REASON
from rag.settings import Settings
from tests.helpers.looks import one_language
from tests.helpers.waiting import PATIENCE, eventually
from tests.pages.tabs.chat_page import ChatPage
from tests.rag.scripted import ScriptedChat, ScriptedSource

QUESTION = {"ja": "グリーン車は誰が承認しますか？", "en": "Who approves the green car?"}
SUGGESTED = {
    "ja": ("誰が *宿泊* を承認しますか？", "日当はいくらですか？"),
    "en": ("Who approves a *hotel*?", "What is the allowance?"),
}


@pytest.fixture
def page(handbook, engine):
    """Opens the chat page with an answered question."""

    def page(language: str = "en") -> ChatPage:
        run = engine.ask(QUESTION[language], index="handbook", pipeline_name="naive")
        run.result()
        return ChatPage(language, conversation=run.conversation_id)

    return page


def field(page: ChatPage, beginning: str):
    [field] = [each for each in page.app.text_input if str(each.key).startswith(beginning)]
    return field


# Names of conversations


@one_language("ja")
def test_a_conversation_is_renamed_in_the_sidebar(page, engine, language):
    page = page(language)
    page.press_key("sign-rename-")
    title = field(page, "title-")
    assert (title.value, title.label) == (QUESTION[language], page.words["sidebar.rename"])
    assert title.proto.max_chars == 0  # a longer one is cut; with a limit, the browser would drop one that is pasted
    title.set_value("<b>Trains</b> *2026*")
    page.look()
    assert engine.history.conversations.get(page.conversation).title == "<b>Trains</b> *2026*"
    assert "<b>Trains</b> *2026*" in page.buttons
    assert not [each for each in page.app.text_input if str(each.key).startswith("title-")]


def test_a_conversation_that_another_tab_renames_while_the_page_is_drawn_is_listed_once(page, engine, monkeypatch):
    get = UserConversations.get

    def renamed_before(conversations, conversation_id):
        engine.history.conversations.rename(conversation_id, "Trains")
        return get(conversations, conversation_id)

    page = page()
    monkeypatch.setattr(UserConversations, "get", renamed_before)
    page.look()
    assert len([each for each in page.app.button if str(each.key) == f"open-{page.conversation}"]) == 1


@pytest.mark.soak
def test_a_second_press_leaves_the_name_as_it_is_and_so_does_a_blank_one(page, engine):
    page = page()
    page.press_key("sign-rename-")
    page.press_key("sign-rename-")
    assert QUESTION["en"] in page.buttons
    page.press_key("sign-rename-")
    field(page, "title-").set_value("  ")
    page.look()
    assert QUESTION["en"] in page.buttons


# Reasons for a rating


@one_language("ja")
@pytest.mark.parametrize("thumb", [0, pytest.param(1, marks=pytest.mark.soak)])
def test_a_thumb_takes_a_reason_and_shows_it_again(page, engine, language, thumb):
    page = page(language)
    assert not [each for each in page.app.text_input if str(each.key).startswith("reason-")]
    page.app.feedback[0].set_value(thumb)
    page.look()
    reason = field(page, "reason-")
    assert (reason.placeholder, reason.proto.max_chars) == (page.words["chat.reason"], 0)
    reason.set_value("It names *no* year.")
    page.look()
    [run] = engine.history.runs()
    assert (run.feedback, run.feedback_reason) == ((-1, 1)[thumb], "It names *no* year.")
    assert page.words["chat.reason_kept"] in [each.value for each in page.app.caption]
    again = ChatPage(language, conversation=page.conversation)
    assert field(again, "reason-").value == "It names *no* year."


def test_a_reason_that_could_not_be_saved_is_not_said_to_be_kept(page, engine, monkeypatch):
    def full(*_: object) -> None:
        raise NotSaved()

    monkeypatch.setattr(UserHistory, "explain_feedback", full)
    page = page("en")
    page.app.feedback[0].set_value(0)
    page.look()
    field(page, "reason-").set_value("It names no year.")
    page.look()
    assert page.words["chat.reason_kept"] not in [each.value for each in page.app.caption]


@one_language("ja")
def test_below_an_answer_that_is_not_good_a_fold_says_why(page, engine, language):
    page = page(language)
    why = page.words["runs.why_label"]
    assert why not in [each.label for each in page.app.expander]
    page.app.feedback[0].set_value(0)
    page.look()
    assert why in [each.label for each in page.app.expander]
    assert page.words["cause.misread_note"] not in page.text
    page.app.session_state[f"why-{engine.history.runs()[0].id}"] = True
    page.look()
    assert page.words["cause.misread_note"] in page.text


# Also in tests/rag/runs/history/test_history.py, without a page.
@pytest.mark.soak
def test_a_reason_longer_than_the_limit_is_cut_and_shown_as_it_was_saved(page, engine):
    page = page()
    page.app.feedback[0].set_value(0)
    page.look()
    field(page, "reason-").set_value("x" * (LONGEST_REASON + 1))
    page.look()
    assert field(page, "reason-").value == engine.history.runs()[0].feedback_reason == "x" * LONGEST_REASON


@pytest.mark.soak
def test_a_thumb_that_was_taken_back_comes_without_its_earlier_reason(page, engine, monkeypatch):
    page = page()
    [run] = engine.history.runs()
    engine.history.rate(run.id, -1)
    engine.history.explain_feedback(run.id, "It names no year.")
    # The answer is drawn again alone, with the run as the page has read it.
    read = engine.history.outlines(page.conversation, 5)
    monkeypatch.setattr(UserHistory, "outlines", lambda *_, **__: read)
    page = ChatPage(conversation=page.conversation)
    assert field(page, "reason-").value == "It names no year."
    for thumb in (None, 0):
        page.app.feedback[0].set_value(thumb)
        page.look()
    assert field(page, "reason-").value == ""
    assert page.words["chat.reason_kept"] not in page.text
    field(page, "reason-").set_value("It is old.")
    assert field(page.look(), "reason-").value == engine.history.run(run.id).feedback_reason == "It is old."


# Copying an answer


@one_language("en")
def test_an_answer_can_be_copied_with_its_sources(page, language):
    page = page(language)
    [html] = [each.value for each in page.app.html if 'class="copying"' in each.value]
    text = unescape(re.search(r"<textarea[^>]*>(.*)</textarea>", html, re.DOTALL)[1])
    assert QUESTION[language] in text
    assert "A director [^1]." in text
    assert "    > The green car needs the approval of a director." in text
    assert page.words["chat.copy_markdown"] in html


@pytest.mark.soak
def test_what_is_copied_does_not_leave_its_field(page, server):
    page = page()
    page.pick("pipeline.label", "naive")
    server.default = "</textarea><script>alert(1)</script> [1]"
    page.ask("Another one?")
    html = [each.value for each in page.app.html if 'class="copying"' in each.value][-1]
    assert "<script>" not in html
    assert html.count("</textarea>") == 1


# Follow-ups


@pytest.fixture
def suggesting(monkeypatch, handbook, server):
    def suggesting(language: str) -> ChatPage:
        reply = json.dumps({"questions": SUGGESTED[language]})
        for words in (EN, JA):
            server.answer_when(lambda request, words=words: words.follow_ups in request.prompt, reply)
        page = ChatPage(language)
        page.pick("pipeline.label", "naive")
        page.ask(QUESTION[language])
        return page

    monkeypatch.setattr(process.engine().settings, "suggest_follow_ups", "service")
    return suggesting


@one_language("ja")
def test_follow_ups_are_offered_below_the_last_answer_alone_and_one_press_asks(suggesting, engine, language):
    page = suggesting(language)
    [first] = engine.history.runs()
    assert eventually(lambda: not engine.suggestions.are_coming(first.id))
    page.look()
    assert page.words["chat.follow_ups"] in [each.value for each in page.app.caption]
    assert set(SUGGESTED[language]) <= set(page.buttons)
    page.press(SUGGESTED[language][0])
    run = page.wait()
    assert (run.question, run.index) == (SUGGESTED[language][0], "handbook")
    assert (run.pipeline, run.follows) == ("naive", first.id)
    assert [str(each.key).startswith(f"follow-up-{first.id}") for each in page.app.button].count(True) == 0


@pytest.mark.soak
def test_a_suggested_question_is_read_against_the_answer_below_which_it_stands(handbook, server, engine, monkeypatch):
    monkeypatch.setattr(process.engine().settings, "suggest_follow_ups", "service")
    suggested = json.dumps({"questions": ["Who approves the request?"]})
    server.answer_when(lambda request: EN.follow_ups in request.prompt, suggested)
    server.answer_when(lambda request: EN.standalone in request.prompt, "Who approves a seat in the green car?")
    page = ChatPage()
    page.pick("pipeline.label", "naive")
    page.ask("How many days of paid annual leave do staff have?")
    latest = page.ask("Is the green car allowed on business trips for directors?")
    assert eventually(lambda: not engine.suggestions.are_coming(latest.id))
    page.look()
    page.press("Who approves the request?")
    page.wait()
    [condensing] = [request.prompt for request in server.chats if EN.standalone in request.prompt]
    assert latest.question in condensing


def test_where_they_are_off_nothing_is_offered(page, engine):
    page = page()
    assert page.words["chat.follow_ups"] not in [each.value for each in page.app.caption]


# The start of the model


class Held(ScriptedSource):
    def __init__(self, may_start: threading.Event) -> None:
        super().__init__(ScriptedChat(), starts=True)
        self._may_start = may_start

    def open(self):
        assert self._may_start.wait(PATIENCE)
        return super().open()


@one_language("en")
def test_a_model_that_has_to_be_started_starts_with_the_page_which_says_so(data_dir, monkeypatch, tmp_path, language):
    file = tmp_path / "travel.md"
    file.write_text("# Trains\n\nThe green car needs the approval of a director.\n", encoding="utf-8")
    may_start = threading.Event()
    engine = Engine(Settings(data_dir=data_dir, preload=True, web_search="off"), source=Held(may_start))
    monkeypatch.setattr(process, "_engine", engine)
    page = ChatPage(language)
    told = page.words["chat.starting_model"].partition("{")[0]

    def says_so() -> bool:
        page.look()
        return any(each.value.startswith(told) for each in page.app.caption)

    assert not says_so()  # there are no documents yet
    assert engine.store.add("handbook", file, file.name).error is None
    assert says_so()
    with monkeypatch.context() as clock:
        now = time.time
        clock.setattr(time, "time", lambda: now() - 3600)  # set back meanwhile
        assert says_so()
        assert not any(told + "-" in each.value for each in page.app.caption)
    may_start.set()
    assert eventually(lambda: engine.preload.since is None)
    assert not says_so()
