"""The chat page in both languages: empty, with documents, answers and errors, and with stored conversations."""

import os
import threading
from functools import partial
from html import escape
from pathlib import Path

import pytest

from index_store.access.principal import Role
from index_store.access.rights import Right
from index_store.base.errors import EmptyDocument, EmptyIndex, InvalidSetting, KeyRefused, ServiceFailed, StoreInUse
from index_store.base.services.service_address import host_of
from index_store.ingestion.sources import FileSource, upload_folder
from index_store.library.data_folder import lock_folder
from pages import samples
from pages.server import process
from pages.texts import texts
from rag.models.service.en import EN
from rag.pipelines import PIPELINES
from rag.runs.history.for_people.user_history import UserHistory
from rag.runs.history.history import RunOutline
from rag.runs.run.summary import LISTED
from rag.trace.events import RunFinished
from tests.helpers.back_doors import person_of
from tests.helpers.handbook import HANDBOOK, YES
from tests.helpers.local import as_person, grant
from tests.helpers.looks import one_language
from tests.pages.conftest import restart
from tests.pages.tabs.app_page import shown
from tests.pages.tabs.chat_page import ChatPage
from tests.servers import Answer, Refusal

ROOT = Path(__file__).parent.parent.parent
ASKED = {"ja": "国内出張の日当はいくらですか？", "en": "Who approves the green car?"}
ANSWERED = {"ja": "日当は1日2,500円です[1]。", "en": "A director approves it [1]."}


@pytest.fixture
def handbook(engine, server, tmp_path) -> None:
    """An index with the handbook, and a model that finds everything relevant and answers each question as above."""
    file = tmp_path / "travel.md"
    file.write_text(HANDBOOK, encoding="utf-8")
    assert engine.store.add("handbook", file, file.name).error is None
    for language, question in ASKED.items():
        server.answer_when(lambda request, asked=question: asked in request.prompt, ANSWERED[language])
    server.answer_when(lambda request: request.schema is not None, YES)


def answered(question: str) -> ChatPage:
    """The page of a conversation whose only question the cheapest pipeline has answered."""
    run = process.engine().ask(question, index="handbook", pipeline_name="naive")
    run.result()
    return ChatPage(conversation=run.conversation_id)


@one_language("ja")
def test_the_empty_page_offers_the_samples(engine, language):
    page = ChatPage(language)
    assert page.words["empty.title"] in [each.value for each in page.app.header]
    assert page.words["empty.no_documents"] in [each.value for each in page.app.markdown]
    assert page.words["empty.load_samples"] in page.buttons


@one_language("en")
def test_while_the_first_documents_are_added_the_page_says_so_and_offers_no_more(engine, server, language):
    page = ChatPage(language)
    server.embeds = threading.Semaphore(0)
    page.press(page.words["empty.load_samples"])
    [ingestion] = engine.store.ingestions
    assert page.words["empty.adding"] in [each.value for each in page.app.info]
    assert page.words["empty.no_documents"] not in [each.value for each in page.app.markdown]
    assert page.words["empty.load_samples"] not in page.buttons
    ingestion.cancel()
    ingestion.wait()


def test_the_samples_are_offered_after_files_that_failed(engine, tmp_path):
    file = tmp_path / "empty.txt"
    file.touch()
    engine.store.ingest("notes", [FileSource(file)]).wait()
    page = ChatPage()
    assert page.words["job.failed_one"] in page.told
    assert page.words["empty.load_samples"] in page.buttons


def test_one_click_loads_the_samples_and_then_questions_to_try_are_offered(engine, server):
    page = ChatPage()
    page.press(page.words["empty.load_samples"])
    [ingestion] = engine.store.ingestions
    ingestion.wait()
    page.look()
    count = len(samples.documents())
    [index] = engine.store.indexes()
    assert (index.name, index.documents) == (samples.INDEX, count)
    assert f"{samples.INDEX} · {page.words['job.ready'].format(count=count)}" in page.told
    documents = page.words["index.documents"].format(count=count)
    assert page.words["index.option"].format(name=samples.INDEX, documents=documents) in page.app.selectbox[0].options
    offered = [each for each in samples.questions() if each.pipeline in PIPELINES]
    assert all(any(each.text in label for label in page.buttons) for each in offered)

    server.default = "14 characters [1]."
    chosen = next(each for each in offered if each.pipeline == "naive" and each.language == "en")
    page.press(chosen.text)
    run = page.wait()
    assert (run.question, run.pipeline, run.index, run.status) == (chosen.text, "naive", samples.INDEX, "finished")


