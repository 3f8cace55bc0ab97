"""Which model is asked, and how: what only shows below the engine."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

import pytest

from benchmarks.grading import passage
from rag.errors import EmptyReply
from rag.models.chat_model import Meter
from rag.models.embedded.chat import EmbeddedChat
from rag.models.grades import GradingPrompt
from rag.models.registry import EmbeddedSource, ServiceSource, model_source
from rag.models.service.chat import ServiceChat
from rag.settings import Settings
from rag.trace import Grade
from tests.rag.conftest import KEY
from tests.rag.scripted import ScriptedChat
from tests.servers import Answer, OpenAIServer

T = TypeVar("T")

PROMPT = [("user", "Is snow white?")]


@pytest.mark.parametrize(
    ("values", "source"),
    [
        ({}, EmbeddedSource),
        ({"openai_api_key": KEY}, ServiceSource),
        ({"openai_base_url": "http://127.0.0.1:1/v1"}, ServiceSource),
        ({"openai_api_key": KEY, "chat_model": "embedded"}, EmbeddedSource),
    ],
    ids=["nothing set", "a key", "an address alone", "a key, but the embedded model named"],
)
def test_a_service_is_asked_where_one_is_set_and_the_embedded_model_is_not_named(data_dir, values, source):
    models = model_source(Settings(data_dir=data_dir, **values))
    assert type(models) is source
    assert models.is_ready() is (source is ServiceSource)
    asyncio.run(models.close())


def test_an_embedded_model_of_ones_own_goes_by_its_name(data_dir, tmp_path):
    models = model_source(Settings(data_dir=data_dir, embedded_model=tmp_path / "mine.gguf"))
    assert models.name == "mine"
    asyncio.run(models.close())


def test_a_server_that_needs_no_key_is_asked_with_a_placeholder(data_dir):
    async def ask(models: ServiceSource) -> str:
        written = await models.open().write(PROMPT, Meter())
        await models.close()
        return written

    with OpenAIServer() as server:
        server.enqueue("Yes.")
        models = model_source(Settings(data_dir=data_dir, openai_base_url=server.base_url))
        assert asyncio.run(ask(models)) == "Yes."
        assert server.chats[0].headers["authorization"] == "Bearer none"


def test_a_meter_counts_calls_and_tokens_over_all_kinds_of_asking():
    chat = ScriptedChat()
    chat.enqueue("12345678", "1234", '{"verdict": "no"}')
    model, meter = ServiceChat(chat, "scripted"), Meter()

    async def ask() -> None:
        assert [piece.text async for piece in model.stream(PROMPT, meter)] == ["1234", "5678"]
        assert await model.write(PROMPT, meter) == "1234"
        assert (await model.grade(GradingPrompt(PROMPT), meter)).verdict == "no"

    asyncio.run(ask())
    assert (meter.calls, meter.tokens_in, meter.tokens_out) == (3, 3 * 4, 2 + 1 + 5)


@pytest.mark.parametrize("answer", ["", "  \n"])
def test_nothing_is_no_answer(answer):
    chat = ScriptedChat()
    chat.default = answer
    model = ServiceChat(chat, "scripted")

    async def stream() -> list:
        return [piece async for piece in model.stream(PROMPT, Meter())]

    with pytest.raises(EmptyReply, match="scripted"):
        asyncio.run(model.write(PROMPT, Meter()))
    with pytest.raises(EmptyReply, match="scripted"):
        asyncio.run(stream())


def test_the_embedded_model_writes_its_search_words_within_a_bound(data_dir):
    async def ask():
        source = ServiceSource(Settings(data_dir=data_dir, openai_base_url=server.base_url))
        try:
            return await EmbeddedChat(source.open().client, "small").keywords(PROMPT, Meter())
        finally:
            await source.close()

    with OpenAIServer() as server:
        server.default = "Search words: snow, white"
        assert asyncio.run(ask()) == ("snow", "white")
        assert server.chats[0].schema is None
        assert server.chats[0].token_limit <= 100


def test_a_service_is_given_as_much_to_read_as_its_model_is_said_to_hold(data_dir):
    small, large = (
        ServiceSource(Settings(data_dir=data_dir, openai_base_url="http://127.0.0.1:1/v1", model_context=context))
        for context in (4096, 131_072)
    )
    assert small.open().room.together < 3000 < 100_000 < large.open().room.together
    for source in (small, large):
        asyncio.run(source.close())


def asked_as_embedded(data_dir, answers: Iterable[Answer], ask: Callable[[EmbeddedChat], Awaitable[T]]):
    """What came of it, and the requests, with a loopback server in the embedded model's place."""

    async def asked():
        source = ServiceSource(Settings(data_dir=data_dir, openai_base_url=server.base_url))
        try:
            return await ask(EmbeddedChat(source.open().client, "small"))
        finally:
            await source.close()

    with OpenAIServer() as server:
        server.enqueue(*answers)
        return asyncio.run(asked()), server.chats


