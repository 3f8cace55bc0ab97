"""Faults of a chat service, over real HTTP: the run recovers, or ends with an error that says what to do."""

import asyncio
import json
import logging
import re
from collections.abc import Collection

import pytest

import rag.models.client.client
import rag.models.service.chat
from index_store.base.errors import PlainError
from rag.models.calls.usage import Usage
from rag.models.service.ja import JA
from rag.models.service.source import ServiceSource
from rag.settings import Settings
from rag.trace.events import StepFinished, Token, to_json
from tests.rag.conftest import KEY
from tests.rag.documents import ANSWER, INDEX, QUESTION
from tests.rag.reading import finished, of
from tests.rag.some_pipelines import some_of
from tests.rag.verdicts import NO, PROSE, YES, verdict
from tests.servers import Answer, Fault, OpenAIServer, Raw, Refusal, chunk
from tests.servers.ports import free_port

JAPANESE = re.compile(r"[ぁ-んァ-ヶ一-龠]")


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(rag.models.client.client, "RETRY_PAUSE", 0.01)


@pytest.fixture
def ask(open_engine, server):
    server.default = lambda request: YES if "JSON" in request.prompt else ANSWER

    def ask(pipeline: str = "naive", **settings):
        return open_engine(server=server, **settings).ask(QUESTION, index=INDEX, pipeline_name=pipeline)

    return ask


def refuses(status: int, **details):
    return lambda server: server.fails(Refusal(status, **details))


def fails(fault: Fault):
    return lambda server: server.fails(fault)


def answers(reply: str | Raw):
    return lambda server: setattr(server, "default", reply)


WRONG_KEY = "API key not valid. Please pass a valid API key."
"""what Gemini says, with the status 400 and in a list"""

NO_SUCH_MODEL = {
    "OpenRouter": "gpt-4o-mimi is not a valid model ID",
    "DeepSeek": "Model Not Exist",
    "Mistral": "Invalid model: gpt-4o-mimi",
    "LiteLLM": "/chat/completions: Invalid model name passed in model=gpt-4o-mimi. Call `/v1/models` to view models.",
    "Bedrock's gateway": "Unsupported model gpt-4o-mimi, please use models API to get a list of supported models",
}
"""with which words services refuse the name of a model, with the status 400"""

NO_V1 = {"error": "Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway"}
"""what LM Studio answers if the address lacks its /v1"""

NO_CREDIT = "Your credit balance is too low to access the Anthropic API."

TOO_LONG = {
    "LM Studio": "The number of tokens to keep from the initial prompt is greater than the context length.",
    "vLLM": "You passed 15873 input tokens and requested 2000 output tokens. "
    "However, the model's context length is only 16384 tokens.",
    "SGLang": "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    "Gemini": "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
    "llama.cpp": "the request exceeds the available context size. try increasing the context size",
    "xAI": "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
    "TGI": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
    "Bedrock": "Input is too long for requested model.",
    "Anthropic": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "LiteLLM": "litellm.ContextWindowExceededError: litellm.BadRequestError: VertexAIException - Error",
    "Cohere": "too many tokens: size limit exceeded by 1203 tokens.",
}
"""with which words services refuse a prompt for its length"""


TOO_LARGE = (
    "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 48231. The "
    "input or output tokens must be reduced in order to run successfully."
)
"""what OpenAI says, with the status 429, of a prompt with more tokens than the account may send in a minute"""


HANGS = (fails(Fault.HANGS), "service_timed_out", "MODEL_TIMEOUT")
REFUSALS = [
    (refuses(401), "key_refused", "OPENAI_API_KEY"),
    (refuses(403), "key_refused", "OPENAI_API_KEY"),
    (refuses(400, message=WRONG_KEY), "key_refused", "OPENAI_API_KEY"),
    (answers(Raw([{"error": {"code": 400, "message": WRONG_KEY}}], status=400)), "key_refused", "OPENAI_API_KEY"),
    (refuses(404), "model_unknown", "OPENAI_BASE_URL"),
    *((refuses(400, message=said), "model_unknown", "OPENAI_BASE_URL") for said in NO_SUCH_MODEL.values()),
    (refuses(400, code="model_not_found"), "model_unknown", "OPENAI_BASE_URL"),
    (refuses(400, code="model_decommissioned"), "model_unknown", "OPENAI_BASE_URL"),
    (refuses(405), "model_unknown", "OPENAI_BASE_URL"),
    (answers(Raw(NO_V1)), "model_unknown", "OPENAI_BASE_URL"),
    (refuses(400), "request_refused", "400"),
    (refuses(402), "quota_used_up", "127.0.0.1"),
    (refuses(400, message=NO_CREDIT), "quota_used_up", "127.0.0.1"),
    (refuses(400, code="budget_exceeded"), "quota_used_up", "127.0.0.1"),
    (refuses(429, code="billing_not_active"), "quota_used_up", "127.0.0.1"),
    (refuses(413), "prompt_too_long", "MODEL_CONTEXT"),
    (refuses(400, code="context_length_exceeded"), "prompt_too_long", "MODEL_CONTEXT"),
    (refuses(400, message="The maximum context length is 4096 tokens."), "prompt_too_long", "MODEL_CONTEXT"),
    *((refuses(400, message=said), "prompt_too_long", "MODEL_CONTEXT") for said in TOO_LONG.values()),
    (refuses(500, message="Context size has been exceeded."), "prompt_too_long", "MODEL_CONTEXT"),
    (refuses(429, code="rate_limit_exceeded", message=TOO_LARGE), "prompt_too_long", "MODEL_CONTEXT"),
    (refuses(400, code="content_filter"), "reply_filtered", "test-chat"),
    (refuses(429), "service_busy", "127.0.0.1"),
    (refuses(429, code="insufficient_quota"), "quota_used_up", "127.0.0.1"),
    (refuses(500), "service_failed", "500"),
    (refuses(503), "service_failed", "503"),
    HANGS,
    (refuses(408), "service_timed_out", "MODEL_TIMEOUT"),
    (fails(Fault.CLOSES), "service_unreachable", "OPENAI_BASE_URL"),
    (fails(Fault.CLOSES_MIDWAY), "reply_broken_off", "127.0.0.1"),  # it can be reached: it had begun to answer
    (fails(Fault.MALFORMED), "answer_unreadable", "OPENAI_BASE_URL"),
]
"""what goes wrong, the code of its error, and what its sentences name"""