@pytest.mark.soak
def test_beside_an_empty_index_the_samples_are_the_index_that_is_asked_once_they_are_loaded(engine):
    engine.store.create_index("a draft")
    page = ChatPage()
    page.press(page.words["empty.load_samples"])
    [ingestion] = engine.store.ingestions
    ingestion.wait()
    page.look()
    assert page.app.selectbox[0].value == samples.INDEX


@one_language("ja")
def test_an_answer_comes_with_its_citation_below_a_trace_that_is_folded_to_a_line(handbook, language):
    page = ChatPage(language)
    assert page.ask(ASKED[language]).status == "finished"
    [answer] = page.answers
    assert ANSWERED[language].partition("[")[0] in answer
    assert 'class="cite"' in answer
    assert "passage-card" in answer
    [trace] = [each for each in page.app.expander if each.label in page.traces]
    assert not trace.proto.expanded
    assert page.words["pipeline.self_rag"] in trace.label
    assert page.words["outcome.confirmed"] in trace.label
    assert page.words["total.calls"].partition("{")[0] in trace.label
    assert page.words["total.tokens"].rpartition("}")[2] in trace.label


@pytest.mark.soak
def test_the_words_of_a_question_are_shown_as_they_were_typed(handbook, server):
    server.default = "Nothing of the kind."
    page = answered("<script>alert(1)</script>\nsecond *line*")
    [question] = page.questions
    assert "&lt;script&gt;" in question
    assert "<script>" not in question
    assert "<br>second *line*" in question


@one_language("en")
@pytest.mark.parametrize(
    ("refusal", "error"),
    [
        (Refusal(500, "boom: Traceback (most recent call last)"), ServiceFailed),
        pytest.param(Refusal(401), KeyRefused, marks=pytest.mark.soak),
    ],
    ids=["500", "wrong key"],
)
def test_a_service_that_fails_is_told_in_one_sentence(handbook, server, language, refusal, error):
    server.fails(refusal, on="/chat/completions")
    page = ChatPage(language)
    run = page.ask(ASKED[language])
    assert run.status == "failed"
    told = error(host=host_of(server.base_url), status=500, model="gpt-4o-mini").sentence(language)
    assert page.errors == [told]
    assert page.words["status.failed"] in page.traces[0]
    assert not page.answers
    assert page.words["chat.again"] in " ".join(page.buttons)

    server.recovers()
    page.press(page.words["chat.again"])
    assert page.wait().status == "finished"
    assert len(page.answers) == 1


@one_language("ja")
def test_an_embedding_service_that_fails_is_told_in_the_page(handbook, server, language):
    server.fails(Refusal(503), on="/embeddings")
    page = ChatPage(language)
    assert page.ask(ASKED[language]).status == "failed"
    assert page.errors == [ServiceFailed(host=host_of(server.base_url), status=503).sentence(language)]


@one_language("ja")
def test_a_question_before_any_document_is_answered_by_what_to_do(engine, language):
    page = ChatPage(language)
    assert page.ask(ASKED[language]).status == "failed"
    assert page.errors == [EmptyIndex(index=page.words["index.default"]).sentence(language)]


@one_language("en")
def test_who_may_only_read_is_offered_nothing_that_would_be_refused_and_told_whom_to_ask(
    handbook, engine, monkeypatch, language
):
    reader, [index] = as_person(engine, "rika"), [each.name for each in engine.store.indexes()]
    monkeypatch.setattr(process, "principal", lambda: person_of(reader))
    page = ChatPage(language)
    assert page.words["documents.empty_reader"] in [each.value for each in page.app.markdown]
    assert page.words["empty.load_samples"] not in page.buttons
    grant(engine, index)
    page.look()
    assert not page.app.file_uploader
    assert page.app.chat_input[0].placeholder == page.words["chat.placeholder_alone"]
    assert page.ask(ASKED[language]).status == "finished"
    as_person(engine, "rika", Role.EDITOR)
    grant(engine, index, Right.WRITE)
    page.look()
    assert page.app.file_uploader
    assert page.app.chat_input[0].placeholder == page.words["chat.placeholder"]


@one_language("ja")
def test_an_empty_question_is_not_asked(handbook, engine, language):
    page = ChatPage(language)
    page.app.chat_input[0].set_value("  \n ")
    page.look()
    assert engine.history.runs() == []
    assert page.errors == []


