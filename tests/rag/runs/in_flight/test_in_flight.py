"""Runs in flight: those that are worked on, and no others."""

from itertools import count

import pytest
from sqlalchemy.exc import OperationalError

from index_store.access.limits import Limits
from rag.errors import NotSaved
from rag.runs.run.options import RunOptions
from tests.helpers.back_doors import process_of
from tests.helpers.local import as_person, grant
from tests.rag.documents import INDEX, QUESTION

BOTH = (RunOptions(pipeline="naive"), RunOptions(pipeline="hybrid"))


@pytest.mark.parametrize("reads", range(2))
def test_a_question_that_the_database_breaks_off_leaves_no_run(engine, monkeypatch, reads):
    grant(engine, INDEX)
    alice = as_person(engine, "alice")
    break_limits(monkeypatch, reads)
    with pytest.raises(OperationalError):
        alice.ask(QUESTION, index=INDEX, pipeline_name="naive")
    assert_nothing_is_left(engine)


@pytest.mark.parametrize("reads", range(5))
def test_a_comparison_that_the_database_breaks_off_leaves_no_run(engine, monkeypatch, reads):
    grant(engine, INDEX)
    alice = as_person(engine, "alice")
    break_limits(monkeypatch, reads)
    with pytest.raises((OperationalError, NotSaved)):
        alice.comparisons.begin(QUESTION, INDEX, BOTH)
    assert_nothing_is_left(engine)


def break_limits(monkeypatch, reads: int) -> None:
    """After so many reads, the limits of a person can't be read."""
    of, calls = Limits.of, count()

    def break_off(*arguments):
        if next(calls) >= reads:
            raise OperationalError("SELECT", {}, OSError("disk I/O error"))
        return of(*arguments)

    monkeypatch.setattr(Limits, "of", break_off)


def assert_nothing_is_left(engine) -> None:
    assert engine.history.runs() == []
    assert process_of(engine).runs_in_flight == 0  # else closing the engine waits for it, for ever
