"""The servers for tests, used by the real clients."""

import json
import threading

import numpy as np
import openai
import pytest
import tavily
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel

from tests.servers import Answer, Fault, OpenAIServer, Refusal, TavilyServer, WebResult
from tests.servers.embeddings import embed
from tests.servers.loopback import Connection


class Grade(BaseModel):
    """A verdict on a passage."""

    verdict: str
    reason: str


PATIENCE = 60
"""seconds for a server or a client that works"""

LONG = Answer("word " * 10_000, token_seconds=0.05)
"""takes longer than any test"""

GRADE = {"verdict": "yes", "reason": "it names the allowance"}


@pytest.fixture
def server():
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def tavily_server():
    with TavilyServer(key="tvly-right") as server:
        yield server


def chat_model(server: OpenAIServer, **settings) -> ChatOpenAI:
    settings = {"api_key": "sk-test", "model": "test-chat", "max_retries": 0, "timeout": PATIENCE} | settings
    return ChatOpenAI(base_url=server.base_url, **settings)


def embeddings(server: OpenAIServer, **settings) -> OpenAIEmbeddings:
    settings = {"check_embedding_ctx_length": False, "max_retries": 0, "timeout": PATIENCE} | settings
    return OpenAIEmbeddings(base_url=server.base_url, api_key="sk-test", model="test-embedding", **settings)


def test_answers_come_in_the_order_in_which_they_were_enqueued_and_then_the_default(server):
    server.enqueue("one", "two")
    server.default = "no more"
    model = chat_model(server)
    assert [model.invoke("?").content for _ in range(3)] == ["one", "two", "no more"]
    assert server.unused == 0


def test_a_request_that_meets_a_condition_gets_the_answer_of_that_condition(server):
    server.enqueue("the next")
    server.answer_when(lambda request: "relevant" in request.prompt, "yes", times=1)
    model = chat_model(server)
    assert model.invoke("Is it relevant?").content == "yes"
    assert model.invoke("Is it relevant?").content == "the next"


def test_the_default_can_depend_on_the_request(server):
    server.default = lambda request: request.prompt.upper()
    assert chat_model(server).invoke("quietly").content == "QUIETLY"


def test_requests_are_recorded_with_their_prompt_headers_and_body(server):
    chat_model(server).invoke([("system", "Be brief."), ("human", "日当は?")])
    [request] = server.requests
    assert request.prompt == "Be brief.\n日当は?"
    assert request.headers["authorization"] == "Bearer sk-test"
    assert request.body["model"] == "test-chat"
    assert not request.disconnected.is_set()