def overloaded(code: object) -> dict:
    return {"error": {"message": "The provider is overloaded.", "code": code}}


def whole(**choice: object) -> dict:
    return {"choices": [{"finish_reason": "stop", **choice}]}


FLAGGED = {
    "code": 403,
    "message": "test-chat requires moderation on a provider. Your input was flagged for violence.",
    "metadata": {"reasons": ["violence"], "flagged_input": "出張の日当は", "provider_name": "a provider"},
}
FLAGS = {
    "status": Raw({"error": FLAGGED}, status=403),
    "body": Raw({"error": FLAGGED}),
    "stream": Raw(events=({"error": FLAGGED},)),
}
ERRORS_IN_A_STREAM = [
    (429, "service_busy"),
    ("rate_limit_exceeded", "service_busy"),
    (502, "service_failed"),
    (None, "service_failed"),
    ("no_such_word", "service_failed"),
    (402, "quota_used_up"),
    ("insufficient_quota", "quota_used_up"),
]
NO_REPLIES = {
    "no choice": {"choices": []},
    "null": {"choices": None},
    "nothing": {},
    "no message": whole(),
    "null message": whole(message=None),
    "a list": [whole(message={"content": "x"})],
    "a text": "hello",
}
NO_PIECES = ['"hello"', "[]", '{"choices": [{}]}', "null"]


def test_what_fails_a_reply_is_told_by_its_code_to_who_asks_the_model(server, data_dir):
    """All that need no waiting, without runs; how a run tells some of them is below."""
    each_fault = [each[:2] for each in REFUSALS if each is not HANGS]
    each_fault += [(answers(Raw(events=(overloaded(code),))), told) for code, told in ERRORS_IN_A_STREAM]
    each_fault += [(answers(reply), "reply_filtered") for reply in FLAGS.values()]
    each_fault += [(answers(Raw(body)), "answer_unreadable") for body in NO_REPLIES.values()]
    each_fault += [(answers(Raw(events=(event,))), "answer_unreadable") for event in NO_PIECES]
    settings = Settings(data_dir=data_dir, openai_api_key=KEY, openai_base_url=server.base_url, model_retries=0)

    async def told() -> list[str]:
        source, codes = ServiceSource(settings), []
        for break_it, _ in each_fault:
            server.recovers()
            server.default = ANSWER
            break_it(server)
            with pytest.raises(PlainError) as failed:
                _ = [piece async for piece in source.open().small_talk("Hello", Usage(), language="en")]
            codes.append(failed.value.as_failure().code)
        await source.close()
        return codes

    assert asyncio.run(told()) == [code for _, code in each_fault]


def first_of_each_code(pipeline: str, now: Collection[str]) -> list[object]:
    """With the first of each code of `now` in `make test`, with all in `make soak`."""
    first = {code: number for number, (_, code, _) in reversed(list(enumerate(REFUSALS)))}
    return [
        pytest.param(pipeline, *each, marks=[] if each[1] in now and first[each[1]] == number else pytest.mark.soak)
        for number, each in enumerate(REFUSALS)
    ]


