"""The queue for the model: the order of turns, and the limits in total and per party."""

import asyncio
import random
from collections.abc import Sequence

from rag.models.calls.admission import Admission


async def admitted(admission: Admission, asking: Sequence[str]) -> list[str]:
    """The persons in the order of their turns. Each run takes a few steps of the event loop."""
    order: list[str] = []

    async def run(person: str) -> None:
        async with admission.turn(person, lambda before: None):
            order.append(person)
            for _ in range(5):
                await asyncio.sleep(0)

    await asyncio.gather(*map(run, asking))
    return order


def test_who_asks_much_does_not_keep_others_waiting() -> None:
    order = asyncio.run(admitted(Admission(at_once=1, of_one_party=9), "aaaabc"))
    assert "".join(order) == "abcaaa"


def test_one_person_has_no_more_than_their_share_at_once() -> None:
    async def ask() -> tuple[int, int]:
        admission = Admission(at_once=4, of_one_party=2)
        at_work: list[str] = []
        most = most_of_one = 0

        async def run(person: str) -> None:
            nonlocal most, most_of_one
            async with admission.turn(person, lambda before: None):
                at_work.append(person)
                most, most_of_one = max(most, len(at_work)), max(most_of_one, at_work.count("a"))
                await asyncio.sleep(0.001)
                at_work.remove(person)

        await asyncio.gather(*map(run, "aaaaaabb"))
        return most, most_of_one

    assert asyncio.run(ask()) == (4, 2)


def test_each_is_told_how_many_are_before_it() -> None:
    async def ask() -> dict[str, list[int]]:
        admission = Admission(at_once=1, of_one_party=9)
        told: dict[str, list[int]] = {name: [] for name in "abc"}

        async def run(name: str) -> None:
            async with admission.turn(name, told[name].append):
                await asyncio.sleep(0.001)

        await asyncio.gather(*map(run, "abc"))
        return told

    told = asyncio.run(ask())
    assert {name: list(dict.fromkeys(heard)) for name, heard in told.items()} == {"a": [0], "b": [1, 0], "c": [2, 1, 0]}


def test_who_leaves_the_queue_lets_the_others_move_up() -> None:
    async def ask() -> list[int]:
        admission = Admission(at_once=1, of_one_party=9)
        heard: list[int] = []

        async def hold() -> None:
            async with admission.turn("a", lambda before: None):
                await asyncio.sleep(60)

        async def wait() -> None:
            async with admission.turn("c", heard.append):
                pass

        holding, leaving, waiting = (asyncio.ensure_future(each) for each in (hold(), hold(), wait()))
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.sleep(0.001)
        holding.cancel()
        await waiting
        return list(dict.fromkeys(heard))

    assert asyncio.run(ask()) == [1, 0]


def test_the_next_turn_goes_to_a_person_with_the_fewest_turns() -> None:
    """In any order of arrival: the person with the next turn had no more turns so far than anybody who still waits."""
    for seed in range(50):
        asking = random.Random(seed).choices("abcd", weights=(10, 3, 2, 1), k=30)
        order = asyncio.run(admitted(Admission(at_once=1, of_one_party=5), asking))
        assert sorted(order) == sorted(asking)
        for place, party in enumerate(order):
            had = order[:place].count(party)
            assert all(had <= order[:place].count(other) for other in set(order[place:]))


def test_calls_take_turns_by_person_and_those_of_one_person_by_run() -> None:
    async def ask(asking: Sequence[str]) -> list[str]:
        admission, order = Admission(at_once=1), list[str]()

        async def call(run: str) -> None:
            async with admission.turn(run, within=run[0]):
                order.append(run)
                await asyncio.sleep(0)

        await asyncio.gather(*map(call, asking))
        return order

    asked = ["a1", "a1", "a1", "a2", "a2", "a3", "b1", "b1", "c1"]
    assert asyncio.run(ask(asked)) == ["a1", "b1", "c1", "a2", "b1", "a3", "a1", "a2", "a1"]


def test_a_party_can_have_its_own_limit_which_does_not_delay_others() -> None:
    async def ask() -> dict[str, int]:
        admission = Admission(at_once=6, of_one_party=2)
        at_work: list[str] = []
        most = dict.fromkeys("abc", 0)

        async def run(party: str, at_once: float | None) -> None:
            async with admission.turn(party, at_once=at_once):
                at_work.append(party)
                most[party] = max(most[party], at_work.count(party))
                await asyncio.sleep(0.001)
                at_work.remove(party)

        shares = {"a": 1, "b": 3, "c": None}
        await asyncio.gather(*(run(party, shares[party]) for party in "aaaabbbbbbccccc"))
        return most

    assert asyncio.run(ask()) == {"a": 1, "b": 3, "c": 2}
