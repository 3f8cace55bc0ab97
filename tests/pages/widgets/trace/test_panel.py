"""The rows of a trace and their headline."""

import time

from pages.widgets.trace.panel import seconds_so_far
from rag.runs.run.run import Run
from rag.trace.events import RunStarted, StepStarted


def test_no_time_of_a_live_run_is_negative_where_the_clock_was_set_back():
    later = time.time() + 3600
    begun = RunStarted(run_id="r", conversation_id="c", question="?", index="a", pipeline="naive", model="m", at=later)
    assert seconds_so_far(Run(begun), [begun]) == 0
    assert seconds_so_far(Run(begun), [begun, StepStarted(step="retrieve", attempt=1, start=2.5)]) == 2.5