@pytest.mark.parametrize(
    ("pipeline", "break_it", "code", "advice"),
    [
        *first_of_each_code("naive", {code for _, code, _ in REFUSALS}),
        *first_of_each_code("self_rag", {"key_refused", "prompt_too_long", "service_busy"}),
    ],
)
def test_a_service_that_fails_fails_the_run_in_a_sentence_of_each_language(
    ask, server, pipeline, break_it, code, advice
):
    break_it(server)
    run = ask(pipeline, model_timeout=0.3 if code == "service_timed_out" else 60)
    result = run.result()
    assert (result.status, result.error.code) == ("failed", code)
    assert advice in result.error.en
    assert advice in result.error.ja
    assert not JAPANESE.search(result.error.en)
    assert JAPANESE.search(result.error.ja)
    # Unless the error is lasting, grading goes on without the grade, and writing the answer fails instead.
    lasting = code in ("key_refused", "model_unknown", "quota_used_up")
    step = finished(run.events, "grade_documents" if pipeline == "self_rag" and lasting else "generate")[-1]
    assert (step.verdict, step.error) == ("failed", result.error)
    if code in ("prompt_too_long", "reply_filtered", "quota_used_up"):  # in no other way would they be accepted
        # One for each grade and for the answer; a lasting error may end the run before all grades are asked for.
        assert len(server.chats) <= (1 if pipeline == "naive" else 4 if lasting else 5)


def test_a_wrong_key_is_refused_in_words(ask):
    assert ask(key="sk-wrong-4711").result().error.code == "key_refused"


def test_an_address_where_nobody_listens_cannot_be_reached(ask):
    port = free_port()
    result = ask(openai_base_url=f"http://127.0.0.1:{port}/v1").result()
    assert result.error.code == "service_unreachable"
    assert f"127.0.0.1:{port}" in result.error.en


def test_an_address_without_its_v1_is_told(ask, server):
    assert ask(openai_base_url=server.url).result().error.code == "model_unknown"


@pytest.mark.parametrize("status", [429, 500, pytest.param(503, marks=pytest.mark.soak)])
def test_a_service_that_is_busy_for_a_moment_is_asked_again(ask, server, status):
    server.fails(Refusal(status, retry_after=0.01), times=2)
    result = ask(model_retries=2).result()
    assert (result.status, result.answer) == ("finished", ANSWER)
    assert len(server.chats) == 3


def test_a_stream_that_breaks_is_begun_anew_and_what_it_wrote_is_void(ask, server):
    server.enqueue(Fault.CLOSES_MIDWAY)
    run = ask(model_retries=1)
    result = run.result()
    assert (result.status, result.answer) == ("finished", ANSWER)
    written = of(Token, run.events)
    restart = next(i for i, token in enumerate(written) if token.restart)
    assert restart > 0
    assert "".join(token.text for token in written[restart:]) == ANSWER
    assert {token.attempt for token in written} == {1}
    assert result.totals.model_calls == 2


def test_a_stream_that_breaks_each_time_fails_and_keeps_nothing_void(ask, server):
    server.fails(Fault.CLOSES_MIDWAY)
    run = ask(model_retries=2)
    result = run.result()
    assert (result.status, result.error.code) == ("failed", "reply_broken_off")
    assert len(server.chats) == result.totals.model_calls == 3
    assert len(result.answer) < len(ANSWER)


CUT_OFF = Raw(events=tuple(chunk(text) for text in ("日当は", "1日")))
"""a stream that just ends, as when a proxy loses the service behind it"""


@pytest.mark.parametrize(
    "pipeline",
    some_of(("naive", "self_rag", "self_rag_candidates", "corrective", "adaptive"), now=("naive",)),
)
def test_a_stream_that_ends_without_a_word_is_no_whole_answer_and_is_begun_anew(ask, server, pipeline):
    server.answer_when(lambda request: request.streams, CUT_OFF, times=1)
    result = ask(pipeline, model_retries=1).result()
    assert (result.status, result.answer, result.is_cut) == ("finished", ANSWER, False)


def test_a_stream_that_ends_without_a_word_each_time_fails(ask, server):
    server.default = CUT_OFF
    result = ask(model_retries=1).result()
    assert (result.status, result.error.code, result.answer) == ("failed", "reply_broken_off", "日当は1日")
    assert len(server.chats) == result.totals.model_calls == 2


def test_a_stream_that_gives_no_reason_for_its_end_but_marks_it_is_a_whole_answer(ask, server):
    server.default = Raw(events=(*(chunk(text) for text in ("日当は1日", "2,500円です[1]。")), "[DONE]"))
    result = ask().result()
    assert (result.status, result.answer, result.is_cut) == ("finished", ANSWER, False)


@pytest.mark.parametrize("retries", [pytest.param(0, marks=pytest.mark.soak), 1])
def test_a_connection_that_breaks_after_the_reason_of_the_end_costs_nothing_of_the_answer(ask, server, retries):
    server.default = Raw(events=(chunk(ANSWER), chunk(ends="stop")), is_closed=True)
    result = ask(model_retries=retries).result()
    assert (result.status, result.answer, result.is_cut) == ("finished", ANSWER, False)
    assert len(server.chats) == 1