@pytest.mark.parametrize("text", ["日当は2,500円です[1]。", "The allowance is 2,500 yen [1].", ""])
def test_a_streamed_answer_is_the_same_text_in_tokens_with_its_usage(server, text):
    server.default = text
    model = chat_model(server, stream_usage=True)
    chunks = list(model.stream("?"))
    assert "".join(chunk.content for chunk in chunks) == text == model.invoke("?").content
    streamed = sum(chunk.usage_metadata["output_tokens"] for chunk in chunks if chunk.usage_metadata)
    assert streamed == model.invoke("?").usage_metadata["output_tokens"] == -(-len(text) // 4)


def test_a_server_that_ignores_stream_options_streams_no_usage(server):
    server.ignores = {"stream_options"}
    chunks = list(chat_model(server, stream_usage=True).stream("?"))
    assert all(chunk.usage_metadata is None for chunk in chunks)


def test_the_token_limit_cuts_the_answer(server):
    server.default = "12345678"
    answer = chat_model(server, max_tokens=1).invoke("?")
    assert answer.content == "1234"
    assert answer.response_metadata["finish_reason"] == "length"


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_a_json_answer_reaches_the_client_however_it_asks_for_structure(server, method):
    server.default = json.dumps(GRADE)
    model = chat_model(server).with_structured_output(Grade, method=method)
    assert model.invoke("?") == Grade(**GRADE)
    assert set(server.chats[0].schema["properties"]) == {"verdict", "reason"}


def test_a_model_may_call_functions_of_its_own_accord(server):
    server.default = Answer(tool_calls=(("Grade", GRADE),))
    model = chat_model(server).bind_tools([Grade])
    assert model.invoke("?").tool_calls[0]["args"] == GRADE
    streamed = None
    for chunk in model.stream("?"):
        streamed = chunk if streamed is None else streamed + chunk
    assert streamed.tool_calls[0]["args"] == GRADE


@pytest.mark.parametrize(("method", "field"), [("json_schema", "response_format"), ("function_calling", "tools")])
def test_an_older_server_refuses_what_it_does_not_know(server, method, field):
    server.refuses = {field}
    model = chat_model(server).with_structured_output(Grade, method=method)
    with pytest.raises(openai.BadRequestError, match=field):
        model.invoke("?")
    assert chat_model(server).invoke("?").content


def test_log_probabilities_are_sent_to_those_who_ask(server):
    server.default = Answer("yes", logprobs=({"no": -2.5, "yes": -0.1},))
    answer = chat_model(server, logprobs=True, top_logprobs=2).invoke("?")
    [token] = answer.response_metadata["logprobs"]["content"]
    assert token["token"] == "yes"
    assert [(top["token"], top["logprob"]) for top in token["top_logprobs"]] == [("yes", -0.1), ("no", -2.5)]
    assert chat_model(server).invoke("?").response_metadata["logprobs"] is None


def test_time_is_spent_before_the_first_token_and_on_each(server, monkeypatch):
    waits = []
    monkeypatch.setattr(Connection, "wait", lambda _, seconds: waits.append(seconds))
    server.default = Answer("word " * 20, delay=0.2, token_seconds=0.01, tokens=20)
    model = chat_model(server)
    assert len([chunk for chunk in model.stream("?") if chunk.content]) == 20
    assert waits == [0.2, *[0.01] * 20]
    waits.clear()
    model.invoke("?")
    assert waits == [0.2, pytest.approx(0.2)]


def test_requests_are_answered_side_by_side(server):
    def answer_once_all_are_there(_):
        server.wait_for_requests(4)
        return "Together."

    server.default = answer_once_all_are_there
    answers = chat_model(server).batch(["?"] * 4)
    assert [each.text for each in answers] == ["Together."] * 4
    assert server.most_at_once == 4


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, openai.AuthenticationError),
        (403, openai.PermissionDeniedError),
        (404, openai.NotFoundError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
        (503, openai.InternalServerError),
    ],
)
def test_a_refusal_is_the_error_that_the_client_knows(server, status, error):
    server.fails(Refusal(status, "Not today."))
    with pytest.raises(error, match=r"Not today\."):
        chat_model(server).invoke("?")
    server.recovers()
    assert chat_model(server).invoke("?").content


def test_a_refusal_carries_the_code_of_the_service(server):
    server.fails(Refusal(429, code="insufficient_quota"))
    with pytest.raises(openai.RateLimitError) as refused:
        chat_model(server).invoke("?")
    assert refused.value.code == "insufficient_quota"


def test_a_fault_for_some_requests_ends_after_them_and_a_client_that_retries_gets_through(server):
    server.fails(Refusal(429, retry_after=0.01), times=2, on="/chat/completions")
    assert embeddings(server).embed_query("not met by it")
    assert chat_model(server, max_retries=2).invoke("?").content
    assert len(server.chats) == 3


def test_a_single_answer_can_be_a_fault(server):
    server.enqueue(Refusal(503), Fault.CLOSES, Fault.CLOSES_MIDWAY, "at last")
    assert chat_model(server, max_retries=3).invoke("?").content == "at last"


def test_a_wrong_key_is_refused():
    with OpenAIServer(key="sk-right") as server:
        with pytest.raises(openai.AuthenticationError):
            chat_model(server, api_key="sk-wrong").invoke("?")
        assert chat_model(server, api_key="sk-right").invoke("?").content


def test_a_server_that_hangs_runs_into_the_timeout_of_the_client(server):
    server.fails(Fault.HANGS)
    with pytest.raises(openai.APITimeoutError):
        chat_model(server, timeout=0.3).invoke("?")
    [request] = server.wait_for_requests(1)  # a slow server takes it when its client has left
    assert request.disconnected.wait(PATIENCE)


@pytest.mark.parametrize("fault", [Fault.CLOSES, Fault.CLOSES_MIDWAY])
def test_a_connection_that_breaks_is_a_connection_error(server, fault):
    server.fails(fault)
    with pytest.raises(openai.APIConnectionError):
        chat_model(server).invoke("?")


