"""How a service model is asked: its key, a temperature that it refuses, its context window."""

import asyncio
import runpy
import warnings
from collections.abc import Callable

import pytest

from index_store.base.errors import ModelUnknown, RequestRefused
from rag.models.calls.usage import Usage
from rag.models.service import chat_openai
from rag.models.service.en import EN
from rag.models.service.source import ServiceSource
from rag.settings import Settings
from rag.trace.passages import Passage
from tests.rag.conftest import KEY
from tests.servers import Answer, OpenAIServer, Raw, Refusal
from tests.servers.chat import ChatRequest
from tests.servers.openai_server import CHAT

PASSAGE = Passage(
    number=1, rank=1, score=0.8, document_id="d", section_id="s", source="a.md", title="Snow", headings=(), page=None,
    text="Snow is white.", start=0, end=14,
)  # fmt: skip


def answer_of(source: ServiceSource) -> str:
    async def ask() -> str:
        try:
            return await source.open().rewrite_for_web("Is snow white?", Usage(), language="en")
        finally:
            await source.close()

    return asyncio.run(ask())


def test_a_server_that_needs_no_key_is_asked_with_a_placeholder(data_dir):
    with OpenAIServer() as server:
        server.enqueue("Yes.")
        source = ServiceSource(Settings(data_dir=data_dir, openai_base_url=server.base_url))
        assert answer_of(source) == "Yes."
        assert server.chats[0].headers["authorization"] == "Bearer none"


def test_the_query_of_an_address_is_sent_with_each_call(data_dir):
    with OpenAIServer() as server:
        server.routes[("POST", f"{CHAT}?api-version=2024-10-21")] = server.routes.pop(("POST", CHAT))
        server.enqueue("Yes.")
        address = f"{server.base_url}?api-version=2024-10-21"
        assert answer_of(ServiceSource(Settings(data_dir=data_dir, openai_base_url=address))) == "Yes."