def test_text_that_comes_in_parts_as_mistral_sends_it_is_read(ask, server):
    texts = ("日当は1日", "2,500円です[1]。")
    parts = ([{"type": "text", "text": text}] for text in texts)
    server.default = Raw(events=(*map(chunk, parts), "[DONE]"))
    result = ask().result()
    assert (result.status, result.answer) == ("finished", ANSWER)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        pytest.param(*each, marks=[] if each[0] in (502, "insufficient_quota") else pytest.mark.soak)
        for each in ERRORS_IN_A_STREAM
    ],
)
@pytest.mark.parametrize(
    "begun", [pytest.param((), marks=pytest.mark.soak), (chunk("日当は"),)], ids=["at once", "half way"]
)
def test_an_error_in_a_stream_is_told_as_what_it_is(ask, server, begun, code, told):
    server.default = Raw(events=(*begun, overloaded(code)))
    result = ask(model_retries=1).result()
    assert (result.status, result.error.code) == ("failed", told)
    assert len(server.chats) == (1 if told == "quota_used_up" else 2)


@pytest.mark.parametrize(
    "begun", [pytest.param((), marks=pytest.mark.soak), (chunk("日当は"),)], ids=["at once", "half way"]
)
def test_a_stream_with_an_error_is_begun_anew(ask, server, begun):
    server.enqueue(Raw(events=(*begun, overloaded(502))))
    result = ask(model_retries=1).result()
    assert (result.status, result.answer, result.totals.model_calls) == ("finished", ANSWER, 2)


def test_a_stream_that_refuses_the_prompt_for_its_length_is_not_begun_anew(ask, server):
    server.default = Raw(events=({"error": {"message": TOO_LONG["LM Studio"]}},))
    result = ask(model_retries=2).result()
    assert (result.status, result.error.code) == ("failed", "prompt_too_long")
    assert len(server.chats) == 1


def test_a_stream_that_is_refused_each_time_is_asked_for_no_more_often_than_the_retries_say(ask, server):
    server.fails(Refusal(503, retry_after=0.01))
    assert ask(model_retries=2).result().error.code == "service_failed"
    assert len(server.chats) == 3


def test_an_error_in_the_place_of_a_grade_is_asked_again_and_then_told_as_what_it_is(ask, server):
    server.answer_when(lambda request: JA.relevance in request.prompt, Raw(overloaded(502)), times=1)
    server.answer_when(lambda request: JA.usefulness in request.prompt, Raw(overloaded(429)))
    run = ask("self_rag", model_retries=1)
    assert run.result().answer == ANSWER
    [graded] = finished(run.events, "grade_documents")
    assert graded.fallback is None
    [checked] = finished(run.events, "check_usefulness")
    assert checked.fallback.code == "service_busy"


@pytest.mark.parametrize("pipeline", some_of(("naive", "self_rag")))
def test_a_gateway_that_answers_a_stream_with_one_whole_reply_is_read(ask, server, pipeline):
    message = {"role": "assistant", "content": ANSWER}
    reply = Raw(whole(message=message) | {"usage": COUNT["usage"]})
    server.answer_when(lambda request: request.streams, reply)
    result = ask(pipeline).result()
    assert (result.status, result.answer, result.is_cut) == ("finished", ANSWER, False)
    assert result.totals.tokens >= 15


def test_such_a_reply_that_is_cut_or_refused_is_told_as_such(ask, server):
    cut = whole(message={"role": "assistant", "content": ANSWER}, finish_reason="length")
    server.enqueue(Raw(cut))
    server.default = Raw(whole(message={"role": "assistant", "content": None, "refusal": "I can't help with that."}))
    assert ask().result().is_cut
    assert ask().result().error.code == "reply_refused"


def test_the_first_event_of_a_stream_with_a_byte_order_mark_is_read(ask, server):
    events = (chunk("日当は1日"), chunk("2,500円です[1]。"), chunk(ends="stop"), "[DONE]")
    server.default = Raw(events=events, byte_order_mark=True)
    assert ask().result().answer == ANSWER


def test_a_byte_that_is_no_character_costs_nothing_but_itself(ask, server):
    event = json.dumps(chunk("2,500円です?[1]。"), ensure_ascii=False).replace("?", "\udcff")
    server.default = Raw(events=(chunk("日当は1日"), event, chunk(ends="stop"), "[DONE]"))
    result = ask().result()
    assert (result.status, result.answer) == ("finished", "日当は1日2,500円です\ufffd[1]。")


@pytest.mark.parametrize("pipeline", some_of(("naive", "self_rag")))
def test_an_answer_of_nothing_fails_the_run_and_names_the_model(ask, server, pipeline):
    server.answer_when(lambda request: request.streams, "")
    result = ask(pipeline).result()
    assert (result.status, result.error.code, result.answer) == ("failed", "empty_reply", "")
    assert "test-chat" in result.error.en
    assert "test-chat" in result.error.ja


@pytest.mark.parametrize(
    "nothing",
    [*(pytest.param(each, marks=pytest.mark.soak) for each in ("", " \n")), "<think>The rate is 2,500 yen.</think>"],
)
def test_a_model_that_answers_with_nothing_is_asked_again(ask, server, nothing):
    server.enqueue(nothing)
    server.default = ANSWER
    result = ask(model_retries=1).result()
    assert (result.status, result.answer, result.totals.model_calls) == ("finished", ANSWER, 2)


def test_a_model_that_only_answers_with_nothing_is_asked_no_more_often_than_the_retries_say(ask, server):
    server.default = ""
    result = ask(model_retries=2).result()
    assert (result.status, result.error.code, len(server.chats)) == ("failed", "empty_reply", 3)


