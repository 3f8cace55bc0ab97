"""Adaptive RAG: every edge of its graph and each of its limits. The web search uses Tavily's own client."""

import json

import pytest

from index_store.base.errors import ServiceBusy
from rag.models.service.en import EN
from rag.models.service.ja import JA
from tests.rag.documents import ALLOWANCE, ANSWER, INDEX, QUESTION
from tests.rag.reading import decisions, finished, started_steps
from tests.rag.verdicts import NO, PROSE, YES, approve, grounding, rating
from tests.servers import Refusal, WebResult

WEATHER = "今日の東京の天気は?"
SUNNY = WebResult("東京の天気", "https://weather.example/tokyo", "今日の東京は晴れ、最高気温は18度です。")
SUN = "晴れです[1]。"


def route(way: str) -> str:
    return json.dumps({"reason": "because", "route": way})


@pytest.fixture
def ask(open_engine, chat, tavily):
    approve(chat)
    tavily.default = [SUNNY]
    for words in (JA, EN):
        chat.answer_when(words.route, answer=route("documents"))
    chat.answer_when(JA.route, "の天気は?", answer=route("web"))
    chat.answer_when(EN.route, "the weather in", answer=route("web"))

    def ask(question: str = QUESTION, *, web: bool = True, **values: object):
        engine = open_engine(chat, tavily=tavily if web else None, **values)
        return engine.ask(question, index=INDEX, pipeline_name="adaptive")

    return ask


def test_a_greeting_is_answered_at_once_and_marked_as_from_no_source(ask, chat, tavily):
    chat.enqueue("こんにちは!")
    run = ask("こんにちは")
    result = run.result()
    assert started_steps(run.events) == ["route_question", "small_talk"]
    assert decisions(run.events) == [("small_talk", "talk")]
    assert (result.answer, result.outcome, result.citations) == ("こんにちは!", "from_model", ())
    assert result.totals.model_calls == 1
    [routed] = finished(run.events, "route_question")
    assert (routed.detail.route, routed.detail.why) == ("talk", "greeting")
    assert tavily.requests == []


def test_small_talk_that_no_list_holds_is_known_by_the_model(ask, chat):
    chat.answer_when(JA.route, "週末は楽しかった", answer=route("talk"))
    chat.answer_when(JA.talk, answer="それは何よりです。")
    run = ask("週末は楽しかったですか")
    assert run.result().answer == "それは何よりです。"
    [routed] = finished(run.events, "route_question")
    assert (routed.detail.why, routed.detail.reason) == ("model", "because")


def test_a_question_to_the_documents_is_searched_both_ways_by_section_graded_and_checked(ask, chat, tavily):
    chat.enqueue(ANSWER)
    run = ask()
    result = run.result()
    assert started_steps(run.events)[:4] == ["route_question", "retrieve", "grade_documents", "generate"]
    assert set(started_steps(run.events)[4:6]) == {"check_grounding", "check_usefulness"}
    assert decisions(run.events) == [
        ("retrieve", "for_documents"), ("generate", "relevant_found"), ("__end__", "confirmed"),
    ]  # fmt: skip
    [retrieval] = finished(run.events, "retrieve")
    assert (retrieval.detail.mode, retrieval.detail.unit) == ("hybrid", "section")
    assert (result.answer, result.outcome) == (ANSWER, "confirmed")
    assert tavily.requests == []


@pytest.mark.parametrize(
    ("question", "found", "answer"),
    [
        (WEATHER, SUNNY, SUN),
        pytest.param(
            "What is the weather in Osaka today?",
            WebResult("Osaka", "https://weather.example/osaka", "Osaka today: rain, 12 degrees."),
            "Rain, 12 degrees [1].",
            marks=pytest.mark.soak,
        ),
    ],
)
def test_the_weather_is_asked_of_the_web_and_answered_from_it_marked_as_from_outside(
    ask, chat, tavily, question, found, answer
):
    tavily.default = [found]
    chat.enqueue(answer)
    run = ask(question)
    result = run.result()
    assert started_steps(run.events)[:4] == ["route_question", "web_search", "refine", "generate"]
    assert decisions(run.events) == [
        ("web_search", "todays_world"), ("refine", "found_on_web"), ("__end__", "confirmed"),
    ]  # fmt: skip
    assert tavily.queries == [question]
    assert (result.answer, result.outcome) == (answer, "confirmed")
    [citation] = result.citations
    assert (citation.origin, citation.source) == ("web", found.url)