def test_a_stream_that_breaks_has_given_its_first_half(server):
    server.default = Answer("12345678", tokens=8)
    server.fails(Fault.CLOSES_MIDWAY)
    stream = chat_model(server).stream("?")
    assert "".join(next(stream).content for _ in range(4)) == "1234"
    with pytest.raises(openai.APIConnectionError):
        next(stream)


def test_malformed_json_reaches_the_client_as_such(server):
    server.fails(Fault.MALFORMED)
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        chat_model(server).invoke("?")
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        list(chat_model(server).stream("?"))


def test_the_second_half_of_an_answer_waits_until_it_may_come_and_a_reader_may_leave_meanwhile(server):
    server.default = Answer("12345678", tokens=8, until=threading.Event())
    stream, left = chat_model(server).stream("?"), chat_model(server).stream("?")
    for each in (stream, left):
        assert "".join(next(each).content for _ in range(4)) == "1234"
    assert not server.requests[0].finished.wait(0.1)
    left.close()
    assert server.requests[1].disconnected.wait(PATIENCE)
    server.default.until.set()
    assert "".join(each.content for each in stream) == "5678"


def test_the_server_notices_when_a_reader_stops_in_the_middle(server):
    server.default = LONG
    stream = chat_model(server).stream("?")
    next(stream)
    assert not server.requests[0].disconnected.is_set()
    stream.close()
    assert server.requests[0].disconnected.wait(PATIENCE)


def test_an_end_of_the_server_ends_the_requests_that_are_open():
    with OpenAIServer() as server:
        server.default = LONG
        stream = chat_model(server).stream("?")
        next(stream)
    with pytest.raises(openai.APIConnectionError):
        list(stream)
    assert not server.requests[0].disconnected.is_set()


@pytest.mark.parametrize("settings", [{}, {"model_kwargs": {"encoding_format": "float"}}], ids=["base64", "float"])
def test_vectors_are_unit_vectors_that_are_near_for_similar_texts(server, settings):
    texts = ["出張の日当は2,500円です。", "出張の日当は3,000円です。", "The printer is on the second floor."]
    allowance, other_allowance, printer = map(np.array, embeddings(server, **settings).embed_documents(texts))
    assert np.linalg.norm(allowance) == pytest.approx(1, abs=1e-6)
    assert allowance @ other_allowance > 0.6 > 0.2 > allowance @ printer
    assert allowance == pytest.approx(embed(texts[0]), abs=1e-6)


def test_token_ids_and_empty_texts_are_not_embedded(server):
    client = openai.OpenAI(base_url=server.base_url, api_key="sk-test", max_retries=0)
    for given in ([1, 2, 3], [[1, 2], [3]], "", ["a", ""]):
        with pytest.raises(openai.BadRequestError):
            client.embeddings.create(model="test-embedding", input=given)


def test_the_models_are_listed(server):
    client = openai.OpenAI(base_url=server.base_url, api_key="sk-test")
    assert [model.id for model in client.models.list()] == ["test-chat", "test-embedding"]


def test_an_address_that_is_not_there_is_not_found(server):
    model = ChatOpenAI(base_url=server.url, api_key="sk-test", model="test-chat", max_retries=0)
    with pytest.raises(openai.NotFoundError):
        model.invoke("?")


def test_waiting_for_a_request_that_does_not_come_fails_with_what_did_come(server):
    with pytest.raises(AssertionError, match="0 of 1 requests"):
        server.wait_for_requests(1, timeout=0.1)


def test_a_web_search_gives_the_scripted_results(tavily_server):
    weather = WebResult("Weather", "https://example.com/weather", "晴れです。")
    tavily_server.answer_when(lambda request: "天気" in request.query, [weather])
    client = tavily.TavilyClient(api_key="tvly-right", api_base_url=tavily_server.url)
    assert client.search("今日の天気")["results"][0]["content"] == "晴れです。"
    assert client.search("something else")["results"] == []
    assert tavily_server.queries == ["今日の天気", "something else"]


def test_a_web_search_fails_as_the_client_knows_it(tavily_server):
    def search(key: str) -> None:
        tavily.TavilyClient(api_key=key, api_base_url=tavily_server.url).search("?")

    with pytest.raises(tavily.InvalidAPIKeyError):
        search("tvly-wrong")
    tavily_server.enqueue(Refusal(429))
    with pytest.raises(tavily.UsageLimitExceededError):
        search("tvly-right")