@pytest.mark.parametrize("ended", ["length", "content_filter"])
def test_a_reply_of_nothing_that_reached_its_limit_or_a_filter_is_not_asked_for_again(ask, server, ended):
    server.default = Answer("", finish_reason=ended)
    assert ask(model_retries=2).result().status == "failed"
    assert len(server.chats) == 1


THOUGHT = Answer("", tokens=3000)
"""nothing but thoughts, up to the limit, which is 2,000 tokens"""


def test_a_model_that_thinks_until_its_limit_fails_the_run_and_the_limit_is_named(ask, server):
    server.default = Answer("", tokens=150)
    result = ask(answer_tokens=100).result()
    assert (result.status, result.error.code, result.answer) == ("failed", "reply_cut", "")
    assert "ANSWER_TOKENS" in result.error.en
    assert "ANSWER_TOKENS" in result.error.ja
    assert result.totals.tokens_out == 100


@pytest.mark.parametrize(
    "refused",
    [
        set(),
        pytest.param({"response_format"}, marks=pytest.mark.soak),
        pytest.param({"response_format", "tools"}, marks=pytest.mark.soak),
    ],
)
def test_a_grader_that_thinks_until_its_limit_is_told_counted_and_not_asked_again(ask, server, refused):
    server.refuses = refused
    server.answer_when(lambda request: JA.relevance in request.prompt, THOUGHT)
    run = ask("self_rag")
    assert run.result().answer == ANSWER
    [graded] = finished(run.events, "grade_documents")
    assert {each.error.code for each in graded.detail.grades} == {"reply_cut"}
    assert graded.model_calls == 4 * (1 + len(refused))
    assert graded.tokens_out == 4 * 2000


def test_a_limit_that_is_told_as_a_refusal_is_told_as_the_limit_and_schemas_are_still_sent(ask, server):
    said = "Could not finish the message because max_tokens or model output limit was reached. Please try again."
    server.answer_when(
        lambda request: JA.relevance in request.prompt and "response_format" in request.body, Refusal(400, said)
    )
    run = ask("self_rag")
    assert run.result().answer == ANSWER
    [graded] = finished(run.events, "grade_documents")
    assert ({each.error.code for each in graded.detail.grades}, graded.model_calls) == ({"reply_cut"}, 4)
    assert all("response_format" in request.body for request in server.chats if not request.streams)


# Also in test_a_grader_that_thinks_until_its_limit..., and in test_self_rag.py for another failure of a rewrite.
@pytest.mark.soak
def test_a_rewrite_that_is_only_thought_is_told(ask, server):
    server.answer_when(lambda request: JA.relevance in request.prompt, NO)
    server.answer_when(lambda request: JA.rewrite in request.prompt, THOUGHT)
    run = ask("self_rag")
    assert run.result().outcome == "not_in_documents"
    [rewritten] = finished(run.events, "rewrite_question")
    assert rewritten.fallback.code == "reply_cut"


@pytest.mark.parametrize(
    "ended", ["content_filter", pytest.param("content_filter: PROHIBITED_CONTENT", marks=pytest.mark.soak)]
)
def test_a_reply_that_a_content_filter_stops_is_told_as_such(ask, server, ended):
    stopped = Answer("", tokens=9, finish_reason=ended)
    server.answer_when(lambda request: JA.relevance in request.prompt, stopped)
    server.answer_when(lambda request: request.streams, stopped)
    run = ask("self_rag")
    result = run.result()
    assert (result.status, result.error.code) == ("failed", "reply_filtered")
    assert "test-chat" in result.error.en
    assert "test-chat" in result.error.ja
    [graded] = finished(run.events, "grade_documents")
    assert (graded.fallback.code, graded.tokens_out) == ("reply_filtered", 4 * 9)


@pytest.mark.parametrize(
    ("pipeline", "grade"), [("self_rag", YES), pytest.param("corrective", verdict("yes", 0.6), marks=pytest.mark.soak)]
)
def test_a_passage_that_the_content_filter_refuses_costs_only_itself(ask, server, pipeline, grade):
    def reply(request):
        if "宿泊費" in request.prompt:
            return Refusal(400, code="content_filter")
        return grade if "JSON" in request.prompt else ANSWER

    server.default = reply
    run = ask(pipeline)
    result = run.result()
    assert (result.status, result.answer) == ("finished", ANSWER)
    [graded] = finished(run.events, "grade_documents")
    assert graded.fallback.code == "reply_filtered"
    [refused] = [each for each in graded.detail.grades if each.error]
    assert (refused.grade.verdict, "宿泊費" in refused.passage.text) == ("no", True)


@pytest.mark.parametrize(
    "refused",
    [pytest.param(reply, marks=[] if name == "status" else pytest.mark.soak) for name, reply in FLAGS.items()],
    ids=FLAGS,
)
def test_a_question_that_is_flagged_by_a_moderation_is_told_as_such_and_not_as_a_refused_key(ask, server, refused):
    server.answer_when(lambda request: request.streams, refused)
    result = ask("self_rag").result()
    assert (result.status, result.error.code) == ("failed", "reply_filtered")
    assert "test-chat" in result.error.en
    assert "test-chat" in result.error.ja