@pytest.mark.parametrize(("thumb", "saved"), [(1, 1), pytest.param(0, -1, marks=pytest.mark.soak)])
def test_feedback_is_saved_and_shown_again(handbook, engine, thumb, saved):
    page = answered(ASKED["en"])
    [run] = engine.history.runs()
    page.app.feedback[0].set_value(thumb)
    page.look()
    assert engine.history.run(run.id).feedback == saved
    assert ChatPage(conversation=page.conversation).app.feedback[0].value == thumb


def test_a_question_can_be_asked_again_with_another_pipeline(handbook):
    page = ChatPage()
    first = page.ask(ASKED["en"])
    assert first.pipeline == "self_rag"
    page.press(page.words["pipeline.naive"])
    second = page.wait()
    assert (second.pipeline, second.question) == ("naive", first.question)
    assert second.conversation_id == first.conversation_id
    assert len(page.answers) == len(page.traces) == 2
    assert page.words["outcome.answered"] in page.traces[1]


def test_a_follow_up_that_is_asked_again_means_what_it_meant_the_first_time(handbook, server):
    server.answer_when(lambda request: EN.standalone in request.prompt, "Who books the green car?")
    page = answered(ASKED["en"])
    ask = partial(process.engine().ask, index="handbook", pipeline_name="naive", conversation_id=page.conversation)
    for question in ("And who books it?", "How many days of paid annual leave do staff have?"):
        ask(question).result()
    _, follow_up, _ = process.engine().history.runs(page.conversation)
    page.look()
    page.app.button(key=f"again-{follow_up.id}").click()
    page.look()
    again = page.wait()
    ask("Where is the rule about private luggage?").result()
    page.look()
    page.app.button(key=f"again-{again.id}").click()
    page.look()
    page.wait()
    at_first, *later = [request.prompt for request in server.chats if EN.standalone in request.prompt]
    assert later == [at_first, at_first]


# Also in test_chat_extras.py::test_follow_ups_are_offered_below_the_last_answer_alone_and_one_press_asks.
@pytest.mark.soak
def test_the_pipeline_that_is_picked_is_the_one_that_runs(handbook):
    page = ChatPage()
    page.pick("pipeline.label", "naive")
    assert page.ask(ASKED["en"]).pipeline == "naive"


@pytest.mark.soak
def test_the_index_that_is_picked_stays_picked_when_a_document_is_added_to_it(handbook, engine, tmp_path):
    for name in ("first.md", "second.md"):
        (tmp_path / name).write_text(f"# Notes\n\nThe {name} of the green car.", encoding="utf-8")
    engine.store.add("notes", tmp_path / "first.md", "first.md")
    page = ChatPage()
    other = next(index.name for index in reversed(engine.store.indexes()))
    page.app.selectbox[0].set_value(other)
    page.look()
    engine.store.add(other, tmp_path / "second.md", "second.md")
    page.look()
    page.look()
    assert page.ask(ASKED["en"]).index == other


def test_somebody_new_asks_an_index_that_has_documents(handbook, engine):
    engine.store.create_index("a draft")
    assert ChatPage().picked("index.label") == "handbook"


@pytest.mark.soak
def test_an_index_is_picked_also_if_a_document_was_added_since_the_page_was_drawn(handbook, engine, tmp_path):
    for name in ("first.md", "second.md"):
        (tmp_path / name).write_text(f"# Notes\n\nThe {name} of the green car.", encoding="utf-8")
    engine.store.add("notes", tmp_path / "first.md", "first.md")
    page = ChatPage()
    for picked, other in (("notes", "handbook"), ("handbook", "notes")):
        engine.store.add(other, tmp_path / "second.md", f"{picked}.md")
        page.pick("index.label", picked)
        assert page.picked("index.label") == picked
    assert page.ask(ASKED["en"]).index == "handbook"


def test_a_question_that_comes_together_with_an_upload_is_not_lost(handbook, engine):
    page = ChatPage()
    page.app.file_uploader[0].set_value([("notes.txt", b"The kettle holds 1.7 litres.", "text/plain")])
    page.ask(ASKED["en"])
    assert len(page.questions) == 1
    [ingestion] = engine.store.ingestions
    assert [each.status for each in ingestion.wait()] == ["ready"]


def test_conversations_come_back_after_a_restart(handbook):
    page = answered(ASKED["en"])
    said = {"index": "handbook", "pipeline_name": "naive", "conversation_id": page.conversation}
    process.engine().ask(ASKED["ja"], **said).result()
    answers = page.look().answers
    assert len(answers) == 2
    restart()
    fresh = ChatPage()
    assert fresh.conversation is None
    fresh.press(ASKED["en"])
    assert fresh.conversation == page.conversation
    assert len(fresh.questions) == 2
    assert [answer.partition("popovertarget")[0] for answer in fresh.answers] == [
        answer.partition("popovertarget")[0] for answer in answers
    ]


