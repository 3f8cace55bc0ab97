"""The answer that a check has sent back. Who wrote an answer: tests/pages/widgets/trace/fork/test_fork.py."""

from contextlib import closing

import pytest

from index_store.access.principal import LOCAL
from rag.runs.history.history import History
from rag.trace.derived.answers import dropped_answer
from tests.rag.trace.derived.checked_answers import (
    FOUND,
    GIVEN_UP,
    PASSED,
    SEARCHED,
    SENT_BACK,
    attempts,
    decline,
    finished,
    generate,
    started,
)


@pytest.mark.parametrize(
    ("kept", "is_told"),
    [
        (decline("There is none."), True),
        (attempts(chosen=1), True),
        (attempts(chosen=2), False),
    ],
)
def test_a_stored_run_tells_of_the_dropped_answer_as_it_did_while_it_was_written(kept, is_told):
    sent_back = [*SEARCHED, FOUND, *generate(), SENT_BACK, *generate(2), GIVEN_UP]
    found = dropped_answer([started(), *sent_back, *kept, finished("unconfirmed")])
    assert found == ("generation_limit", is_told)


def test_the_outline_of_a_stored_run_tells_of_the_dropped_answer_too(data_dir):
    sent_back = [*SEARCHED, FOUND, *generate(), SENT_BACK, *generate(2), GIVEN_UP]
    with closing(History(data_dir)) as history:
        conversation = history.conversations.new("?", principal=LOCAL).id
        begun = started(conversation=conversation)
        for event in (begun, *sent_back, *attempts(chosen=1), finished("unconfirmed")):
            history.save("r", event)
        [outline] = history.outlines(conversation, 1)
        assert dropped_answer(outline.events) == dropped_answer(history.events("r")) == ("generation_limit", True)


def test_the_first_choice_to_write_sends_nothing_back():
    assert dropped_answer([started(), *SEARCHED, FOUND, *generate(), PASSED, finished()]) is None