@pytest.mark.parametrize(
    ("ended", "why"),
    [
        ("content_filter: OTHER", "filter"),
        ("max_tokens", "length"),
        ("error", "service"),
        ("end_turn", None),
        pytest.param("content_filter", "filter", marks=pytest.mark.soak),
        pytest.param("MAX_TOKENS", "length", marks=pytest.mark.soak),
        pytest.param("stop", None, marks=pytest.mark.soak),
    ],
)
def test_an_answer_that_ends_too_early_says_so_and_why(ask, server, ended, why):
    server.default = Answer(ANSWER, finish_reason=ended)
    result = ask().result()
    assert (result.status, result.answer) == ("finished", ANSWER)
    assert (result.is_cut and result.cut_by) == (why or False)


@pytest.mark.parametrize(
    "pipeline",
    some_of(("self_rag", "self_rag_candidates", "corrective", "adaptive"), now=("self_rag_candidates",)),
)
def test_an_answer_that_a_content_filter_cuts_says_so_whatever_its_checks_say(ask, server, pipeline):
    server.answer_when(lambda request: request.streams, Answer(ANSWER, finish_reason="content_filter"))
    result = ask(pipeline).result()
    assert (result.status, result.answer, result.is_cut, result.cut_by) == ("finished", ANSWER, True, "filter")


def test_a_grade_that_a_content_filter_stops_half_way_is_told_and_not_asked_for_again(ask, server):
    stopped = Answer('{"reason": "It says', finish_reason="content_filter: PROHIBITED_CONTENT")
    server.answer_when(lambda request: JA.relevance in request.prompt, stopped)
    run = ask("self_rag")
    assert run.result().answer == ANSWER
    [graded] = finished(run.events, "grade_documents")
    assert (graded.fallback.code, graded.model_calls) == ("reply_filtered", 4)


@pytest.mark.parametrize(
    "body",
    [pytest.param(body, marks=[] if name == "no choice" else pytest.mark.soak) for name, body in NO_REPLIES.items()],
    ids=NO_REPLIES,
)
def test_a_body_that_is_no_reply_costs_its_grade_alone(ask, server, body):
    server.answer_when(lambda request: JA.relevance in request.prompt, Raw(body))
    run = ask("self_rag")
    assert run.result().answer == ANSWER
    [graded] = finished(run.events, "grade_documents")
    assert graded.fallback.code == "answer_unreadable"


COUNT = {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}


def test_a_model_that_refuses_to_answer_is_told_as_such(ask, server):
    said = (chunk(refusal="I can't"), chunk(refusal=" help."), chunk(ends="stop"), COUNT, "[DONE]")
    server.default = Raw(events=said)
    result = ask().result()
    assert (result.status, result.error.code) == ("failed", "reply_refused")
    assert (result.totals.model_calls, result.totals.tokens) == (1, 15)
    assert "test-chat" in result.error.en
    assert "test-chat" in result.error.ja


def test_a_grader_that_refuses_is_told_as_such_and_asked_in_no_other_way(ask, server):
    refusal = whole(message={"role": "assistant", "content": None, "refusal": "I can't help with that."})
    server.answer_when(lambda request: JA.relevance in request.prompt, Raw(refusal))
    run = ask("self_rag")
    assert run.result().answer == ANSWER
    [graded] = finished(run.events, "grade_documents")
    assert (graded.fallback.code, graded.model_calls) == ("reply_refused", 4)


@pytest.mark.parametrize(
    "body",
    [{"choices": []}, *(pytest.param(body, marks=pytest.mark.soak) for body in ({}, whole(), whole(message=None)))],
    ids=str,
)
def test_a_body_in_the_place_of_a_stream_that_is_no_reply_is_told_as_unreadable(ask, server, body):
    server.default = Raw(body)
    assert ask().result().error.code == "answer_unreadable"


@pytest.mark.parametrize(
    "event", [NO_PIECES[0], *(pytest.param(event, marks=pytest.mark.soak) for event in NO_PIECES[1:])]
)
def test_an_event_that_is_no_piece_of_an_answer_is_told_as_unreadable(ask, server, event):
    server.default = Raw(events=(event,))
    assert ask().result().error.code == "answer_unreadable"


def test_a_piece_without_text_behind_an_answer_as_azure_sends_it_for_its_filter_costs_nothing(ask, server):
    # With the asynchronous filter of Azure: how much of the answer it has read by now.
    filtered = {"index": 0, "finish_reason": None, "content_filter_results": {}, "content_filter_offsets": {}}
    server.default = Raw(events=(chunk(ANSWER), chunk(ends="stop"), {"choices": [filtered]}, "[DONE]"))
    result = ask().result()
    assert (result.status, result.answer, result.is_cut) == ("finished", ANSWER, False)


