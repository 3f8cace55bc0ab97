"""What is recorded about a call of the chat model."""

import asyncio
from contextlib import suppress

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk

from index_store.base.errors import ServiceBusy
from rag.models.calls.usage import Usage
from rag.trace.calls import Message, Request, pack, unpack

REQUEST = Request(task="relevance", model="m", temperature=0, max_tokens=1, messages=())


async def make_call(
    usage: Usage, request: Request, *pieces: AIMessage, end: BaseException | type[BaseException] | None = None
) -> None:
    """`end`: what ends the call after these pieces of its reply."""
    async with usage.call(request) as reply:
        for piece in pieces:
            reply.read(piece)
        if end:
            raise end


def test_a_token_that_is_half_a_character_is_noted_as_the_sign_for_it():
    usage = Usage(record=[])
    half = {"token": "\ud83d", "logprob": -2.5}
    token = {"token": "no", "logprob": -0.5, "top_logprobs": [{"token": "no", "logprob": -0.5}, half]}
    asyncio.run(make_call(usage, REQUEST, AIMessage("no", response_metadata={"logprobs": {"content": [token]}})))
    [call] = usage.record
    assert call.tokens[0].top == (("no", -0.5), ("\ufffd", -2.5))
    assert unpack(pack([call])) == (call,)


def test_a_call_that_ends_in_a_fault_of_ours_is_noted_as_failed():
    usage = Usage(record=[])
    with pytest.raises(ZeroDivisionError):
        asyncio.run(make_call(usage, REQUEST, end=ZeroDivisionError))
    assert [(call.status, call.error.code) for call in usage.record] == [("failed", "unexpected")]


def test_where_nothing_is_to_be_noted_calls_are_counted_all_the_same():
    usage = Usage()
    asyncio.run(make_call(usage, REQUEST))
    assert (usage.calls, usage.record) == (1, None)


ASKED = Request(
    task="answer",
    model="m",
    temperature=0,
    max_tokens=1,
    messages=(Message(role="user", text="日当はいくらですか？" * 20),),
)


@pytest.mark.parametrize("end", [None, GeneratorExit, asyncio.CancelledError])
def test_a_reply_without_a_count_counts_for_the_limits_by_its_length_also_if_it_is_stopped(end):
    usage = Usage(record=[])
    with suppress(GeneratorExit, asyncio.CancelledError):
        asyncio.run(make_call(usage, ASKED, AIMessageChunk("日当は2,500円です。" * 20), end=end))
    assert 200 < usage.budget.tokens_spent < 400
    assert usage.budget.allowance.spent == usage.budget.tokens_spent
    assert (usage.tokens_in, usage.tokens_out, usage.record[0].tokens_in) == (0, 0, 0)


def test_a_call_that_fails_without_a_count_costs_nothing():
    usage = Usage()
    with suppress(ServiceBusy):
        asyncio.run(make_call(usage, ASKED, end=ServiceBusy(host="h")))
    assert usage.budget.tokens_spent == 0


def test_of_a_service_that_sends_its_count_so_far_with_every_piece_the_last_count_is_spent():
    usage = Usage(record=[])
    counts = [{"input_tokens": 3000, "output_tokens": each, "total_tokens": 3000 + each} for each in (1, 2, 3)]
    asyncio.run(make_call(usage, REQUEST, *(AIMessageChunk("Snow", usage_metadata=count) for count in counts)))
    assert (usage.tokens_in, usage.tokens_out) == (3000, 3)
    assert (usage.record[0].tokens_in, usage.record[0].tokens_out) == (3000, 3)
    assert usage.budget.tokens_spent == usage.budget.allowance.spent == 3003
