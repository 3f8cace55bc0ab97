"""Every call of a chat model limits the length of its reply, as the requests at a server show."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from langchain_openai import ChatOpenAI

from rag.errors import ReplyCut
from rag.models.calls.usage import Usage
from rag.models.chat_model import Answer, ChatModel
from rag.models.client.client import ChatClient
from rag.models.embedded.chat import EmbeddedChat
from rag.models.service.chat import ServiceChat
from rag.models.service.source import ServiceSource
from rag.runs.run.options import USUAL
from rag.settings import Settings
from rag.trace.details import Turn
from rag.trace.passages import Passage
from tests.servers import Answer as ServedAnswer
from tests.servers import OpenAIServer

Asking = Callable[[ChatModel, Usage], Awaitable[object] | AsyncIterator[object]]
PASSAGE = Passage(
    number=1, rank=1, score=0.8, document_id="d", section_id="s", source="a.md", title="Snow", headings=(), page=None,
    text="Snow is white.", start=0, end=14,
)  # fmt: skip
QUESTION = "Is snow white in the north?"
EVERY: dict[str, Asking] = {
    "answer": lambda model, usage: model.answer(QUESTION, [PASSAGE], usage, language="en", style=USUAL),
    "answer_from_memory": lambda model, usage: model.answer_from_memory(QUESTION, usage, language="en"),
    "small_talk": lambda model, usage: model.small_talk("Hello", usage, language="en"),
    "rewrite_question": lambda model, usage: model.rewrite_question(QUESTION, QUESTION, usage, language="en"),
    "rewrite_for_web": lambda model, usage: model.rewrite_for_web(QUESTION, usage, language="en"),
    "condense_question": lambda model, usage: model.condense_question(
        "And there?", [Turn(question=QUESTION, answer="Yes.")], usage, language="en"
    ),
    "suggest_follow_ups": lambda model, usage: model.suggest_follow_ups(QUESTION, "Yes.", (), usage, language="en"),
    "grade_relevance": lambda model, usage: model.grade_relevance(QUESTION, PASSAGE, usage),
    "check_grounding": lambda model, usage: model.check_grounding(QUESTION, Answer("It is."), [PASSAGE], usage),
    "check_usefulness": lambda model, usage: model.check_usefulness(QUESTION, Answer("It is."), usage),
    "grade_retrieval_need": lambda model, usage: model.grade_retrieval_need(QUESTION, usage),
    "route": lambda model, usage: model.route(QUESTION, usage),
    "extract_keywords": lambda model, usage: model.extract_keywords(QUESTION, usage, language="en"),
}


async def ask(way: Asking, model: ChatModel) -> None:
    asking = way(model, Usage())
    if isinstance(asking, Awaitable):
        await asking
    else:
        async for _ in asking:
            continue


def limits(server: OpenAIServer) -> set[int | None]:
    assert server.chats
    return {request.token_limit for request in server.chats}


def test_every_way_of_asking_is_looked_at():
    assert set(EVERY) == ChatModel.__abstractmethods__


@pytest.mark.parametrize("way", EVERY)
@pytest.mark.parametrize(("context", "most"), [(16_384, 300), pytest.param(1_000_000, 300, marks=pytest.mark.soak)])
def test_a_service_is_told_how_much_it_may_write(way, context, most, data_dir):
    with OpenAIServer() as server:
        server.default = "Yes."
        settings = Settings(
            data_dir=data_dir, openai_base_url=server.base_url, model_context=context, answer_tokens=most
        )
        source = ServiceSource(settings)

        async def run() -> None:
            await ask(EVERY[way], source.open())
            await source.close()

        asyncio.run(run())
        assert limits(server) == {most}


def test_a_reply_leaves_a_small_context_its_passages(data_dir):
    with OpenAIServer() as server:
        source = ServiceSource(Settings(data_dir=data_dir, openai_base_url=server.base_url, model_context=4096))

        async def run() -> None:
            await ask(EVERY["answer"], source.open())
            await source.close()

        asyncio.run(run())
        assert limits(server) == {1024}


@pytest.mark.parametrize("way", EVERY)
def test_the_embedded_model_is_told_how_much_it_may_write(way):
    with OpenAIServer() as server:
        model = ChatOpenAI(model="embedded", api_key="none", base_url=server.base_url, max_tokens=400, max_retries=0)
        asyncio.run(ask(EVERY[way], EmbeddedChat(ChatClient(model, "embedded"))))
        most = {"answer": 400, "answer_from_memory": 400, "small_talk": 400, "extract_keywords": 60}
        most |= dict.fromkeys(("rewrite_question", "rewrite_for_web", "condense_question"), 200)
        most["suggest_follow_ups"] = 150
        assert limits(server) == {most.get(way, 1)}


@pytest.mark.parametrize("kind", [ServiceChat, EmbeddedChat])
@pytest.mark.parametrize(("tokens", "is_cut"), [(30, False), (31, True)])
def test_an_answer_that_reached_its_limit_is_known_as_cut(kind, tokens, is_cut):
    with OpenAIServer() as server:
        server.default = ServedAnswer("Snow is white. " * 10, tokens=tokens)
        client = ChatOpenAI(model="some", api_key="none", base_url=server.base_url, max_tokens=30, stream_usage=True)
        model = kind(ChatClient(client, "some"))

        async def last() -> object:
            return [piece async for piece in EVERY["answer"](model, Usage())][-1]

        answer = asyncio.run(last())
        assert isinstance(answer, Answer)
        assert answer.is_cut is is_cut


def test_a_reply_that_is_cut_short_before_its_first_word_is_told_as_cut(data_dir):
    with OpenAIServer() as server:
        server.enqueue(" " * 4000)
        source = ServiceSource(Settings(data_dir=data_dir, openai_base_url=server.base_url, answer_tokens=100))

        async def run() -> None:
            try:
                await ask(EVERY["rewrite_for_web"], source.open())
            finally:
                await source.close()

        with pytest.raises(ReplyCut):
            asyncio.run(run())