def test_a_piece_without_text_still_tells_why_the_answer_ends(ask, server):
    server.default = Raw(events=(chunk(ANSWER), {"choices": [{"index": 0, "finish_reason": "length"}]}, "[DONE]"))
    result = ask().result()
    assert (result.status, result.answer, result.cut_by) == ("finished", ANSWER, "length")


@pytest.mark.parametrize("none", ["null", pytest.param("None", marks=pytest.mark.soak)])
def test_a_reason_that_is_only_the_word_for_none_ends_no_answer(ask, server, none):
    half, rest = ANSWER[:4], ANSWER[4:]
    server.default = Raw(events=(chunk(half, ends=none), chunk(rest, ends=none), chunk(ends="stop"), "[DONE]"))
    result = ask().result()
    assert (result.status, result.answer, result.is_cut) == ("finished", ANSWER, False)


def test_prose_in_the_place_of_json_fails_the_run_after_each_way_of_asking(ask, server):
    server.default = PROSE
    result = ask("self_rag").result()
    assert (result.status, result.error.code) == ("failed", "no_json")
    assert any("response_format" in request.body for request in server.chats)
    assert any("tools" in request.body for request in server.chats)


@pytest.mark.parametrize("refused", [{"response_format"}, {"response_format", "tools"}])
def test_a_service_without_structured_output_is_asked_in_the_next_way_it_knows(ask, server, refused):
    server.refuses = refused
    run = ask("self_rag")
    result = run.result()
    assert (result.status, result.outcome, result.answer) == ("finished", "confirmed", ANSWER)
    if "tools" in refused:
        assert not {"tools", "response_format"} & server.chats[-1].body.keys()
    else:
        assert {request.forced_function for request in server.chats[-2:]} == {"support", "usefulness"}


@pytest.mark.parametrize(
    "refused", [pytest.param({"response_format"}, marks=pytest.mark.soak), {"response_format", "tools"}]
)
def test_a_server_that_fails_at_a_schema_is_asked_in_the_next_way_too(ask, server, refused):
    server.answer_when(lambda request: refused & request.body.keys(), Refusal(500, "failed to load model vocabulary"))
    run = ask("self_rag")
    assert (run.result().outcome, run.result().answer) == ("confirmed", ANSWER)
    assert not any(each.fallback for each in of(StepFinished, run.events))


@pytest.mark.parametrize(
    "refused",
    [
        pytest.param(set(), marks=pytest.mark.soak),
        pytest.param({"response_format"}, marks=pytest.mark.soak),
        {"response_format", "tools"},
    ],
)
def test_search_words_are_requested_in_a_format_that_the_service_supports(ask, server, refused):
    server.refuses = refused
    server.answer_when(lambda request: JA.keywords in request.prompt, '{"words": ["日当"]}')
    run = ask("hybrid")
    assert run.result().answer == ANSWER
    [extracted] = finished(run.events, "extract_keywords")
    assert extracted.detail.words == ("日当",)
    assert extracted.model_calls == 1 + len(refused)


def test_a_service_that_refuses_the_words_in_every_way_costs_the_words_alone(ask, server):
    server.answer_when(lambda request: JA.keywords in request.prompt, Refusal(400))
    run = ask("hybrid")
    assert run.result().status == "finished"
    [extracted] = finished(run.events, "extract_keywords")
    assert (extracted.detail.why, extracted.detail.error.code) == ("failed", "request_refused")
    assert KEY not in "".join(map(to_json, run.events))


def test_a_model_without_functions_is_not_told_as_unknown_and_its_grades_are_asked_for_in_words(ask, server):
    # So OpenRouter answers if no provider of the model takes functions. The first way gave prose.
    no_provider = Refusal(404, message="No endpoints found that support tool use.")
    server.answer_when(lambda request: "tools" in request.body, no_provider)
    server.answer_when(lambda request: "response_format" in request.body, PROSE)
    result = ask("self_rag").result()
    assert (result.status, result.outcome, result.answer) == ("finished", "confirmed", ANSWER)
    assert sum("tools" in request.body for request in server.chats) <= 4  # once for each passage at most


def test_what_a_service_refused_once_is_not_tried_again_soon(open_engine, server):
    server.refuses = {"response_format"}
    server.default = lambda request: YES if "JSON" in request.prompt else ANSWER
    engine = open_engine(server=server)
    engine.ask(QUESTION, index=INDEX, pipeline_name="self_rag").result()
    before = len(server.chats)
    engine.ask(QUESTION, index=INDEX, pipeline_name="self_rag").result()
    assert not any("response_format" in request.body for request in server.chats[before:])


def test_in_an_outage_a_grade_that_worked_by_schema_before_is_not_asked_for_in_other_ways(open_engine, server):
    server.default = lambda request: YES if "JSON" in request.prompt else ANSWER
    engine = open_engine(server=server)
    engine.ask(QUESTION, index=INDEX, pipeline_name="self_rag").result()
    before = len(server.chats)
    server.answer_when(lambda request: not request.streams, Refusal(500))
    result = engine.ask(QUESTION, index=INDEX, pipeline_name="self_rag").result()
    assert (result.outcome, result.answer) == ("unconfirmed", ANSWER)
    graders = [request for request in server.chats[before:] if not request.streams]
    assert len(graders) == 6
    assert all("response_format" in request.body for request in graders)