def test_where_no_document_is_relevant_the_web_is_asked(ask, chat, tavily):
    chat.answer_when(JA.relevance, answer=NO)
    chat.enqueue("晴れです[5]。")
    run = ask("東京タワーの高さは?")
    result = run.result()
    assert decisions(run.events)[1:] == [
        ("web_search", "nothing_relevant"), ("refine", "found_on_web"), ("__end__", "confirmed"),
    ]  # fmt: skip
    assert tavily.queries == ["東京タワーの高さは?"]
    assert [each.origin for each in result.citations] == ["web"]


def test_where_neither_holds_it_it_declines(ask, chat, tavily):
    chat.answer_when(JA.relevance, answer=NO)
    tavily.default = []
    run = ask()
    assert run.result().outcome == "not_in_documents"
    assert decisions(run.events)[1:] == [("web_search", "nothing_relevant"), ("decline", "nothing_on_web")]
    assert chat.prompts_with(JA.answer) == []


@pytest.mark.parametrize(
    ("check", "why"),
    [(JA.grounding, "not_grounded"), pytest.param(JA.usefulness, "not_useful", marks=pytest.mark.soak)],
)
def test_an_answer_from_the_documents_that_fails_a_check_leads_to_the_web(ask, chat, check, why):
    chat.answer_when(check, "<answer>\n三千円です", answer=NO)
    chat.enqueue("三千円です[1]。", ANSWER)
    run = ask()
    result = run.result()
    assert decisions(run.events)[2:] == [("web_search", why), ("refine", "found_on_web"), ("__end__", "confirmed")]
    prompt = chat.prompts_with(JA.answer)[1]
    assert ALLOWANCE in prompt
    assert 'origin="web"' in prompt
    # Its passages are still there, so that it can be corrected.
    assert ("<rejected>\n三千円です[1]。" in prompt) == (why == "not_grounded")
    assert (result.answer, result.outcome, result.totals.generations) == (ANSWER, "confirmed", 2)


def test_an_answer_from_the_web_that_fails_leads_to_the_documents(ask, chat):
    chat.answer_when(JA.grounding, "<answer>\n雪です", answer=NO)
    chat.enqueue("雪です[1]。", ANSWER)
    run = ask(WEATHER)
    result = run.result()
    assert decisions(run.events)[2:] == [
        ("retrieve", "not_grounded"), ("generate", "relevant_found"), ("__end__", "confirmed"),
    ]  # fmt: skip
    assert result.answer == ANSWER.replace("[1]", "")  # number 1 is the web page, which the model did not get again
    assert result.outcome == "confirmed"


@pytest.mark.parametrize("draft_ahead", [pytest.param(False, marks=pytest.mark.soak), True])
def test_an_answer_that_failed_is_not_shown_to_the_model_with_other_passages(ask, chat, draft_ahead):
    chat.answer_when(JA.grounding, "<answer>\n雪です", answer=NO)
    chat.enqueue("雪です[1]。", "日当は1日2,500円です[2]。")
    run = ask(WEATHER, draft_ahead=draft_ahead)
    result = run.result()
    assert (result.answer, result.outcome) == ("日当は1日2,500円です[2]。", "confirmed")
    assert [step.detail.drafted for step in finished(run.events, "generate")] == [False, draft_ahead]
    assert "<rejected>" not in chat.prompts_with(JA.answer)[1]


def test_an_answer_from_the_web_that_fails_and_no_document_leads_to_no_answer(ask, chat):
    chat.answer_when(JA.grounding, answer=NO)
    chat.answer_when(JA.relevance, answer=NO)
    run = ask(WEATHER)
    assert run.result().outcome == "not_in_documents"
    assert decisions(run.events)[2:] == [("retrieve", "not_grounded"), ("decline", "nothing_relevant")]


@pytest.mark.parametrize("trouble", [None, pytest.param(Refusal(500), marks=pytest.mark.soak)], ids=["off", "failing"])
def test_a_question_for_a_web_that_is_not_there_is_put_to_the_documents(ask, chat, tavily, trouble):
    if trouble:
        tavily.fails(trouble)
    chat.enqueue(ANSWER)
    run = ask(WEATHER, web=trouble is not None)
    assert run.result().outcome == "confirmed"
    assert decisions(run.events)[:3] == [
        ("web_search", "todays_world"), ("retrieve", "no_web"), ("generate", "relevant_found"),
    ]  # fmt: skip
    [searched] = finished(run.events, "web_search")
    assert searched.detail.why == ("failed" if trouble else "off")


