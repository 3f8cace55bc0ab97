"""How a service model is asked: its key, a temperature that it refuses, its context window."""

import asyncio
from collections.abc import Callable

import pytest

from index_store.base.errors import RequestRefused
from rag.models.service.source import ServiceSource
from rag.models.usage import Usage
from rag.settings import Settings
from rag.trace.passages import Passage
from tests.rag.conftest import KEY
from tests.servers import Answer, OpenAIServer, Raw
from tests.servers.chat import ChatRequest

PASSAGE = Passage(
    number=1, rank=1, score=0.8, document_id="d", section_id="s", source="a.md", title="Snow", headings=(), page=None,
    text="Snow is white.", start=0, end=14,
)  # fmt: skip


def answer_of(source: ServiceSource) -> str:
    async def ask() -> str:
        written = await source.open().rewrite_for_web("Is snow white?", Usage(), language="en")
        await source.close()
        return written

    return asyncio.run(ask())


def test_a_server_that_needs_no_key_is_asked_with_a_placeholder(data_dir):
    with OpenAIServer() as server:
        server.enqueue("Yes.")
        source = ServiceSource(Settings(data_dir=data_dir, openai_base_url=server.base_url))
        assert answer_of(source) == "Yes."
        assert server.chats[0].headers["authorization"] == "Bearer none"


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