def test_what_failed_in_an_outage_is_tried_again_later(open_engine, server, monkeypatch):
    monkeypatch.setattr(rag.models.service.chat, "TRIED_AGAIN_AFTER", 0)
    server.answer_when(lambda request: {"response_format", "tools"} & request.body.keys(), Refusal(500), times=8)
    server.default = lambda request: YES if "JSON" in request.prompt else ANSWER
    engine = open_engine(server=server)
    engine.ask(QUESTION, index=INDEX, pipeline_name="self_rag").result()
    before = len(server.chats)
    engine.ask(QUESTION, index=INDEX, pipeline_name="self_rag").result()
    graders = [request for request in server.chats[before:] if not request.streams]
    assert [request for request in graders if "response_format" not in request.body] == []


# Also in test_a_passage_that_the_content_filter_refuses_costs_only_itself, for one call.
@pytest.mark.soak
def test_a_question_that_a_service_refuses_for_its_content_changes_nothing_for_the_next_one(open_engine, server):
    server.default = lambda request: YES if "JSON" in request.prompt else ANSWER
    server.answer_when(lambda request: "爆発" in request.prompt, Refusal(400, code="content_filter"))
    engine = open_engine(server=server)
    assert engine.ask("爆発物を持って行けますか?", index=INDEX, pipeline_name="self_rag").result().status == "failed"
    before = len(server.chats)
    engine.ask(QUESTION, index=INDEX, pipeline_name="self_rag").result()
    graders = [request.body for request in server.chats[before:] if not request.streams]
    assert graders
    assert [body for body in graders if "response_format" not in body] == []


def test_a_service_that_ignores_the_schema_is_read_with_patience(ask, server):
    server.ignores = {"response_format", "tools", "tool_choice"}
    server.answer_when(lambda request: "JSON" in request.prompt, f"Sure!\n```json\n{YES}\n```")
    assert ask("self_rag").result().outcome == "confirmed"


def test_a_service_that_streams_no_usage_still_counts_its_calls(ask, server):
    server.ignores = {"stream_options"}
    totals = ask().result().totals
    assert (totals.model_calls, totals.tokens) == (1, 0)


def test_tokens_are_those_that_the_service_counted(ask, server):
    server.default = Answer("2,500円[1]。", tokens=7)
    totals = ask().result().totals
    assert totals.tokens_out == 7
    assert totals.tokens_in == -(-len(server.prompts[0]) // 4)


def test_graders_are_asked_for_json_by_the_schemas_of_their_grades(ask, server):
    ask("self_rag").result()
    graded = [request for request in server.chats if not request.streams]
    fields = [sorted(request.schema["properties"]) for request in graded]
    assert fields[:4] == [["reason", "score", "verdict"]] * 4
    assert sorted(fields[4:]) == [["rating", "reason"], ["reason", "support", "unsupported"]]
    assert sum(JA.relevance in request.prompt for request in graded) == 4


@pytest.mark.parametrize(
    "break_it",
    [
        refuses(401),
        answers(NO),
        pytest.param(refuses(400), marks=pytest.mark.soak),
        pytest.param(refuses(500), marks=pytest.mark.soak),
        pytest.param(fails(Fault.MALFORMED), marks=pytest.mark.soak),
    ],
)
def test_the_key_stands_in_no_event_no_history_no_log_and_no_error(open_engine, server: OpenAIServer, caplog, break_it):
    caplog.set_level(logging.DEBUG)
    break_it(server)
    engine = open_engine(server=server)
    run = engine.ask(QUESTION, index=INDEX, pipeline_name="self_rag")
    run.result()
    assert server.chats[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in "".join(map(to_json, run.events))
    kept = b"".join(file.read_bytes() for file in engine.settings.data_dir.glob("history.sqlite3*"))
    assert run.id.encode() in kept
    assert KEY.encode() not in kept
    assert KEY not in caplog.text
    assert KEY not in repr(engine.settings)
    assert KEY not in json.dumps(engine.settings.model_dump(mode="json"))


def test_the_log_has_the_words_with_which_a_service_refuses(ask, server, caplog):
    server.fails(Refusal(400, "Unsupported value:\nreasoning.", code="unsupported_value"))
    assert ask().result().error.code == "request_refused"
    said = [each for each in caplog.messages if "Unsupported value: reasoning." in each]
    assert len(said) == 1
    assert "400" in said[0]
    assert "unsupported_value" in said[0]


@pytest.mark.parametrize("status", [pytest.param(400, marks=pytest.mark.soak), 401])
def test_a_service_that_repeats_the_key_in_its_refusal_is_not_quoted(ask, server, caplog, status):
    server.fails(Refusal(status, f"Incorrect API key provided: {KEY}."))
    run = ask()
    run.result()
    assert KEY not in "".join(map(to_json, run.events))
    assert KEY not in caplog.text
