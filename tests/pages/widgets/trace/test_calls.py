"""Prompts and replies in the trace: each step that called the model has a fold, which reads them when it is opened."""

import pytest

from pages.server import process
from pages.widgets.trace.calls import calls_html
from rag.runs.history import calls
from rag.trace.calls import Call, Message, ShortenedText, TokenProbability
from rag.trace.events import StepFinished
from tests.helpers.handbook import YES
from tests.helpers.looks import one_language
from tests.pages.conftest import restart
from tests.pages.reader import Tags, for_reader
from tests.pages.tabs.chat_page import ChatPage
from tests.pages.tabs.fork_form import trace_of
from tests.pages.trace_examples import HOSTILE
from tests.servers import Refusal

HANDBOOK = "# 出張旅費規程\n\n## 日当\n\n国内出張の日当は1日2,500円です。\n\n## 宿泊\n\n上限は1万円です。\n"
QUESTION = "国内出張の日当はいくらですか？"
ANSWER = "日当は1日2,500円です[1]。"

each_language = pytest.mark.parametrize("language", ["ja", "en"])


@pytest.fixture
def handbook(engine, server, tmp_path) -> None:
    file = tmp_path / "travel.md"
    file.write_text(
        "# 出張旅費規程\n\n## 日当\n\n国内出張の日当は1日2,500円です。\n\n## 宿泊\n\n上限は1万円です。", "utf-8"
    )
    assert engine.store.add("handbook", file, file.name).error is None
    server.default = ANSWER
    server.answer_when(lambda request: request.schema is not None, YES)


def asked(language: str = "en") -> ChatPage:
    """The page with the open trace of a question that was asked without a page."""
    run = process.engine().ask(QUESTION, index="handbook", pipeline_name="self_rag")
    run.result()
    return trace_of(run, language)


def folds(page: ChatPage) -> list[str]:
    titles = [page.words["call.fold"].partition("{")[0], page.words["call.fold_one"]]
    return [each.label for each in page.app.expander if any(each.label.startswith(title) for title in titles)]


def opened(page: ChatPage, step: str) -> str:
    """The HTML in the open fold of a step; empty if there is none."""
    [run] = process.engine().history.runs(page.conversation)
    page.app.session_state[f"calls-past-{run.id}-{step}-1"] = True
    page.look()
    return "".join(each.value for each in page.app.html if 'class="detail calls"' in each.value)


@one_language("ja")
def test_each_step_that_asked_the_model_has_a_fold_and_no_other(handbook, engine, language):
    page = asked(language)
    [run] = engine.history.runs()
    ended = [each for each in engine.history.events(run.id) if isinstance(each, StepFinished)]
    assert len(folds(page)) == sum(each.model_calls > 0 for each in ended) > 0
    assert len(folds(page)) < len(ended)


def test_what_is_open_in_a_trace_stays_open_on_a_switch_of_language(handbook):
    page = asked("en")
    assert opened(page, "grade_documents")
    for language in ("ja", "en"):
        page.choose_language(language)
        assert 'class="detail calls"' in page.html


@one_language("en")
def test_a_fold_opens_to_prompts_and_replies_each_named_for_what_it_is_about(handbook, server, language):
    page = asked(language)
    html = opened(page, "grade_documents")
    text = Tags(html).text
    grades = [request for request in server.chats if request.schema and "第" not in request.prompt][:2]
    assert html.count('<details class="call"') == len(grades) == 2
    for message in grades[0].messages:
        assert message["content"] in text
    assert f"{page.words['task.relevance']} [1] 出張旅費規程 > " in text
    assert YES in text
    for key in ("message.system", "message.user", "call.reply", "call.temperature", "call.json_schema", "call.retries"):
        assert page.words[key] in text


def test_nothing_is_read_before_a_fold_is_opened(handbook, monkeypatch):
    read, unpack = [], calls.unpack

    def noting(packed: bytes):
        read.append(packed)
        return unpack(packed)

    monkeypatch.setattr(calls, "unpack", noting)
    page = asked()
    assert read == []
    opened(page, "grade_documents")
    assert len(read) == 1


@one_language("en")
def test_where_they_are_not_kept_the_page_says_so(handbook, monkeypatch, language):
    monkeypatch.setenv("KEEP_PROMPTS", "false")
    restart()
    page = asked(language)
    assert opened(page, "grade_documents") == ""
    assert page.words["call.not_kept"] in [each.value for each in page.app.caption]


def test_a_call_that_failed_shows_its_messages_and_what_failed(handbook, server):
    server.fails(Refusal(500), on="/chat/completions")
    page = asked()
    html = opened(page, "grade_documents")
    assert 'class="failed"' in html
    assert page.words["call.failed"] in html
    assert page.words["call.no_reply"] in html
    assert QUESTION in Tags(html).text


def call(**changes) -> Call:
    usual = {
        "task": "answer", "of": HOSTILE, "model": HOSTILE, "temperature": 0.0, "max_tokens": 400, "number": 1,
        "messages": (Message(role="system", text=HOSTILE), Message(role="user", text=HOSTILE)),
        "reply": ShortenedText(text=HOSTILE), "milliseconds": 1234.5, "status": "finished",
        "tokens_in": 1500, "tokens_out": 20,
    }  # fmt: skip
    return Call(**(usual | changes))


def html_of(*calls: Call, language: str = "en") -> str:
    html, _ = for_reader(language, lambda: calls_html(calls))
    return html


def test_tokens_that_the_service_did_not_tell_are_not_called_none():
    text = Tags(html_of(call(tokens_in=0, tokens_out=0))).text
    assert "0 tokens" not in text
    assert ("Tokens read–" in text, "Tokens written–" in text) == (True, True)


def test_settings_and_costs_are_told():
    text = Tags(html_of(call(retries=2))).text
    assert "Temperature0" in text
    assert "Maximum tokens of the reply400" in text
    assert "Schemano" in text
    assert "Tokens read1,500" in text
    assert "Tokens written20" in text
    assert "Time1,234 ms" in text
    assert "Retries2" in text


def test_no_words_of_a_prompt_or_a_reply_become_html():
    token = TokenProbability(token=HOSTILE, logprob=-0.1, top=((HOSTILE, -0.1), ("no", -2.0)))
    tags = Tags(html_of(call(tokens=(token,)), call(status="stopped")))
    assert not tags.names & {"script", "img", "a", "style", "link"}
    assert not {name for name in tags.attributes if name.startswith("on")}
    assert tags.text.count(HOSTILE) >= 5


@each_language
def test_what_is_cut_is_told_where_it_stood(language):
    html = html_of(call(reply=ShortenedText(text="begin end", left_out=12_000, at=6)), language=language)
    assert "12,000" in html
    before, cut, after = html.partition('<em class="cut">')
    assert before.endswith("begin ")
    assert cut
    assert after.partition("</em>")[2].startswith("end")


def test_the_probabilities_of_a_grade_are_those_of_its_first_token():
    token = TokenProbability(token="no", logprob=-0.5, top=(("no", -0.5), (" yes", -1.0)))
    text = Tags(html_of(call(reply=ShortenedText(text="no"), tokens=(token,)))).text
    assert "Log-probabilities of the first token" in text
    assert '"no"-0.5060.7%" yes"-1.0036.8%' in text


def test_the_probabilities_of_an_answer_are_those_of_its_tokens():
    tokens = (TokenProbability(token="日当", logprob=-0.25), TokenProbability(token="は", logprob=-0.75))
    text = Tags(html_of(call(tokens=tokens))).text
    assert "Log-probabilities of the tokens (2), on average -0.50" in text