# Also in changes/test_renamed_index.py::test_the_next_question_of_a_conversation_goes_to_the_renamed_index.
@pytest.mark.soak
def test_a_conversation_that_is_opened_in_the_list_shows_the_index_that_it_asked(handbook, engine, tmp_path):
    (tmp_path / "sales.md").write_text("# Sales\n\nThe green car was sold.", encoding="utf-8")
    engine.store.add("sales", tmp_path / "sales.md", "sales.md")
    earlier = engine.ask(ASKED["en"], index="sales", pipeline_name="naive")
    earlier.result()
    page = ChatPage()
    page.pick("index.label", "handbook")
    page.ask(ASKED["ja"])
    assert page.picked("index.label") == "handbook"
    page.press(ASKED["en"])
    assert (page.conversation, page.picked("index.label")) == (earlier.conversation_id, "sales")
    page.pick("index.label", "handbook")
    page.look()
    assert page.ask(ASKED["ja"]).index == "handbook"
    page.pick("index.label", "sales")
    page.press(page.words["sidebar.new_chat"])
    assert page.picked("index.label") == "sales"
    assert page.ask("Which car was sold?").index == "sales"
    page.go("documents", lang="en").go("chat", c=page.conversation, lang="en")
    assert page.picked("index.label") == "sales"


def test_a_run_that_the_end_of_the_app_stopped_is_there_afterwards(handbook, server):
    server.answer_when(lambda request: request.schema is None, Answer("A word. " * 100, until=threading.Event()))
    page = ChatPage()
    page.app.chat_input[0].set_value(ASKED["en"])
    page.look()
    assert any(page.words["chat.stop"] in label for label in page.buttons)
    restart()
    page.look()
    assert page.questions
    assert page.words["chat.stopped"] in [each.value for each in page.app.caption]


def test_an_answer_that_ends_while_the_page_is_drawn_is_shown(handbook, monkeypatch):
    """The run ends after the page has read the history."""
    page, outlines = ChatPage(), UserHistory.outlines
    read: list[RunOutline] = []

    def read_before_the_end(*asked, **options):
        read[:] = [
            RunOutline(run, tuple(event for event in events if not isinstance(event, RunFinished)))
            for run, events in outlines(*asked, **options)
        ]
        return read

    monkeypatch.setattr(UserHistory, "outlines", read_before_the_end)
    assert page.ask(ASKED["en"]).status == "finished"
    assert len(page.answers) == len(page.traces) == len(read) == 1


def test_a_new_chat_leaves_the_old_one_in_the_list(handbook):
    page = answered(ASKED["en"])
    page.press(page.words["sidebar.new_chat"])
    assert page.conversation is None
    assert not page.questions
    assert ASKED["en"] in page.buttons


def test_a_deleted_conversation_is_gone_with_its_runs(handbook, engine):
    page = answered(ASKED["en"])
    page.app.button(key="danger-delete-conversation").click()
    page.look()
    assert page.conversation is None
    assert ASKED["en"] not in page.buttons
    assert not page.app.warning
    assert engine.history.conversations.listed() == engine.history.runs() == []


@one_language("en")
def test_the_address_of_a_conversation_that_is_gone_says_so_and_opens_a_new_chat(handbook, language):
    page = ChatPage(language, conversation="gone")
    assert [each.value for each in page.app.warning] == [page.words["chat.not_here"]]
    assert not page.questions
    assert page.words["empty.ask"] in [each.value for each in page.app.markdown]


def announced(page: ChatPage) -> str:
    return page.page.xpath("//@data-announced")[0]


def test_a_screen_reader_is_told_that_an_answer_is_written_and_how_it_ended(handbook, server):
    server.answer_when(lambda request: request.schema is None, Answer("One. " * 40, until=threading.Event()))
    page = ChatPage()
    page.pick("pipeline.label", "naive")
    assert announced(page) == ""
    page.app.chat_input[0].set_value(ASKED["en"])
    page.look()
    assert announced(page) == page.words["chat.told_running"]
    page.press(page.words["chat.stop"])
    page.wait()
    assert announced(page) == page.words["chat.told_stopped"]
    assert announced(ChatPage(conversation=page.conversation)) == ""  # it is not news


