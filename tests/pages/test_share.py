"""Sharing from the chat, what a link shows, and the list of links."""

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import NoReturn

import pytest
import streamlit as st

from index_store.access.audit.audit import EntryFilter
from index_store.base.errors import DatabaseAway
from pages.server import process
from pages.server.process import engine
from pages.texts import texts
from pages.widgets.chat.turn import share
from pages.widgets.controls.script import SCRIPTS
from rag.errors import UnknownShare
from rag.runs.user_services import UserExports
from rag.trace.events import StepFinished
from tests.helpers.back_doors import person_of
from tests.helpers.local import as_person
from tests.helpers.looks import one_language
from tests.pages.conftest import ORIGIN
from tests.pages.tabs.app_page import AppPage, shown
from tests.pages.tabs.chat_page import ChatPage
from tests.pages.tabs.compare_page import ComparePage
from tests.pages.tabs.runs_page import RunsPage
from tests.rag.verdicts import YES

pytestmark = pytest.mark.usefixtures("engine")


class Page(AppPage):
    @property
    def told(self) -> str:
        return shown(self.written)

    @property
    def written(self) -> str:
        drawn = (*self.app.html, *self.app.markdown, *self.app.caption, *self.app.error, *self.app.header)
        return "\n".join(each.value for each in drawn)

    def press(self, label: str) -> None:
        next(each for each in self.app.button if each.label == label).click()
        self.look()


@pytest.fixture
def chat(server, tmp_path) -> ChatPage:
    """The chat page with an answered question."""
    file = tmp_path / "handbook.md"
    file.write_text("# Handbook\n\nIt stands here.", encoding="utf-8")
    assert engine().store.add("documents", file, file.name).error is None
    server.default = "It is in the handbook."
    server.answer_when(lambda request: request.schema is not None, YES)
    run = engine().ask("Where does it stand?", index="documents", pipeline_name="self_rag")
    run.result()
    return ChatPage(conversation=run.conversation_id)


def open_sharing(chat: ChatPage, of: str) -> None:
    chat.app.session_state[f"share-{of}"] = True
    chat.look()


def token_of(chat: ChatPage) -> str:
    [code] = chat.app.code
    return re.fullmatch(rf"{ORIGIN}/shared\?share=([\w-]{{43}})", code.value)[1]


@one_language("ja")
def test_a_conversation_is_shared_from_its_head_and_its_link_shows_it_to_be_read_alone(chat, language):
    open_sharing(chat, chat.conversation)
    chat.press(chat.words["share.make"])
    token = token_of(chat)
    page = Page("personal/shared", language, share=token)
    assert "Where does it stand?" in page.told
    assert "It is in the handbook." in page.told
    words = texts(language)
    assert not page.app.chat_input
    assert not page.app.button
    assert not page.app.get("feedback")
    assert words["sidebar.new_chat"] not in page.told


@pytest.mark.soak
def test_an_answer_is_shared_alone(chat):
    first = chat.wait()
    said = {"index": "documents", "pipeline_name": "naive", "conversation_id": chat.conversation}
    engine().ask("And what else?", **said).result()
    chat.look()
    open_sharing(chat, first.id)
    chat.press(chat.words["share.make"])
    told = Page("personal/shared", share=token_of(chat)).told
    assert "Where does it stand?" in told
    assert "And what else?" not in told


@one_language("ja")
def test_a_revoked_an_unknown_and_a_missing_link_show_the_same_sentence(chat, language):
    open_sharing(chat, chat.conversation)
    chat.press(chat.words["share.make"])
    token = token_of(chat)
    chat.press(chat.words["share.revoke"])
    assert not chat.app.code
    for named in ({"share": token}, {"share": "never"}, {}):
        page = Page("personal/shared", language, **named)
        assert [shown(each.value) for each in page.app.error] == [UnknownShare().sentence(language)]
        assert "Where does it stand?" not in page.told


def test_a_page_that_is_open_shows_nothing_more_once_its_link_is_revoked(chat):
    made = engine().shares.add(chat.conversation)
    page = Page("personal/shared", share=made.token)
    page.look()
    assert "Where does it stand?" in page.told
    Page("personal/shared", share=made.token)
    opened = engine().store.access.audit.read(EntryFilter(action="share_opened", words=made.share.id)).entries
    assert len(opened) == 2  # each opening counts once, however often its page is drawn
    engine().shares.revoke(made.share.id)
    page.look()
    assert "Where does it stand?" not in page.told


def test_a_link_shows_another_persons_run_with_prompts_but_without_documents(chat, server, monkeypatch):
    server.default = "It stands there [1]."
    chat.ask("Who says so?")
    run = chat.wait()
    made = engine().shares.add(run.id)
    ended = [each for each in engine().history.events(run.id) if isinstance(each, StepFinished)]
    completing, *_, answering = [each.step for each in ended if each.model_calls]
    stranger = as_person(engine(), "stranger")
    monkeypatch.setattr(process, "principal", lambda: person_of(stranger))
    assert engine().history.run(run.id) is None
    page = Page("personal/shared", share=made.token)
    page.app.session_state[f"trace-{run.id}"] = True
    page.look()
    for step in (completing, answering):
        page.app.session_state[f"calls-past-{run.id}-{step}-1"] = True
    page.look()
    assert "Who says so?" in page.told
    assert page.written.count('class="detail calls"') == 1
    assert page.told.count(shown(texts("en")["call.not_kept"])) == 1
    assert "Where does it stand?" not in page.told
    assert page.told.count(shown(texts("en")["chat.gone"])) == 1


