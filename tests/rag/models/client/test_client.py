"""The client that both kinds of chat model use."""

import asyncio

import pytest
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

from rag.errors import EmptyReply
from rag.models.calls.restart import Restart
from rag.models.calls.usage import Usage
from rag.models.client.client import ChatClient
from rag.models.client.finish_reason import cut_by
from rag.trace.calls import pack, unpack
from tests.rag.scripted import ScriptedChat

PROMPT = [("user", "Is snow white?")]


def test_calls_and_tokens_are_counted_over_all_kinds_of_asking():
    chat, usage = ScriptedChat(), Usage()
    chat.enqueue("12345678", "1234", "123456781234")
    client = ChatClient(chat, "scripted")

    async def ask() -> None:
        assert [piece.text async for piece in client.stream(PROMPT, usage) if piece.text] == ["1234", "5678"]
        assert await client.write(PROMPT, usage) == "1234"
        assert (await client.ask(PROMPT, usage)).text == "123456781234"

    asyncio.run(ask())
    assert (usage.calls, usage.tokens_in, usage.tokens_out) == (3, 3 * 4, 2 + 1 + 3)


def test_the_reasoning_of_a_model_is_no_part_of_its_reply():
    chat = ScriptedChat()
    chat.default = "<think>\nSnow is white, they say.\n</think>\n\nYes."
    client = ChatClient(chat, "scripted")

    async def ask() -> None:
        assert "".join([piece.text async for piece in client.stream(PROMPT, Usage())]) == "Yes."
        assert await client.write(PROMPT, Usage()) == "Yes."
        assert (await client.ask(PROMPT, Usage())).text == "Yes."

    asyncio.run(ask())


def test_reasoning_that_a_reply_only_ends_is_void_and_repeats_no_instruction():
    rule = "Answer each question with a single short word, and with nothing besides that word."
    chat = ScriptedChat()
    chat.default = f"I was told: {rule}\n</think>\n\nYes."
    client = ChatClient(chat, "scripted")

    async def ask() -> None:
        prompt = [("system", rule), *PROMPT]
        pieces = [piece async for piece in client.stream(prompt, Usage())]
        [restart] = [at for at, piece in enumerate(pieces) if isinstance(piece, Restart)]
        assert "".join(piece.text for piece in pieces[restart + 1 :]) == "Yes."
        assert await client.write(prompt, Usage()) == "Yes."
        assert (await client.ask(prompt, Usage())).text == "Yes."

    asyncio.run(ask())


def test_an_emoji_that_the_service_splits_is_whole_for_readers_and_in_the_record():
    chat, usage = ScriptedChat(), Usage(record=[])
    chat.default = "abc\ud83d\ude00 is half \ud83d"  # streamed in pieces of four
    client = ChatClient(chat, "scripted")

    async def ask() -> None:
        assert "".join([piece.text async for piece in client.stream(PROMPT, usage)]) == "abc\U0001f600 is half \ufffd"
        assert await client.write(PROMPT, usage) == "abc\U0001f600 is half \ufffd"

    asyncio.run(ask())
    assert [call.reply.text for call in usage.record] == ["abc\U0001f600 is half \ufffd"] * 2
    assert unpack(pack(usage.record)) == tuple(usage.record)


@pytest.mark.parametrize(
    "written",
    [
        "Yes.</s>",
        "Yes.<|im_end|>\n",
        "<think>Snow?</think>Yes.<|eot_id|>",
        "<think>\nSnow?\n</think>\n<answer>\nYes.</answer>",
        "assistant\n\nYes.",
    ],
)
def test_what_stands_around_a_reply_is_no_part_of_it(written):
    chat, usage = ScriptedChat(), Usage(record=[])
    chat.default = written  # streamed in pieces of four
    client = ChatClient(chat, "scripted")

    async def ask() -> None:
        pieces = [piece async for piece in client.stream(PROMPT, usage)]
        assert "".join(piece.text for piece in pieces if not isinstance(piece, Restart)) == "Yes."
        assert (await client.ask(PROMPT, usage)).text == "Yes."

    asyncio.run(ask())
    assert [call.reply.text for call in usage.record] == [written] * 2


def test_no_sign_in_a_reply_turns_what_follows_it():
    chat = ScriptedChat()
    chat.default = "It is \u202e005\u202c yen\u2069."
    client = ChatClient(chat, "scripted")

    async def ask() -> None:
        assert "".join([piece.text async for piece in client.stream(PROMPT, Usage())]) == "It is 005 yen."
        assert await client.write(PROMPT, Usage()) == "It is 005 yen."

    asyncio.run(ask())


@pytest.mark.parametrize(
    "answer",
    ["", "  \n", "<think>It comes to no end.", "<think>It says no more.</think>", "No more.\n</think>", "</s>"],
)
def test_an_empty_reply_is_an_error(answer):
    chat = ScriptedChat()
    chat.default = answer
    client = ChatClient(chat, "scripted")

    async def stream() -> list:
        return [piece async for piece in client.stream(PROMPT, Usage())]

    with pytest.raises(EmptyReply, match="scripted"):
        asyncio.run(client.write(PROMPT, Usage()))
    with pytest.raises(EmptyReply, match="scripted"):
        asyncio.run(stream())


@pytest.mark.parametrize(
    ("told", "cut"),
    [
        ({"status": "completed"}, None),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "filter"),
    ],
)
def test_a_stream_of_the_responses_api_ends_as_its_status_says(told, cut):
    class Responses(ScriptedChat):
        async def _astream(self, *args, **options):
            yield ChatGenerationChunk(message=AIMessageChunk("Yes."))
            yield ChatGenerationChunk(message=AIMessageChunk("", response_metadata=told))

    async def ask() -> list:
        return [piece async for piece in ChatClient(Responses(), "responses").stream(PROMPT, Usage())]

    pieces = asyncio.run(ask())
    assert "".join(piece.text for piece in pieces) == "Yes."
    assert [found for piece in pieces if (found := cut_by(piece))] == ([cut] if cut else [])
