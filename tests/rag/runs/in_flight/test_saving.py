"""Saving what happens in a run: in order, and beside the event loop."""

import asyncio
import threading

import pytest

from rag.runs.in_flight.saving import Saving
from tests.helpers.waiting import PATIENCE


def test_what_is_added_is_saved_in_order_while_the_event_loop_goes_on():
    may_save, saved = threading.Event(), []

    async def add() -> None:
        saving = Saving()
        saving.add(may_save.wait, PATIENCE)
        for number in range(5):
            saving.add(saved.append, number)
        assert not saving.is_idle
        assert saved == []
        may_save.set()
        await saving.all_saved()
        assert saving.is_idle
        await saving.end()

    asyncio.run(add())
    assert saved == [0, 1, 2, 3, 4]


def test_the_end_raises_what_a_save_has_raised():
    async def add() -> None:
        saving = Saving()
        saving.add(int, "no number")
        await saving.end()

    with pytest.raises(ValueError, match="no number"):
        asyncio.run(add())
