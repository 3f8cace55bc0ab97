"""A run tells its readers when it begins to write and when it ends."""

import pytest

from rag.runs.run.run import Run
from rag.trace.events import RunFinished, RunStarted, StepStarted, Token, Totals


@pytest.fixture
def run() -> Run:
    started = RunStarted(
        run_id="r", conversation_id="c", question="Who?", index="handbook", pipeline="naive", model="m", at=0
    )
    return Run(started)


def write(run: Run, text: str, attempt: int = 1) -> None:
    run.append(Token(step="generate", attempt=attempt, text=text))


def test_a_reader_is_told_once_when_an_attempt_begins_to_write(run):
    told = []
    run.tell_when_it_writes_or_ends("tab", lambda: told.append(run.events[-1]))
    run.append(StepStarted(step="generate", attempt=1, start=0))
    write(run, "")
    assert not told
    write(run, "A ")
    run.append(StepStarted(step="check_grounding", attempt=1, start=1))
    write(run, "director.")
    assert [each.text for each in told] == ["A "]


def test_a_reader_is_told_again_of_the_next_attempt(run):
    told = []
    run.tell_when_it_writes_or_ends("tab", lambda: told.append(run.events[-1].attempt))
    write(run, "A clerk.")
    write(run, "A director.", attempt=2)
    assert told == [1, 2]


def test_a_reader_who_comes_again_takes_their_own_place_and_no_other(run):
    told = []
    for reader in ("tab", "tab", "other tab"):
        run.tell_when_it_writes_or_ends(reader, lambda reader=reader: told.append(reader))
    write(run, "A director.")
    assert told == ["tab", "other tab"]


def test_a_reader_is_told_of_the_end_also_without_an_answer(run):
    told = []
    run.tell_when_it_writes_or_ends("tab", lambda: told.append(run.is_finished))
    run.append(RunFinished(status="failed", answer="", outcome=None, citations=(), totals=Totals()))
    assert told == [True]
