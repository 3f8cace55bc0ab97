"""How a service model is asked: its key, a temperature that it refuses, its context window."""

import asyncio

import pytest

from index_store.base.errors import RequestRefused
from rag.models.service.source import ServiceSource
from rag.models.usage import Usage
from rag.settings import Settings
from tests.rag.conftest import KEY
from tests.servers import OpenAIServer


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


def test_what_else_the_model_refuses_is_told_and_its_temperature_stays(data_dir):
    async def ask(source: ServiceSource) -> None:
        with pytest.raises(RequestRefused):
            await source.open().rewrite_for_web("Is snow white?", Usage(), language="en")
        await source.close()

    with OpenAIServer(refuses={"max_completion_tokens"}) as server:
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
