"""The rows of a trace and their headline."""

import time
from collections.abc import Iterator

import pytest

from index_store.access.principal import LOCAL
from pages.widgets.trace.panel import DRAWN_CLOSED, seconds_so_far
from rag.runs.run.run import Run
from rag.trace.details import RewriteDetail
from rag.trace.events import Event, RunFinished, RunStarted, StepFinished, StepStarted, Totals
from tests.helpers.back_doors import process_of
from tests.pages.tabs.runs_page import RunsPage


def test_no_time_of_a_live_run_is_negative_where_the_clock_was_set_back():
    later = time.time() + 3600
    begun = RunStarted(run_id="r", conversation_id="c", question="?", index="a", pipeline="naive", model="m", at=later)
    assert seconds_so_far(Run(begun), [begun]) == 0
    assert seconds_so_far(Run(begun), [begun, StepStarted(step="retrieve", attempt=1, start=2.5)]) == 2.5


def run_of(steps: int, conversation_id: str) -> Iterator[Event]:
    yield RunStarted(
        run_id=f"of {steps}", conversation_id=conversation_id, question="?", index="a", pipeline="self_rag", model="m",
        at=1_800_000_000,
    )  # fmt: skip
    for attempt in range(1, steps + 1):
        detail = RewriteDetail(before="?", after=f"Question {attempt}?")
        yield StepStarted(step="rewrite_question", attempt=attempt, start=attempt)
        yield StepFinished(
            step="rewrite_question", attempt=attempt, start=attempt, milliseconds=900, model_calls=1, tokens_in=9,
            tokens_out=9, detail=detail,
        )  # fmt: skip
    yield RunFinished(status="finished", answer="A.", outcome="answered", citations=(), totals=Totals(seconds=steps))


@pytest.mark.parametrize(("steps", "drawn"), [(DRAWN_CLOSED, DRAWN_CLOSED), (DRAWN_CLOSED + 1, 0)])
def test_the_steps_of_a_long_run_are_drawn_when_their_rows_are_opened(engine, steps, drawn):
    history = process_of(engine).history
    for event in run_of(steps, history.conversations.new("?", principal=LOCAL).id):
        history.save(f"of {steps}", event)
    page = RunsPage(run=f"of {steps}")

    def of_each_step(title: str) -> list[str]:
        return [each.label for each in page.app.expander if page.words[title] in each.label]

    assert len(of_each_step("step.rewrite_question")) == steps
    assert page.html.count("<footer>") == len(of_each_step("call.fold_one")) == drawn
    if not drawn:
        page.app.session_state[f"past-of {steps}-rewrite_question-{steps}"] = True
        page.look()
        assert page.html.count("<footer>") == len(of_each_step("call.fold_one")) == 1
        page.choose_language("ja")
        assert page.html.count("<footer>") == 1