def test_stop_keeps_what_was_written_and_says_so(handbook, server):
    answer = Answer("One word after another. " * 40, until=threading.Event())
    server.answer_when(lambda request: request.schema is None, answer)
    page = ChatPage()
    page.pick("pipeline.label", "naive")
    page.app.chat_input[0].set_value(ASKED["en"])
    page.look()
    server.wait_for_requests(3)  # vectors of the document, vectors of the question, the answer
    [request] = server.chats
    assert not any(page.words["chat.stop"] in each.label for each in page.app.main.button)  # it does not scroll away
    page.press(page.words["chat.stop"])
    run = page.wait()
    assert run.status == "stopped"
    assert request.disconnected.wait(60)
    assert page.words["chat.stopped"] in [each.value for each in page.app.caption]
    assert page.words["status.stopped"] in page.traces[0]
    assert "1 call" in page.traces[0]
    assert "tokens" not in page.traces[0]  # the service tells them at the end alone


def test_a_data_folder_in_use_is_told_in_one_sentence(data_dir, server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    with lock_folder(data_dir):
        for language in ("ja", "en"):
            page = ChatPage(language)
            assert page.errors == [StoreInUse(folder=data_dir, pid=os.getpid()).sentence(language)]
            assert not page.app.chat_input
    page.look()
    assert page.errors == []
    assert page.app.chat_input
    process.close_engine()


@one_language("ja")
def test_a_setting_that_is_wrong_is_told_in_one_sentence(monkeypatch, language):
    monkeypatch.setenv("MAX_REWRITES", "many")
    page = ChatPage(language)
    [told] = page.errors
    allowed = {"allowed_en": "a whole number from 0 to 10", "allowed_ja": "0〜10 の整数"}
    assert told == InvalidSetting(variable="MAX_REWRITES", **allowed).sentence(language)


def test_the_uploader_says_how_large_a_file_may_be(engine, monkeypatch):
    monkeypatch.setenv("MAX_FILE_MB", "1.5")
    restart()
    assert "Up to 1.5 MB each, 256 MB at once" in ChatPage("en").html


@one_language("en")
def test_an_upload_in_the_sidebar_is_added_and_what_fails_is_told(engine, language):
    page = ChatPage(language)
    page.app.file_uploader[0].set_value(
        [("travel.md", HANDBOOK.encode(), "text/markdown"), ("empty.txt", b"", "text/plain")]
    )
    page.look()
    [ingestion] = engine.store.ingestions
    ingestion.wait()
    page.look()
    assert f"{page.words['job.ready_one']} · {page.words['job.failed_one']}" in page.told
    assert escape(EmptyDocument(name="empty.txt").sentence(language)) in page.told
    assert page.words["job.retry_one"] not in page.buttons  # it would fail again
    assert not list(upload_folder(engine.settings.data_dir).glob("*"))
    page.press(page.words["documents.dismiss"])
    assert not page.told


@one_language("en")
def test_files_of_a_question_that_could_not_be_loaded_are_told_below_the_answer(engine, handbook, tmp_path, language):
    """Not only in the trace: the answer would seem to come from them."""
    files = [FileSource(tmp_path / f"{number}.txt", f"empty-{number}.txt") for number in range(LISTED + 2)]
    for each in files:
        each.path.touch()
    run = engine.ask(ASKED[language], index="handbook", pipeline_name="naive", attachments=files)
    assert run.result().status == "finished"
    page = ChatPage(language, conversation=run.conversation_id)
    [told] = [shown(each.value) for each in page.app.warning]
    assert EmptyDocument(name="empty-0.txt").sentence(language) in told
    assert f"empty-{LISTED}.txt" not in told
    assert page.words["job.more"].format(count=2) in told


def test_the_switch_of_language_changes_every_text_and_the_address(handbook):
    page = ChatPage("en")
    page.app.button_group(key="chosen_language").set_value("ja")
    page.look()
    assert page.app.query_params["lang"] in ("ja", ["ja"])
    assert texts("ja")["empty.ask"] in [each.value for each in page.app.markdown]
    assert any(texts("ja")["sidebar.new_chat"] in label for label in page.buttons)


@pytest.mark.soak
def test_the_switch_of_language_holds_against_a_refresh_with_the_address_before_it(handbook):
    page = ChatPage("en")
    page.app.button_group(key="chosen_language").set_value("ja")
    page.look()
    page.app.query_params["lang"] = "en"
    page.look()
    assert page.app.button_group(key="chosen_language").value == "ja"
    assert any(texts("ja")["sidebar.new_chat"] in label for label in page.buttons)
    assert page.parameter("lang") == "ja"