def test_where_no_way_is_left_an_answer_that_is_not_grounded_is_written_again_up_to_the_limit(ask, chat):
    chat.answer_when(JA.grounding, answer=NO)
    chat.enqueue("一。", "二。", "三。")
    run = ask(web=False)
    result = run.result()
    assert decisions(run.events)[2:] == [
        ("web_search", "not_grounded"), ("generate", "no_web"), ("generate", "not_grounded"),
        ("decline", "generation_limit"),
    ]  # fmt: skip
    assert (result.outcome, result.totals.generations) == ("not_in_documents", 3)


@pytest.mark.parametrize(
    ("web", "answers"),
    [pytest.param(False, 1, marks=pytest.mark.soak), (True, 2)],
    ids=["without the web", "with it"],
)
def test_a_model_that_does_not_correct_itself_answers_once_a_way(ask, chat, web, answers):
    chat.answer_when(JA.grounding, answer=NO)
    run = ask(web=web, regenerates=False)
    result = run.result()
    assert (result.outcome, result.totals.generations) == ("not_in_documents", answers)
    assert ("generate", "not_grounded") not in decisions(run.events)


def test_the_limit_of_answers_holds_over_all_ways(ask, chat, tavily):
    chat.answer_when(JA.grounding, answer=NO)
    run = ask(max_generations=1)
    result = run.result()
    assert (result.outcome, result.totals.generations) == ("not_in_documents", 1)
    assert decisions(run.events)[-1] == ("decline", "generation_limit")
    assert tavily.requests == []


def test_no_answer_from_the_web_alone_says_that_the_documents_were_not_searched(ask, chat):
    chat.answer_when(JA.grounding, answer=NO)
    run = ask(WEATHER, max_generations=1)
    answer = run.result().answer
    assert "retrieve" not in started_steps(run.events)
    assert answer.startswith(f"Web には、この質問の答えは見つかりませんでした。「{INDEX}」の文書は検索していません。")
    assert f"\n\nWeb を次の言葉で検索しました: 「{WEATHER}」。" in answer


# Self-RAG keeps it in the same step: test_self_rag.py::test_at_the_limit_of_answers_the_one_with_the_most_support_...
@pytest.mark.soak
def test_a_partly_grounded_answer_is_kept_unconfirmed_if_there_is_no_better_one(ask, chat):
    partly = json.dumps({"reason": "", "unsupported": ["半額"], "support": "partly"})
    chat.answer_when(JA.grounding, answer=partly)
    chat.default = ANSWER
    run = ask(web=False)
    result = run.result()
    assert (result.outcome, result.answer, result.totals.generations) == ("unconfirmed", ANSWER, 3)
    assert decisions(run.events)[-1] == ("keep_best_attempt", "generation_limit")
    assert result.unconfirmed == ("半額",)


# Self-RAG chooses in the same step: test_an_attempt_that_answers_the_question_is_kept_before_... in test_self_rag.py.
@pytest.mark.soak
def test_an_attempt_that_answers_the_question_is_kept_though_a_better_grounded_one_does_not(ask, chat):
    evasive, useful = "役職によります[1]。", "日当は1日2,500円です[1]。半額にもなります。"
    chat.answer_when(JA.usefulness, evasive, answer=rating(2))
    chat.answer_when(JA.grounding, useful, answer=grounding("partly", "半額にもなります。"))
    chat.default = useful
    chat.enqueue(evasive)
    run = ask()
    result = run.result()
    assert decisions(run.events)[-1] == ("keep_best_attempt", "generation_limit")
    assert (result.answer, result.outcome, result.unconfirmed) == (useful, "unconfirmed", ("半額にもなります。",))


def test_an_answer_that_is_not_useful_is_no_answer_where_no_way_is_left(ask, chat):
    chat.answer_when(JA.usefulness, answer=NO)
    run = ask(web=False)
    assert run.result().outcome == "not_in_documents"
    assert decisions(run.events)[-2:] == [("web_search", "not_useful"), ("decline", "no_web")]