@pytest.mark.parametrize(
    "variables",
    [{"OPENAI_BASE_URL": ""}, {"OPENAI_API_BASE": "http://127.0.0.1:1/v1"}, {"OPENAI_PROXY": "http://127.0.0.1:1"}],
)
def test_an_address_that_is_not_set_is_that_of_openai_whatever_else_is_in_the_environment(
    data_dir, monkeypatch, variables
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with OpenAIServer(key=KEY) as server:
        monkeypatch.setattr("rag.models.service.source.OPENAI_URL", server.base_url)
        server.enqueue("Yes.")
        source = ServiceSource(Settings(data_dir=data_dir, openai_api_key=KEY, model_retries=0))
        assert answer_of(source) == "Yes."


def test_a_temperature_that_the_model_refuses_is_left_out_from_then_on(data_dir):
    usage = Usage(record=[])

    async def ask(source: ServiceSource) -> None:
        model = source.open()
        for _ in range(2):
            async for _ in model.small_talk("Hello", usage, language="en", temperature=0.7):
                pass
            await model.rewrite_for_web("Is snow white?", usage, language="en")
        await source.close()

    with OpenAIServer(refuses={"temperature"}) as server:
        asyncio.run(ask(ServiceSource(Settings(data_dir=data_dir, openai_base_url=server.base_url, model_retries=0))))
        assert [each.body.get("temperature") for each in server.chats] == [0.7, None, 0, None, None, None]
    assert [(call.temperature, call.status) for call in usage.record] == [
        (0.7, "failed"), (None, "finished"), (0, "failed"), (None, "finished"), (None, "finished"), (None, "finished"),
    ]  # fmt: skip


def refusing(field: str, body: dict) -> Callable[[ChatRequest], Answer | Raw]:
    """Answers "Yes." to requests without this field, and the others with a refusal."""
    return lambda request: Raw(body, status=422) if field in request.body else Answer("Yes.")


@pytest.mark.parametrize(
    ("field", "refusal"),
    [
        ("temperature", {"detail": [{"loc": ["body", "temperature"], "msg": "too low"}]}),
        ("max_completion_tokens", {"error": {"message": "Unsupported parameter: 'max_completion_tokens'"}}),
        (
            "max_completion_tokens",
            {"message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "max_completion_tokens"]}]}},
        ),
        ("stream_options", {"message": "Extra inputs are not permitted: stream_options"}),
    ],
)
def test_a_field_that_a_service_does_not_know_is_left_out_from_then_on_in_every_kind_of_call(data_dir, field, refusal):
    async def ask(source: ServiceSource) -> None:
        model = source.open()
        for _ in range(2):
            assert (await model.grade_relevance("Is snow white?", PASSAGE, Usage())).verdict == "yes"
            said = [piece async for piece in model.small_talk("Hello", Usage(), language="en")]
            assert said[-1].text == "Yes."
        await source.close()

    with OpenAIServer() as server:
        server.default = refusing(field, refusal)
        settings = Settings(data_dir=data_dir, openai_base_url=server.base_url, model_retries=0, answer_tokens=100)
        asyncio.run(ask(ServiceSource(settings)))
        assert [field in each.body for each in server.chats].count(True) == 1
        assert {each.token_limit for each in server.chats} == {100}


@pytest.mark.parametrize(
    "said",
    [
        "System role not supported",
        "Developer instruction is not enabled for models/gemma-3-27b-it",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    ],
    ids=["Gemma 2 of vLLM", "Gemma 3 of Gemini", "o1-mini of OpenAI"],
)
def test_a_model_without_a_system_message_gets_its_instructions_with_the_question_from_then_on(data_dir, said):
    usage = Usage(record=[])

    async def ask(source: ServiceSource) -> None:
        model = source.open()
        for _ in range(2):
            pieces = [piece async for piece in model.small_talk("Hello", usage, language="en")]
            assert pieces[-1].text == "Yes."
            await model.rewrite_for_web("Is snow white?", usage, language="en")
        await source.close()

    with OpenAIServer() as server:
        server.default = lambda request: Refusal(400, said) if request.messages[0]["role"] == "system" else "Yes."
        asyncio.run(ask(ServiceSource(Settings(data_dir=data_dir, openai_base_url=server.base_url, model_retries=0))))
        roles = [[each["role"] for each in request.messages] for request in server.chats]
        assert roles == [["system", "user"], *[["user"]] * 4]
        assert {request.prompt for request in server.chats[2::2]} == {server.chats[2].prompt}
        assert server.chats[1].prompt == f"{EN.talk}\n\nHello"
    assert [message.text for message in usage.record[1].messages] == [f"{EN.talk}\n\nHello"]


def test_a_model_that_may_not_be_streamed_answers_whole_from_then_on(data_dir):
    said = "Your organization must be verified to stream this model."
    refusal = Raw({"error": {"message": said, "param": "stream", "code": "unsupported_value"}}, status=400)
    usage = Usage()

    async def ask(source: ServiceSource) -> None:
        model = source.open()
        for _ in range(2):
            said = [piece async for piece in model.small_talk("Hello", usage, language="en")]
            assert (said[-1].text, "".join(said[:-1])) == ("Yes.", "Yes.")
        await source.close()

    with OpenAIServer() as server:
        server.default = lambda request: refusal if request.streams else Answer("Yes.", tokens=3)
        asyncio.run(ask(ServiceSource(Settings(data_dir=data_dir, openai_base_url=server.base_url, model_retries=0))))
        assert [each.streams for each in server.chats] == [True, False, False]
    assert usage.tokens_out == 6


def test_a_whole_reply_is_read_whatever_its_type_is_called(data_dir):
    reply = {"choices": [{"message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}]}
    with OpenAIServer() as server:
        server.default = Raw(reply, content_type="text/plain")
        assert answer_of(ServiceSource(Settings(data_dir=data_dir, openai_base_url=server.base_url))) == "Yes."


def test_a_model_that_openai_offers_only_by_responses_is_asked_there(data_dir, monkeypatch):
    said = {"type": "output_text", "text": "Yes.", "annotations": []}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [said]}
    reply = {
        "object": "response", "id": "r", "created_at": 0, "model": "gpt-5-pro", "status": "completed",
        "output": [message], "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
    }  # fmt: skip
    monkeypatch.setattr("rag.models.service.source.OPENAI_HOSTS", ("127.0.0.1",))
    with OpenAIServer() as server:
        server.routes["POST", "/v1/responses"] = lambda request, connection, fault: connection.send_json(200, reply)
        settings = Settings(data_dir=data_dir, openai_base_url=server.base_url, chat_model="gpt-5-pro")
        assert answer_of(ServiceSource(settings)) == "Yes."


def test_a_warning_that_quotes_a_reply_is_not_logged():
    with warnings.catch_warnings(record=True) as logged:
        warnings.simplefilter("always")
        runpy.run_path(chat_openai.__file__)
        warnings.warn("Pydantic serializer warnings: 2,500", stacklevel=1)
        warnings.warn("something else", stacklevel=1)
    assert [str(each.message) for each in logged] == ["something else"]


BOTH_LENGTHS = {"max_tokens", "max_completion_tokens"}


def lengths(server: OpenAIServer) -> list[dict[str, int]]:
    """The limits of the reply's length in each request, by their names."""
    return [{name: each.body[name] for name in BOTH_LENGTHS & each.body.keys()} for each in server.chats]


async def ask_in_each_kind_of_call(source: ServiceSource) -> None:
    model = source.open()
    assert (await model.grade_relevance("Is snow white?", PASSAGE, Usage())).verdict == "yes"
    said = [piece async for piece in model.small_talk("Hello", Usage(), language="en")]
    assert said[-1].text == "Yes."
    assert await model.rewrite_for_web("Is snow white?", Usage(), language="en") == "Yes."
    await source.close()


def test_a_server_of_ones_own_is_sent_the_limit_of_a_reply_under_both_names(data_dir):
    # Ollama knows only the older name, and ignores the other.
    with OpenAIServer() as server:
        server.default = "Yes."
        settings = Settings(data_dir=data_dir, openai_base_url=server.base_url, answer_tokens=100)
        asyncio.run(ask_in_each_kind_of_call(ServiceSource(settings)))
        assert lengths(server) == [{"max_tokens": 100, "max_completion_tokens": 100}] * 3


@pytest.mark.parametrize(
    "said",
    [
        "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "Extra inputs are not permitted: max_tokens",
    ],
)
def test_a_server_that_refuses_the_older_name_of_the_limit_is_sent_the_newer_one_from_then_on(data_dir, said):
    with OpenAIServer() as server:
        server.default = refusing("max_tokens", {"error": {"message": said}})
        settings = Settings(data_dir=data_dir, openai_base_url=server.base_url, model_retries=0, answer_tokens=100)
        asyncio.run(ask_in_each_kind_of_call(ServiceSource(settings)))
        assert lengths(server)[1:] == [{"max_completion_tokens": 100}] * 3


def test_a_server_that_names_both_and_knows_the_older_one_is_sent_that(data_dir):
    said = "Unknown parameter: 'max_completion_tokens'. Known ones: messages, model, max_tokens, temperature."
    with OpenAIServer() as server:
        server.default = refusing("max_completion_tokens", {"error": {"message": said}})
        settings = Settings(data_dir=data_dir, openai_base_url=server.base_url, model_retries=0, answer_tokens=100)
        asyncio.run(ask_in_each_kind_of_call(ServiceSource(settings)))
        assert lengths(server)[2:] == [{"max_tokens": 100}] * 3


@pytest.mark.parametrize(
    ("host", "names"),
    [
        ("api.openai.com", {"max_completion_tokens"}),
        ("EU.API.OPENAI.COM:443", {"max_completion_tokens"}),
        ("some.openai.azure.com", {"max_completion_tokens"}),
        ("notopenai.com", BOTH_LENGTHS),
        ("api.openai.com.example.com", BOTH_LENGTHS),
    ],
)
def test_openai_and_azure_alone_are_sent_only_the_newer_name_of_the_limit(data_dir, monkeypatch, host, names):
    # The server stands for a proxy, which is asked for the whole address and does not know it.
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with OpenAIServer() as server:
        for name in ("http_proxy", "HTTP_PROXY"):
            monkeypatch.setenv(name, server.url)
        source = ServiceSource(Settings(data_dir=data_dir, openai_base_url=f"http://{host}/v1", model_retries=0))
        with pytest.raises(ModelUnknown):
            answer_of(source)
        [request] = server.requests
        assert BOTH_LENGTHS & request.body.keys() == names


def test_a_server_of_ones_own_is_asked_for_a_chat_whatever_its_model_is_called(data_dir):
    with OpenAIServer() as server:
        server.default = "Yes."
        settings = Settings(data_dir=data_dir, openai_base_url=server.base_url, chat_model="my-codex")
        asyncio.run(ask_in_each_kind_of_call(ServiceSource(settings)))
        assert len(server.chats) == 3


def test_what_else_the_model_refuses_is_told_and_its_temperature_stays(data_dir):
    async def ask(source: ServiceSource) -> None:
        with pytest.raises(RequestRefused):
            await source.open().rewrite_for_web("Is snow white?", Usage(), language="en")
        await source.close()

    with OpenAIServer(refuses={"model"}) as server:
        asyncio.run(ask(ServiceSource(Settings(data_dir=data_dir, openai_base_url=server.base_url, model_retries=0))))
        assert [each.body.get("temperature") for each in server.chats] == [0]


def test_a_service_is_given_as_much_to_read_as_its_model_is_said_to_hold(data_dir):
    small, large = (
        ServiceSource(Settings(data_dir=data_dir, openai_base_url="http://127.0.0.1:1/v1", model_context=context))
        for context in (4096, 131_072)
    )
    assert small.open().context_window.passages < 3000 < 100_000 < large.open().context_window.passages
    for source in (small, large):
        asyncio.run(source.close())


def test_a_service_is_asked_again_for_an_answer_that_is_not_grounded(data_dir):
    source = ServiceSource(Settings(data_dir=data_dir, openai_api_key=KEY))
    assert source.open().regenerates
    asyncio.run(source.close())