def grade_by_margin(data_dir, prompt: GradingPrompt, answer: Answer) -> Grade:
    grade, [asked] = asked_as_embedded(data_dir, [answer], lambda model: model.grade(prompt, Meter()))
    assert (asked.body["logprobs"], asked.token_limit) == (True, 1)
    return grade


@pytest.mark.parametrize(
    ("cut", "prior", "verdict"), [(0.0, 0.0, "yes"), (2.5, 0.0, "no"), (2.5, 1.0, "yes"), (0.0, -3.0, "no")]
)
def test_the_embedded_model_is_graded_by_its_margin_and_not_by_its_word(data_dir, cut, prior, verdict):
    answer = Answer("no", logprobs=({"yes": -0.5, "no": -2.5},))
    grade = grade_by_margin(data_dir, GradingPrompt(PROMPT, cut=cut, priors={"words": prior}), answer)
    assert (grade.verdict, grade.margin, grade.cut) == (verdict, pytest.approx(2 + prior), cut)
    assert grade.parts == {"asked": pytest.approx(2), "words": prior}
    assert (grade.score >= 0.5) is (verdict == "yes")


def test_the_embedded_model_is_not_asked_to_correct_itself(data_dir):
    """An answer that is wrong passes its check at the next try sooner than it gets right."""
    service = ServiceSource(Settings(data_dir=data_dir, openai_api_key=KEY))
    assert service.open().corrects
    assert not EmbeddedChat.corrects
    asyncio.run(service.close())


def test_without_log_probabilities_the_grade_is_unknown(data_dir):
    assert grade_by_margin(data_dir, GradingPrompt(PROMPT), Answer("")).verdict == "unknown"


YES, NO = (Answer("yes", logprobs=({"yes": yes, "no": -1.0},)) for yes in (6.0, -8.0))
PASSAGE = passage(1, "A password has at least 14 characters.")


def supported(data_dir, said: str, *answers: Answer):
    return asked_as_embedded(
        data_dir, answers, lambda model: model.support("How long is a password?", said, [PASSAGE], Meter())
    )


def test_the_claims_of_an_answer_are_graded_one_by_one(data_dir):
    support, chats = supported(data_dir, "It has 14 characters[1]. It has 3 colours[1].", YES, NO)
    assert (support.level, support.unsupported) == ("partly", ("It has 3 colours.",))
    assert ["colours" in chat.text for chat in chats] == [False, True]


def test_an_answer_of_many_claims_is_graded_as_a_whole(data_dir):
    support, [asked] = supported(data_dir, " ".join(["It has 14 characters[1]."] * 9), YES)
    assert support.level == "fully"
    assert asked.text.count("It has 14 characters.") == 9


def test_graders_do_not_read_the_markers_of_an_answer(data_dir):
    """One mark takes more than half of the margin of a right answer, and its number is no number that passages lack."""
    support, [asked] = supported(data_dir, "It has 14 characters[2].", YES)
    assert support.parts.keys() == {"asked"}
    assert "It has 14 characters." in asked.text
    _, [asked] = asked_as_embedded(
        data_dir, [YES], lambda model: model.usefulness("How long?", "It has 14 characters[2].", Meter())
    )
    assert "It has 14 characters." in asked.text


def test_the_embedded_model_tells_how_sure_it_was_of_each_token_that_it_wrote(data_dir):
    async def stream(model: EmbeddedChat) -> list[tuple[str, tuple[float, ...]]]:
        return [(piece.text, piece.logprobs) async for piece in model.stream(PROMPT, Meter())]

    answer = Answer("It is white", tokens=2, logprobs=({"It is ": -0.1}, {"white": -0.5}))
    pieces, _ = asked_as_embedded(data_dir, [answer], stream)
    assert "".join(text for text, _ in pieces) == "It is white"
    assert [logprob for _, logprobs in pieces for logprob in logprobs] == [-0.1, -0.5]