def test_a_check_that_cannot_be_read_confirms_nothing(ask, chat):
    chat.answer_when(JA.grounding, answer=PROSE)
    run = ask()
    assert run.result().outcome == "unconfirmed"
    assert decisions(run.events)[-1] == ("__end__", "check_unreadable")


@pytest.mark.parametrize(
    "said", [PROSE, *(pytest.param(said, marks=pytest.mark.soak) for said in ("", '{"route": "moon"}'))]
)
def test_a_route_that_cannot_be_read_is_the_documents(ask, chat, said):
    chat.answer_when(JA.route, answer=said)
    chat.enqueue(ANSWER)
    run = ask()
    assert run.result().outcome == "confirmed"
    [routed] = finished(run.events, "route_question")
    assert (routed.detail.route, routed.detail.why) == ("documents", "in_doubt")


@pytest.mark.parametrize("said", ["web", "`WEB`", 'Sure: {"route": "Web."}'])
@pytest.mark.soak  # without a run: tests/rag/models/test_replies.py::test_a_route_is_read_from_what_a_model_wrote
def test_a_route_is_read_with_patience(ask, chat, said):
    chat.answer_when(JA.route, answer=said)
    run = ask()
    run.result()
    assert started_steps(run.events)[1] == "web_search"


# Also in test_self_rag.py::test_when_all_graders_fail_it_goes_on_with_all_passages_not_graded.
@pytest.mark.soak
def test_passages_that_could_not_be_graded_are_not_called_relevant(ask, chat):
    chat.answer_when(JA.relevance, answer=ServiceBusy(host="h"))
    chat.enqueue(ANSWER)
    run = ask()
    assert run.result().outcome == "confirmed"
    assert ("generate", "not_graded") in decisions(run.events)


def test_a_router_that_fails_leads_to_the_documents_and_is_told(open_engine, server):
    server.default = lambda request: YES if "JSON" in request.prompt else ANSWER
    server.answer_when(lambda request: JA.route in request.prompt, Refusal(503))
    run = open_engine(server=server).ask(QUESTION, index=INDEX, pipeline_name="adaptive")
    assert run.result().outcome == "confirmed"
    [routed] = finished(run.events, "route_question")
    assert (routed.detail.route, routed.detail.why, routed.fallback.code) == ("documents", "failed", "service_failed")


@pytest.mark.soak  # also in test_faults.py
def test_a_key_that_is_refused_ends_the_run(open_engine, server):
    run = open_engine(server=server, key="sk-wrong").ask(QUESTION, index=INDEX, pipeline_name="adaptive")
    result = run.result()
    assert (result.status, result.error.code) == ("failed", "key_refused")


def test_if_the_model_gives_no_answer_from_documents_the_web_is_searched(ask, chat, tavily):
    chat.enqueue("NOT_IN_PASSAGES 資料に書かれていません。", "晴れです[5]。")
    run = ask("東京タワーの高さは?")
    result = run.result()
    assert ("web_search", "says_no") in decisions(run.events)
    assert tavily.queries == ["東京タワーの高さは?"]
    assert (result.outcome, [each.origin for each in result.citations]) == ("confirmed", ["web"])


def test_no_answer_of_the_model_stands_where_no_way_is_left(ask, chat):
    chat.default = "NOT_IN_PASSAGES 資料に書かれていません。"
    run = ask()
    result = run.result()
    assert [why for to, why in decisions(run.events)][-1] == "says_no"
    assert started_steps(run.events).count("generate") == 2
    assert result.outcome == "not_in_documents"
    assert result.answer.startswith("資料に書かれていません。")


def test_no_answer_is_not_written_again_because_its_sentence_is_not_grounded(ask, chat):
    chat.answer_when(JA.grounding, answer=NO)
    chat.default = "NOT_IN_PASSAGES 資料に書かれていません。"
    run = ask(web=False)
    result = run.result()
    assert (result.outcome, result.totals.generations) == ("not_in_documents", 1)
    assert len(chat.prompts_with(JA.answer)) == 1


# Also in test_corrective.py::test_where_the_web_knows_nothing_either_it_says_with_which_words_....
@pytest.mark.soak
def test_no_answer_says_that_the_web_was_searched_too(ask, chat, tavily):
    chat.answer_when(JA.relevance, answer=NO)
    tavily.default = []
    run = ask()
    run.result()
    [declined] = finished(run.events, "decline")
    assert declined.detail.web
    assert "Web" in declined.detail.text
