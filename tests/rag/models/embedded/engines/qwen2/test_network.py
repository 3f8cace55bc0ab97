"""Requests remember what they have read, and slots find what was read before."""

from pathlib import Path

import numpy as np
import pytest

from rag.models.embedded.engines.qwen2.network import Network, Request
from rag.models.embedded.engines.qwen2.prepared import read
from rag.models.embedded.engines.qwen2.slots import Slots
from tests.rag.models.embedded.engines.conftest import CONTEXT

TEXT = [*range(10, 100), *range(40, 90)]
OTHER = [*range(10, 60), *range(150, 200)]
"""begins like TEXT"""


@pytest.fixture(scope="module")
def network(tiny_model: Path) -> Network:
    prepared = read(tiny_model)
    return Network(prepared.graph, prepared.sizes, threads=2, context=CONTEXT)


def is_as_if_read_at_once(network: Network, request: Request, tokens: list[int]) -> bool:
    """Compares what follows."""
    fresh = network.request()
    fresh.read(tokens[:-1])
    expected = fresh.read(tokens[-1:])
    found = request.read(tokens[len(request.tokens) :])
    assert request.tokens == tokens
    assert found.std() > 0.1
    return bool(np.allclose(found, expected, atol=0.2))


def test_a_text_may_be_read_in_parts(network: Network) -> None:
    request = network.request()
    request.read(TEXT[:50])
    request.read(TEXT[50:51])
    request.read(TEXT[51:-1])
    assert is_as_if_read_at_once(network, request, TEXT)


def test_it_makes_a_difference_what_was_read_before(network: Network) -> None:
    request = network.request()
    request.read(OTHER[50:])
    assert not np.allclose(request.read(TEXT[:5]), network.request().read(TEXT[:5]), atol=0.2)


def test_a_request_forgets_all_but_a_beginning(network: Network) -> None:
    request = network.request()
    request.read(TEXT)
    request.remember(request, 50)
    assert request.tokens == TEXT[:50]
    assert is_as_if_read_at_once(network, request, OTHER)


def test_a_request_takes_over_what_another_one_has_read(network: Network) -> None:
    first, second = network.request(), network.request()
    first.read(TEXT)
    second.read([7, 7, 7])
    second.remember(first, 50)
    assert is_as_if_read_at_once(network, second, OTHER)
    assert is_as_if_read_at_once(network, first, [*TEXT, 5])


def test_a_request_can_forget_all(network: Network) -> None:
    request = network.request()
    request.read(OTHER)
    request.remember(request, 0)
    assert is_as_if_read_at_once(network, request, TEXT)


def test_forgotten_tokens_are_paid_no_attention_also_by_who_takes_over_the_others(network: Network) -> None:
    request, other = network.request(), network.request()
    request.read(TEXT[:30])
    request.read([200, 201, 202])
    request.forget(3)
    request.read(TEXT[30:60])
    request.read([203])
    request.forget(1)
    assert request.tokens == TEXT[:60]
    other.remember(request, 50)
    assert is_as_if_read_at_once(network, request, TEXT)
    assert is_as_if_read_at_once(network, other, OTHER)


def test_what_follows_each_of_the_last_tokens_is_told_on_request(network: Network) -> None:
    whole, one_by_one = network.request(), network.request()
    expected = [one_by_one.read([token])[0] for token in TEXT[:6]]
    assert np.allclose(whole.read(TEXT[:6], wanted=4), expected[2:], atol=0.2)


def taken(slots: Slots, prompt: list[int]) -> int:
    """Reads the prompt in a slot, which is free again. Returns how many tokens were known."""
    slot = slots.take(prompt)
    known = len(slot.request.tokens)
    slot.request.read(prompt[known:])
    slots.give_back(slot)
    return known


def test_the_beginning_of_a_prompt_is_known_if_any_slot_has_read_it(network: Network) -> None:
    slots = Slots(network, 2)
    assert taken(slots, TEXT) == 0
    assert taken(slots, [*TEXT, 3]) == len(TEXT)
    assert taken(slots, OTHER) == 50
    assert taken(slots, [*TEXT, 3, 4]) == len(TEXT) + 1


def test_of_a_prompt_that_is_known_as_a_whole_the_last_token_is_read_again(network: Network) -> None:
    slots = Slots(network, 1)
    taken(slots, TEXT)
    assert taken(slots, TEXT) == len(TEXT) - 1


def test_what_was_used_longest_ago_is_forgotten(network: Network) -> None:
    slots = Slots(network, 2)
    for prompt in (TEXT, [200, *TEXT], [201, *TEXT]):
        assert taken(slots, prompt) == 0
    assert taken(slots, [200, *TEXT]) > 0
    assert taken(slots, TEXT) == 0


def test_what_a_busy_slot_has_read_is_known_to_the_others_and_it_goes_on(network: Network) -> None:
    slots = Slots(network, 2)
    busy = slots.take(TEXT)
    busy.request.read(TEXT[:70])
    assert taken(slots, OTHER) == 50
    assert is_as_if_read_at_once(network, busy.request, TEXT)


def test_while_all_slots_are_busy_there_is_none(network: Network) -> None:
    slots = Slots(network, 1)
    busy = slots.take(TEXT)
    assert slots.take(OTHER) is None
    slots.give_back(busy)
    assert slots.take(OTHER) is busy