@pytest.mark.soak
def test_a_link_is_shown_again_to_the_tab_that_made_it_and_to_no_other(chat):
    open_sharing(chat, chat.conversation)
    chat.press(chat.words["share.make"])
    assert token_of(chat)
    other = ChatPage(conversation=chat.conversation)
    open_sharing(other, chat.conversation)
    assert not other.app.code
    assert other.words["share.revoke"] in other.buttons


@one_language("en")
def test_all_links_are_listed_and_each_can_be_revoked(chat, language):
    words = texts(language)
    made = engine().shares.add(chat.conversation)
    engine().shares.add(chat.wait().id)
    page = Page("personal/shares", language)
    assert page.told.count("Where does it stand?") == 2
    assert words["share.conversation"] in page.told
    assert words["share.run"] in page.told
    [*_, oldest] = [each for each in page.app.button if shown(each.label) == words["share.revoke"]]
    assert len({each.label for each in page.app.button}) == 2
    oldest.click()
    page.look()
    with pytest.raises(UnknownShare):
        engine().shares.shared(made.token)
    assert words["share.revoked"].partition(" ")[0] in page.told


@pytest.mark.soak
def test_a_link_to_an_answer_to_a_pasted_mail_is_listed_by_the_beginning_of_the_mail(chat):
    run = chat.ask("Dear team,\n" + "the train was late again. " * 40 + "Who approves the green car?")
    token = engine().shares.add(run.id).token
    for page in (Page("personal/shares"), Page("personal/shared", share=token)):
        assert "Dear team, the train was late" in page.text
        assert max(map(len, page.text.splitlines())) < 200


def test_a_page_without_links_says_how_to_make_one():
    assert texts("en")["share.none"] in Page("personal/shares").told


@pytest.mark.soak
def test_a_title_that_reads_as_a_picture_is_shown_as_written(chat):
    run = engine().ask("![x](https://elsewhere.example/x.png) <b>?", index="documents", pipeline_name="naive")
    run.result()
    engine().shares.add(run.id)
    page = Page("personal/shares")
    assert "\\!\\[x\\]\\(" in page.written


# Also in tests/rag/runs/history/for_people/test_shares.py and tests/rag/runs/export/test_export.py, without a page.
@pytest.mark.soak
def test_the_branch_on_the_page_is_shared_and_saved(chat, monkeypatch):
    said = {"index": "documents", "pipeline_name": "naive", "conversation_id": chat.conversation}
    engine().ask("Who edited it?", **said, edits=chat.wait().id).result()
    files: dict[str, tuple[str, Callable[[], bytes]]] = {}
    monkeypatch.setattr(st, "download_button", lambda label, data, name, *_, **__: files.update({label: (name, data)}))
    open_sharing(chat, chat.conversation)
    for here, other in (("Where does it stand?", "Who edited it?"), ("Who edited it?", "Where does it stand?")):
        chat.press(chat.words["share.make"])
        written = [Page("personal/shared", share=chat.app.code[0].value.partition("=")[2]).told]
        written += [f"{name}{data().decode()}" for name, data in files.values()]
        assert [(here in each, other in each) for each in written] == [(True, False)] * 4
        if here == "Where does it stand?":
            chat.press(chat.words["chat.wording_after"])


@pytest.mark.soak
def test_html_and_markdown_say_alike_when_a_question_was_asked(chat, monkeypatch):
    files: dict[str, Callable[[], bytes]] = {}
    monkeypatch.setattr(st, "download_button", lambda label, data, *_, **__: files.update({label: data}))
    open_sharing(chat, chat.conversation)
    page, markdown = files[chat.words["export.html"]]().decode(), files["Markdown"]().decode()
    [asked] = re.findall(r'<p class="asked">([-0-9]+ [0-9:]+) ·', page)
    assert f"\n{asked} · {chat.words['pipeline.self_rag']} · documents" in markdown


@pytest.mark.soak
def test_files_are_offered_and_made_only_when_asked_for(chat, monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(UserExports, "gather", lambda exports, of, form, through: asked.append(of))
    open_sharing(chat, chat.conversation)
    assert len(chat.app.get("download_button")) == 3
    assert asked == []


def test_a_file_that_cannot_be_made_says_why(chat, monkeypatch):
    def is_away(*_: object, **__: object) -> NoReturn:
        raise DatabaseAway

    files: list[Callable[[], bytes]] = []
    monkeypatch.setattr(UserExports, "gather", is_away)
    monkeypatch.setattr(st, "download_button", lambda label, data, *_, **__: files.append(data))
    open_sharing(chat, chat.conversation)
    assert [each().decode() for each in files] == [DatabaseAway().sentence("en")] * 3


def test_every_page_that_shows_an_answer_can_copy_it_and_draw_its_formulae(chat):
    run = chat.wait()
    token = engine().shares.add(run.id).token
    for page in (chat, RunsPage(run=run.id), ComparePage(runs=run.id), Page("personal/shared", share=token)):
        assert [page.html.count(SCRIPTS[each]) for each in ("copy_on_click", "draw_formulae")] == [1, 1]


@pytest.mark.parametrize("home", [
    "http://kb-search",
    "https://rag.example.co.jp:8443",
    *(pytest.param(each, marks=pytest.mark.soak) for each in ("http://chat", "http://search")),
])  # fmt: skip
def test_a_link_begins_with_the_address_of_the_app_whatever_its_host_is_called(monkeypatch, home):
    cut = home.removesuffix("search")  # what Streamlit makes of it
    context = SimpleNamespace(url=cut, headers={"Origin": home})
    monkeypatch.setattr(share, "st", SimpleNamespace(context=context))
    assert share.link("x") == f"{home}/shared?share=x"
