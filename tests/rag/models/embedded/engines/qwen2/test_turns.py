"""Several replies side by side."""

from pathlib import Path
from queue import SimpleQueue

import pytest

from rag.models.embedded.engines.qwen2 import guesses
from rag.models.embedded.engines.qwen2.guesses import MOST
from rag.models.embedded.engines.qwen2.network import Network, Request
from rag.models.embedded.engines.qwen2.prepared import read
from rag.models.embedded.engines.qwen2.slots import Slots
from rag.models.embedded.engines.qwen2.turns import PART, Job, Piece, Turns
from tests.rag.models.embedded.engines.conftest import CONTEXT

WITHIN = 60
"""seconds"""


class Reply:
    def __init__(self, *prompt: int, most: int = 5, ends: frozenset[int] = frozenset()) -> None:
        self.told: SimpleQueue[Piece | Exception] = SimpleQueue()
        self.job = Job(list(prompt), most, ends, self.told.put)

    def tokens(self) -> list[int]:
        """Waits for the whole reply."""
        return [piece.token for piece in iter(lambda: self.told.get(timeout=WITHIN), None)]


@pytest.fixture(scope="module")
def network(tiny_model: Path) -> Network:
    prepared = read(tiny_model)
    return Network(prepared.graph, prepared.sizes, threads=2, context=CONTEXT)


@pytest.fixture
def turns(network: Network) -> Turns:
    return Turns(Slots(network, 2))


def test_a_reply_is_as_long_as_it_may_be_or_ends_at_its_end(turns: Turns) -> None:
    whole, ended = Reply(1, 2, 3, most=6), Reply(1, 2, 3, most=6)
    turns.add(whole.job)
    written = whole.tokens()
    assert len(written) == 6
    assert whole.job.is_cut
    last = next(number for number in range(1, 6) if written[number] not in written[:number])
    ended.job.ends = frozenset({written[last]})
    turns.add(ended.job)
    assert ended.tokens() == written[:last]
    assert not ended.job.is_cut


def test_replies_side_by_side_are_as_if_each_was_alone_and_more_than_the_slots_wait(turns: Turns) -> None:
    prompts = [(1, 2, 3), (4, *range(1, PART + 40)), (5, 6), (7,)]
    alone = []
    for prompt in prompts:
        reply = Reply(*prompt)
        turns.add(reply.job)
        alone.append(reply.tokens())
    together = [Reply(*prompt) for prompt in prompts]
    for reply in together:
        turns.add(reply.job)
    assert [reply.tokens() for reply in together] == alone


def test_a_guess_changes_no_reply_and_a_right_one_saves_turns(turns: Turns, monkeypatch) -> None:
    """A random network soon repeats itself, so later guesses are right."""
    prompts = [(1, 2, 3, 1, 2), (5, 6, 7, 8, 5, 6), (9, 9, 9)]
    reads = []
    whole = Request.read

    def counted(request: Request, tokens: list[int], wanted: int = 1):
        reads.append(len(tokens))
        return whole(request, tokens, wanted)

    monkeypatch.setattr(Request, "read", counted)
    replies = {}
    for most in (MOST, 0):
        monkeypatch.setattr(guesses, "MOST", most)
        reads.clear()
        for prompt in prompts:
            reply = Reply(*prompt, most=60)
            turns.add(reply.job)
            replies.setdefault(prompt, []).append(reply.tokens())
        replies.setdefault("turns", []).append(len(reads))
    with_guesses, without = replies.pop("turns")
    assert with_guesses < without
    assert all(first == second for first, second in replies.values())


def test_with_a_guess_a_reply_ends_where_it_would_without(turns: Turns) -> None:
    asked = Reply(1, 2, 3, 1, 2, most=60)
    turns.add(asked.job)
    written = asked.tokens()
    for number in range(20, 60, 7):
        ended, cut = Reply(1, 2, 3, 1, 2, most=60), Reply(1, 2, 3, 1, 2, most=number)
        ended.job.ends = frozenset({written[number]})
        for reply in (ended, cut):
            turns.add(reply.job)
        assert ended.tokens() == written[: written.index(written[number])]
        assert cut.tokens() == written[:number]


def test_a_reply_goes_on_while_another_prompt_is_read(turns: Turns) -> None:
    written, long = Reply(1, 2, 3, most=50), Reply(*[9] * (3 * PART), most=1)
    turns.add(written.job)
    written.told.get(timeout=WITHIN)
    turns.add(long.job)
    long.tokens()
    assert not written.told.empty()
    assert len(written.tokens()) == 49


def test_an_abandoned_reply_lets_the_next_one_begin(turns: Turns) -> None:
    endless = [Reply(1, most=CONTEXT - 10), Reply(2, most=CONTEXT - 10)]
    waiting = Reply(3, most=400)
    for reply in (*endless, waiting):
        turns.add(reply.job)
        reply.job.is_abandoned = reply is waiting
    for reply in endless:
        reply.told.get(timeout=WITHIN)
    next_one = Reply(4)
    turns.add(next_one.job)
    for reply in endless:
        reply.job.is_abandoned = True
    assert len(next_one.tokens()) == 5
    assert waiting.told.empty()


def error_of_99(turns: Turns) -> object:
    """What a reply to a prompt with 99 tells first, while another one is written."""
    broken, good = Reply(99, 1), Reply(1, 2)
    turns.add(broken.job)
    turns.add(good.job)
    told = broken.told.get(timeout=WITHIN)
    assert len(good.tokens()) == 5
    return told


def test_a_reply_that_cannot_be_computed_says_so_and_the_others_go_on(turns: Turns, monkeypatch) -> None:
    whole = Request.read

    def fails_at_99(request: Request, tokens: list[int], wanted: int = 1):
        if 99 in tokens:
            raise RuntimeError("out of memory")
        return whole(request, tokens, wanted)

    monkeypatch.setattr(Request, "read", fails_at_99)
    assert isinstance(error_of_99(turns), RuntimeError)
    again = Reply(5, 6)
    turns.add(again.job)
    assert len(again.tokens()) == 5


def test_a_reply_for_which_there_is_no_memory_says_so_and_the_others_go_on(turns: Turns, monkeypatch) -> None:
    whole = Slots.take

    def fails_at_99(slots: Slots, prompt: list[int]):
        if 99 in prompt:
            raise MemoryError
        return whole(slots, prompt)

    monkeypatch.setattr(Slots, "take", fails_at_99)
    assert isinstance(error_of_99(turns), MemoryError)
